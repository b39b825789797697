package accept

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// matrix is the folder with the driver's golden manifests.
const matrix = "../../../internal/network/calico/testdata/matrix"

// TestMatrix checks that Calico's own code accepts every rendering of the matrix, except for newer features: each entry of that list is used by some
// rendering, and unknown to this code.
func TestMatrix(t *testing.T) {
	renderings, err := Load(matrix)
	require.NoError(t, err)
	for sentence, rendering := range renderings.Cases {
		for _, must := range []string{"DaemonSet calico-node", "ConfigMap calico-config"} {
			require.Contains(t, names(rendering), must, sentence)
		}
	}
	newer := KnownNewerFeatures()
	for _, check := range Checks() {
		t.Run(check.Name, func(t *testing.T) {
			groups := check.Groups(renderings)
			for _, group := range groups {
				problems, err := check.Run(t.Context(), group.Rendering, newer)
				require.NoError(t, err, group.Sentences[0])
				for _, problem := range problems {
					t.Errorf("case %q and %d more: %s", group.Sentences[0], len(group.Sentences)-1, problem)
				}
			}
			t.Logf("%d shoots in %d sorts", len(renderings.Cases), len(groups))
		})
	}
	assert.Empty(t, newer.Unused(), "no rendering uses it, or this code knows it")
}

func names(rendering Rendering) []string {
	var names []string
	for _, object := range rendering {
		names = append(names, object.String())
	}
	return names
}
