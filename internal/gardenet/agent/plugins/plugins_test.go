package plugins

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// image returns a folder with all plugins.
func image(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range Names() {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte("plugin "+name), 0o755))
	}
	return folder
}

func TestInstall(t *testing.T) {
	ptp := func(folder string) string { return filepath.Join(folder, "ptp") }
	for sentence, test := range map[string]struct {
		before func(t *testing.T, folder string)
		// want are the plugins that are written.
		want []string
	}{
		"an empty folder gets all plugins": {
			before: func(*testing.T, string) {},
			want:   Names(),
		},
		"a missing folder is created": {
			before: func(t *testing.T, folder string) { require.NoError(t, os.Remove(folder)) },
			want:   Names(),
		},
		"equal plugins are left alone": {
			before: func(t *testing.T, folder string) { install(t, image(t), folder) },
		},
		"another content of the same size is replaced": {
			before: func(t *testing.T, folder string) {
				install(t, image(t), folder)
				require.NoError(t, os.WriteFile(ptp(folder), []byte("plugin pt2"), 0o755))
			},
			want: []string{"ptp"},
		},
		"a plugin that nobody may run is replaced": {
			before: func(t *testing.T, folder string) {
				install(t, image(t), folder)
				require.NoError(t, os.Chmod(ptp(folder), 0o600))
			},
			want: []string{"ptp"},
		},
		"a link is replaced, and what it leads to is left alone": {
			before: func(t *testing.T, folder string) {
				install(t, image(t), folder)
				other := filepath.Join(t.TempDir(), "other")
				require.NoError(t, os.WriteFile(other, []byte("plugin ptp"), 0o755))
				require.NoError(t, os.Remove(ptp(folder)))
				require.NoError(t, os.Symlink(other, ptp(folder)))
			},
			want: []string{"ptp"},
		},
		"incomplete files of another process are removed, plugins of others stay": {
			before: func(t *testing.T, folder string) {
				install(t, image(t), folder)
				require.NoError(t, os.WriteFile(filepath.Join(folder, temporary+"1"), []byte("plu"), 0o600))
				require.NoError(t, os.WriteFile(filepath.Join(folder, "bridge"), []byte("other"), 0o755))
			},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			folder := t.TempDir()
			test.before(t, folder)
			_, err := os.Stat(filepath.Join(folder, "bridge"))
			others := err == nil

			assert.Equal(t, test.want, install(t, image(t), folder))

			want := Names()
			if others {
				want = append([]string{"bandwidth", "bridge"}, Names()[1:]...)
			}
			entries, err := os.ReadDir(folder)
			require.NoError(t, err)
			var names []string
			for _, entry := range entries {
				names = append(names, entry.Name())
			}
			assert.Equal(t, want, names)
			for _, name := range Names() {
				info, err := os.Lstat(filepath.Join(folder, name))
				require.NoError(t, err)
				assert.Equal(t, fs.FileMode(0o755), info.Mode(), name)
				content, err := os.ReadFile(filepath.Join(folder, name))
				require.NoError(t, err)
				assert.Equal(t, "plugin "+name, string(content))
			}
		})
	}
}

// install returns which plugins were written.
func install(t *testing.T, from, to string) []string {
	t.Helper()
	var written []string
	log := funcr.New(func(_, args string) {
		_, after, _ := strings.Cut(args, `"plugin"="`)
		name, _, _ := strings.Cut(after, `"`)
		written = append(written, name)
	}, funcr.Options{})
	require.NoError(t, Install(t.Context(), from, to, Names(), log))
	return written
}

func TestInstall_WhileAPluginRuns(t *testing.T) {
	from, to := image(t), t.TempDir()
	install(t, from, to)
	running, err := os.Open(filepath.Join(to, "ptp"))
	require.NoError(t, err)
	defer running.Close()
	require.NoError(t, os.WriteFile(filepath.Join(from, "ptp"), []byte("new"), 0o755))
	install(t, from, to)
	content := make([]byte, 100)
	n, err := running.Read(content)
	require.NoError(t, err)
	assert.Equal(t, "plugin ptp", string(content[:n]), "a process that runs has the old file")
}

func TestInstall_Failures(t *testing.T) {
	t.Run("a plugin that the image lacks", func(t *testing.T) {
		from, to := image(t), t.TempDir()
		require.NoError(t, os.Remove(filepath.Join(from, "portmap")))
		err := Install(t.Context(), from, to, Names(), funcr.New(func(string, string) {}, funcr.Options{}))
		assert.ErrorContains(t, err, "comparing plugin portmap")
		assert.ErrorIs(t, err, fs.ErrNotExist)
	})
	t.Run("a folder in place of a plugin", func(t *testing.T) {
		from, to := image(t), t.TempDir()
		require.NoError(t, os.MkdirAll(filepath.Join(to, "ptp", "x"), 0o755))
		err := Install(t.Context(), from, to, Names(), funcr.New(func(string, string) {}, funcr.Options{}))
		assert.ErrorContains(t, err, "installing plugin ptp")
		left, err := filepath.Glob(filepath.Join(to, temporary+"*"))
		require.NoError(t, err)
		assert.Empty(t, left)
	})
	t.Run("a process that was told to end", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := Install(ctx, image(t), t.TempDir(), Names(), funcr.New(func(string, string) {}, funcr.Options{}))
		assert.ErrorIs(t, err, context.Canceled)
	})
}
