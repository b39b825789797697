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

// -update writes the golden files instead of comparing with them. For hashes.json that is a decision about every node in the world.
var update = flag.Bool("update", false, "write golden files")

// checkGolden compares text with what a file under testdata says.
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

// linesOf writes one value per line, so that a change shows as one.
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
