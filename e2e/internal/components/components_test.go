package components

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/e2e/internal/repo"
)

// -update writes the golden files instead of comparing with them.
var update = flag.Bool("update", false, "write golden files")

// The files are the input of the driver's own tests. The keys of a map may have any order in them.
func TestDriver_MutatesComponents(t *testing.T) {
	for folder, version := range map[string]string{"1.32": "1.32.9", "1.36": "1.36.3"} {
		t.Run(folder, func(t *testing.T) {
			components, err := Render(t.Context(), version)
			require.NoError(t, err)
			again, err := Render(t.Context(), version)
			require.NoError(t, err)
			require.Equal(t, components, again, "the same each time")

			names := make([]string, 0, len(components))
			for _, component := range components {
				names = append(names, component.Name)
				golden := goldenFile(t, folder, component.Name+".before.yaml")
				got, err := yaml.Marshal(component.Object)
				require.NoError(t, err)
				if *update {
					require.NoError(t, os.MkdirAll(filepath.Dir(golden), 0o750))
					require.NoError(t, os.WriteFile(golden, got, 0o600))
				}
				want, err := os.ReadFile(golden)
				require.NoError(t, err)
				assert.YAMLEq(t, string(want), string(got), "%s differs, -update accepts it", golden)
			}
			assert.ElementsMatch(t, []string{"kube-apiserver", "kube-controller-manager", "osc-provision", "osc-reconcile"}, names)
		})
	}
}

func goldenFile(t *testing.T, version, name string) string {
	t.Helper()
	path, err := repo.Path("internal", "controlplane", "openstack", "testdata", "tuning", version, name)
	require.NoError(t, err)
	return path
}
