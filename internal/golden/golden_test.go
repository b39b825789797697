package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// recorder is a test that records errors instead of failing.
type recorder struct {
	testing.TB
	errors   []string
	cleanups []func()
}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}
func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

// check runs a test of a folder with three variants of a text, and returns its errors.
func check(t *testing.T, path string, write bool, texts ...string) []string {
	t.Helper()
	*update = write
	defer func() { *update = false }()
	test := &recorder{TB: t}
	folder := Open(test, path)
	folder.CheckDiff(test, "b.diff", "a.yaml", texts[1])
	folder.Check(test, "a.yaml", texts[0])
	folder.CheckNearest(test, "c.diff", texts[2])
	for _, cleanup := range test.cleanups {
		cleanup()
	}
	return test.errors
}

func TestFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "folder")
	require.Empty(t, check(t, path, true, before, after, after+"---\n"))
	assert.Equal(t, "b.diff", baseOf(filepath.Join(path, "c.diff")))
	require.Empty(t, check(t, path, false, before, after, after+"---\n"))

	t.Run("names the lines that differ", func(t *testing.T) {
		found := check(t, path, false, before, before, after+"---\n")
		require.Len(t, found, 1)
		assert.Contains(t, found[0], "b.diff is out of date")
		assert.Contains(t, found[0], "ConfigMap one\n apiVersion: v1\n data:\n-  a: c\n+  a: b\n")
	})
	t.Run("finds and removes files that are not in use", func(t *testing.T) {
		stale := filepath.Join(path, "stale.yaml")
		require.NoError(t, os.WriteFile(stale, nil, 0o600))
		found := check(t, path, false, before, after, after+"---\n")
		require.Len(t, found, 1)
		assert.Contains(t, found[0], "no case checks "+stale)
		assert.Empty(t, check(t, path, true, before, after, after+"---\n"))
		assert.NoFileExists(t, stale)
	})
	t.Run("keeps a base that is not the nearest any more", func(t *testing.T) {
		assert.Empty(t, check(t, path, true, before, after, before+"---\n"))
		assert.Equal(t, "b.diff", baseOf(filepath.Join(path, "c.diff")))
	})
	t.Run("requires the base of the test", func(t *testing.T) {
		other := "--- c.diff\n+++ b.diff\n"
		require.NoError(t, os.WriteFile(filepath.Join(path, "b.diff"), []byte(other), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(path, "c.diff"), []byte("--- a.yaml\n+++ c.diff\n"+hunksOf(before, after)), 0o600))
		found := check(t, path, false, before, after, after)
		require.Len(t, found, 1)
		assert.Contains(t, found[0], `b.diff is a diff against "c.diff" instead of "a.yaml"`)
	})
}

func TestCheckYAML(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.yaml")
	require.NoError(t, os.WriteFile(file, []byte("a: 1\nb: 2\n"), 0o600))
	test := &recorder{TB: t}
	CheckYAML(test, file, "b: 2\na: 1\n")
	require.Empty(t, test.errors)
	CheckYAML(test, file, "b: 3\na: 1\n")
	require.Len(t, test.errors, 1)
}

func TestManifest(t *testing.T) {
	assert.Equal(t, "a: 1\nb: 2\n---\na: 3\n", Manifest(t, []map[string]int{{"b": 2, "a": 1}, {"a": 3}}))
}
