package controller

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestErrors(t *testing.T) {
	output := filepath.Join(t.TempDir(), "controller.log")
	require.NoError(t, os.WriteFile(output, []byte(`2026-11-23T04:00:00Z	INFO	Starting
2026-11-23T04:00:01Z	ERROR	Reconciler error	{"error": "no kind \"Scale\" is registered"}
2026-11-23T04:00:02Z	ERROR	Reconciler error	{"error": "Quota exceeded"}
2026-11-23T04:00:03Z	DEBUG	about an ERROR
{"level":"info","msg":"fine"}
{"level":"error","msg":"not fine"}
panic: boom
2026-11-23T04:00:04Z	ERROR	a call that nobody has stopped	{"error": "context canceled"}
2026-11-23T04:00:05Z	INFO	Stopping and waiting for non leader election runnables
2026-11-23T04:00:05Z	ERROR	events	Unable to write event (may retry after sleeping)	{"error": "context canceled"}
2026-11-23T04:00:05Z	ERROR	Reconciler error	{"error": "not found"}
2026-11-23T04:00:06Z	INFO	Starting EventSource
2026-11-23T04:00:07Z	ERROR	Reconciler error	{"error": "context canceled"}
`), 0o600))
	lines, err := Errors(output, "Quota exceeded", "nothing like this")
	require.NoError(t, err)
	assert.Equal(t, []string{
		`2026-11-23T04:00:01Z	ERROR	Reconciler error	{"error": "no kind \"Scale\" is registered"}`, `{"level":"error","msg":"not fine"}`, "panic: boom",
		`2026-11-23T04:00:04Z	ERROR	a call that nobody has stopped	{"error": "context canceled"}`,
		`2026-11-23T04:00:05Z	ERROR	Reconciler error	{"error": "not found"}`,
		`2026-11-23T04:00:07Z	ERROR	Reconciler error	{"error": "context canceled"}`,
	}, lines)

	_, err = Errors(filepath.Join(t.TempDir(), "none"))
	assert.ErrorContains(t, err, "reading the log of a controller")
}
