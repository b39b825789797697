package worker

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/golden"
)

// checkGolden compares a text with a file in testdata. A change of hashes.json replaces nodes of existing shoots.
func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	golden.Check(t, filepath.Join("testdata", name), got)
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
