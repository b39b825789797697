package openstack

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/component"
	"github.com/trellis-garden/trellis/internal/controlplane/csi"
)

func TestImages(t *testing.T) {
	images, err := controlplane.ReadImages(ImageVector())
	require.NoError(t, err)
	for _, minor := range []string{"1.32", "1.33", "1.34", "1.35", "1.36"} {
		find := controlplane.ImagesFor(images, minor+".7")
		for _, name := range []string{"cloud-controller-manager", "csi-driver-cinder", "csi-driver-manila"} {
			image, err := find(name)
			require.NoError(t, err)
			_, tag, _ := strings.Cut(image, ":")
			assert.Regexp(t, `^v`+minor+`\.\d+$`, tag, "%s: the minor version is the shoot's", image)
		}
		_, err := find("csi-driver-nfs")
		assert.NoError(t, err)
	}
	for _, unsupported := range []string{"1.31.9", "1.37.0"} {
		_, err := controlplane.ImagesFor(images, unsupported)("cloud-controller-manager")
		assert.ErrorContains(t, err, unsupported)
	}
}

// upstreamImages are the names of gardener-extension-provider-openstack's imagevector/images.yaml (Apache-2.0; read at commit
// 38fc7961bbe070db3a06c923f2b638abcacc8785) with constraints of its forms, carried on to the versions of today: one for each minor version, of which
// the last is open until the next one comes, or the first is open downwards. Since its pull request 1232 provisioner and resizer have two.
func upstreamImages() map[string][][]string {
	const always = ""
	byMinor := [][]string{{"1.32.x", "1.33.x", "1.34.x", "1.35.x", ">= 1.36"}, {"1.31.x", ">= 1.32"}, {"< 1.33", "1.33.x", ">= 1.34"}}
	forAll, inTwo := [][]string{{always}}, [][]string{{always, ">= 1.34"}, {always}}
	return map[string][][]string{
		"cloud-controller-manager": byMinor, "csi-driver-cinder": byMinor, "csi-driver-manila": byMinor, "csi-driver-nfs": forAll,
		"csi-provisioner": inTwo, "csi-resizer": inTwo, "csi-attacher": forAll, "csi-snapshotter": forAll, "csi-snapshot-controller": forAll,
		"csi-node-driver-registrar": forAll, "csi-liveness-probe": forAll,
	}
}

// overwrittenAt returns an image vector as an admin of a landscape without access to the internet writes it, by constraints of some age.
func overwrittenAt(age int, more string) string {
	var text strings.Builder
	text.WriteString("images:\n")
	for name, ages := range upstreamImages() {
		for _, constraint := range ages[min(age, len(ages)-1)] {
			fmt.Fprintf(&text, "- name: %s\n  repository: mirror.example.org/%s\n  tag: v1\n", name, name)
			if constraint != "" {
				fmt.Fprintf(&text, "  targetVersion: %q\n", constraint)
			}
			text.WriteString(more)
		}
	}
	return text.String()
}

func TestImages_OverwrittenByUpstreamsList(t *testing.T) {
	for sentence, overwrites := range map[string]string{
		"by minor versions":                            overwrittenAt(0, ""),
		"by constraints from before the last versions": overwrittenAt(1, ""),
		"by constraints that are open at both ends":    overwrittenAt(2, ""),
		"for both architectures":                       overwrittenAt(0, "  architectures: [amd64, arm64]\n"),
		"for one of them":                              overwrittenAt(0, "  architectures: [amd64]\n"),
	} {
		t.Run(sentence, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "overwrite.yaml")
			require.NoError(t, os.WriteFile(file, []byte(overwrites), 0o600))
			t.Setenv("IMAGEVECTOR_OVERWRITE", file)
			for _, minor := range []string{"1.32", "1.33", "1.34", "1.35", "1.36"} {
				found := renderedImages(t, minor+".7")
				assert.Len(t, found, len(upstreamImages()), "all images are in use")
				for image := range found {
					assert.Regexp(t, `^mirror\.example\.org/[a-z-]+:v1$`, image, minor)
				}
			}
		})
	}
}

// renderedImages returns the images in everything that a shoot with Manila has in the seed and on its nodes.
func renderedImages(t *testing.T, kubernetesVersion string) map[string]bool {
	t.Helper()
	values := ccmValues(t, kubernetesVersion)
	objects, err := component.Objects(ccmInputs(kubernetesVersion, false).cloudControllerManager(), values)
	require.NoError(t, err)
	snapshots, err := component.Objects(csi.SnapshotController(), values)
	require.NoError(t, err)
	objects = append(objects, snapshots...)
	for _, name := range []string{cinderDriver, manilaDriver} {
		seed, shoot := rendered(t, driverNamed(t, storageInputs(true), name), kubernetesVersion)
		objects = slices.Concat(objects, seed, shoot)
	}
	found := map[string]bool{}
	for _, object := range objects {
		text, err := yaml.Marshal(object)
		require.NoError(t, err)
		for _, match := range regexp.MustCompile(`(?m)^[ -]*image: (.*)$`).FindAllStringSubmatch(string(text), -1) {
			found[match[1]] = true
		}
	}
	return found
}
