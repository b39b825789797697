package openstack

import (
	goflag "flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// -update writes the golden files instead of comparing with them.
var update = goflag.Bool("update", false, "write golden files")

// checkGolden compares objects with what a file under testdata says that they are.
func checkGolden(t *testing.T, name string, objects []client.Object) {
	t.Helper()
	documents := make([]string, 0, len(objects))
	for _, object := range objects {
		document, err := yaml.Marshal(object)
		require.NoError(t, err)
		documents = append(documents, string(document))
	}
	golden := filepath.Join("testdata", name)
	got := strings.Join(documents, "---\n")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), got, "%s differs, -update accepts it", golden)
}
