package worker

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// -update writes the golden files instead of comparing with them. A change of hashes.json replaces nodes of existing shoots.
var update = flag.Bool("update", false, "write golden files")

// checkGolden compares a text with a file in testdata.
func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	golden := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), got, "%s differs, -update accepts it", golden)
}

// linesOf formats one value per line, so that diffs show single values.
func linesOf[T any](t *testing.T, values []T) string {
	t.Helper()
	var lines bytes.Buffer
	for i, value := range values {
		line, err := json.Marshal(value)
		require.NoError(t, err)
		lines.WriteString("    ")
		lines.Write(line)
		if i < len(values)-1 {
			lines.WriteByte(',')
		}
		lines.WriteByte('\n')
	}
	return lines.String()
}
