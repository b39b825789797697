package aws

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/controlplane"
)

func TestImages(t *testing.T) {
	images, err := controlplane.ReadImages(ImageVector())
	require.NoError(t, err)
	for _, minor := range []string{"1.32", "1.33", "1.34", "1.35", "1.36"} {
		find := controlplane.ImagesFor(images, minor+".7")
		for _, name := range []string{"cloud-controller-manager", "ecr-credential-provider"} {
			image, err := find(name)
			require.NoError(t, err)
			_, tag, _ := strings.Cut(image, ":")
			assert.Regexp(t, `^v`+minor+`\.\d+$`, tag, "%s: the minor version is the shoot's", image)
		}
		for _, name := range []string{
			"aws-custom-route-controller", "aws-ipam-controller", "aws-load-balancer-controller", "csi-driver", "csi-driver-efs", "csi-volume-modifier",
		} {
			_, err := find(name)
			assert.NoError(t, err)
		}
	}
	for _, unsupported := range []string{"1.31.9", "1.37.0"} {
		_, err := controlplane.ImagesFor(images, unsupported)("cloud-controller-manager")
		assert.ErrorContains(t, err, unsupported)
	}
}

// Constraints of the forms that gardener-extension-provider-aws' imagevector/images.yaml has: one for each minor version, of which the last is open.
func TestImages_OverwrittenByUpstreamsList(t *testing.T) {
	file := filepath.Join(t.TempDir(), "overwrite.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`images:
- {name: cloud-controller-manager, repository: mirror.example.org/ccm, tag: v32, targetVersion: 1.32.x}
- {name: cloud-controller-manager, repository: mirror.example.org/ccm, tag: v33, targetVersion: ">= 1.33"}
- {name: csi-driver, repository: mirror.example.org/ebs, tag: v1}
`), 0o600))
	t.Setenv("IMAGEVECTOR_OVERWRITE", file)
	for version, want := range map[string]string{"1.32.9": "mirror.example.org/ccm:v32", "1.33.1": "mirror.example.org/ccm:v33", "1.36.3": "mirror.example.org/ccm:v33"} {
		image, err := findImages(t, version)("cloud-controller-manager")
		require.NoError(t, err)
		assert.Equal(t, want, image)
	}
	image, err := findImages(t, "1.36.3")("csi-driver")
	require.NoError(t, err)
	assert.Equal(t, "mirror.example.org/ebs:v1", image)
}
