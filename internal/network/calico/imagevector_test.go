package calico

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/utils/imagevector"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// What shoots of the matrix ask for is in the image vector, and nothing else is.
func TestImageVector(t *testing.T) {
	vector, _, err := imagevector.Read(ImageVector())
	require.NoError(t, err)
	inVector, asked := map[string]bool{}, map[string]bool{}
	for _, source := range vector {
		inVector[source.Name] = true
		assert.NotNil(t, source.Tag, source.Name)
	}
	for _, each := range matrix(t) {
		if refusal(each.shoot) != "" {
			continue
		}
		lookUp := each.shoot.Image
		each.shoot.Image = func(name string) (string, error) {
			asked[name] = true
			return lookUp(name)
		}
		decided, err := decide(each.shoot)
		require.NoError(t, err)
		_, err = decided.settings.componentObjects()
		require.NoError(t, err, each.sentence)
	}
	assert.Equal(t, slices.Sorted(maps.Keys(inVector)), slices.Sorted(maps.Keys(asked)))
}

// The names are those of gardener-extension-networking-calico's imagevector/images.yaml (Apache-2.0; the first six read at commit
// ed1795a3e1f1a6c6943cd0f5c6d9c0efad95f53c), none of which has constraints.
func TestImageVector_OverwrittenByUpstreamsList(t *testing.T) {
	var overwrites strings.Builder
	overwrites.WriteString("images:\n")
	for _, name := range []string{
		"calico-node", "calico-cni", "calico-typha", "calico-kube-controllers", "calico-cpa", "calico-cpva", "bird-exporter", "multus-cni", "cni-plugins",
	} {
		fmt.Fprintf(&overwrites, "- {name: %s, repository: mirror.example.org/%s, tag: v1, architectures: [amd64, arm64]}\n", name, name)
	}
	file := filepath.Join(t.TempDir(), "overwrite.yaml")
	require.NoError(t, os.WriteFile(file, []byte(overwrites.String()), 0o600))
	t.Setenv("IMAGEVECTOR_OVERWRITE", file)
	found := map[string]bool{}
	for _, each := range matrix(t) {
		if refusal(each.shoot) != "" {
			continue
		}
		decided, err := decide(each.shoot)
		require.NoError(t, err)
		objects, err := decided.settings.componentObjects()
		require.NoError(t, err, each.sentence)
		for _, object := range objects {
			text, err := yaml.Marshal(object)
			require.NoError(t, err)
			for _, match := range regexp.MustCompile(`(?m)^[ -]*image: (.*)$`).FindAllStringSubmatch(string(text), -1) {
				found[match[1]] = true
			}
		}
	}
	assert.Len(t, found, 9, "all images are in use")
	for image := range found {
		assert.Regexp(t, `^mirror\.example\.org/[a-z-]+:v1$`, image)
	}
}
