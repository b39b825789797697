package stack

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newTestLayout(t *testing.T) layout {
	t.Helper()
	l, err := newLayout(filepath.Join(t.TempDir(), "state"))
	require.NoError(t, err)
	return l
}

func TestLayout_Verify(t *testing.T) {
	for description, test := range map[string]struct {
		prepare   func(*testing.T, layout)
		there     bool
		isForeign bool
	}{
		"what does not exist is not there": {prepare: func(*testing.T, layout) {}},
		"an empty directory is as good as none": {
			prepare: func(t *testing.T, l layout) { require.NoError(t, os.Mkdir(l.dir, 0o755)) },
		},
		"what create has made is ours": {
			prepare: func(t *testing.T, l layout) { require.NoError(t, l.create()) },
			there:   true,
		},
		"a directory with other things is foreign": {
			prepare: func(t *testing.T, l layout) { require.NoError(t, write(filepath.Join(l.dir, "letters"), nil)) },
			there:   true, isForeign: true,
		},
		"a marker that says something else is foreign": {
			prepare: func(t *testing.T, l layout) { require.NoError(t, write(l.marker(), []byte("mine"))) },
			there:   true, isForeign: true,
		},
	} {
		t.Run(description, func(t *testing.T) {
			l := newTestLayout(t)
			test.prepare(t, l)
			there, err := l.verify()
			assert.Equal(t, test.there, there)
			if test.isForeign {
				require.ErrorIs(t, err, errNotStateDir)
				require.ErrorIs(t, l.create(), errNotStateDir)
				return
			}
			require.NoError(t, err)
			require.NoError(t, l.create())
		})
	}
}

func TestLayout_CreatePermissions(t *testing.T) {
	for description, prepare := range map[string]func(*testing.T, layout){
		"a new one":          func(*testing.T, layout) {},
		"one that was empty": func(t *testing.T, l layout) { require.NoError(t, os.Mkdir(l.dir, 0o755)) },
		"one of an older build": func(t *testing.T, l layout) {
			require.NoError(t, l.create())
			require.NoError(t, os.Chmod(l.dir, 0o755))
		},
	} {
		t.Run(description, func(t *testing.T) {
			l := newTestLayout(t)
			prepare(t, l)
			require.NoError(t, l.create())
			info, err := os.Stat(l.dir)
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
		})
	}
}

func TestLayout_VerifyPartialRemoval(t *testing.T) {
	l := newTestLayout(t)
	require.NoError(t, l.create())
	release, err := l.acquire()
	require.NoError(t, err)
	defer release()
	paths, err := l.removal()
	require.NoError(t, err)
	assert.Contains(t, paths, l.data())
	for _, path := range paths {
		there, err := l.verify()
		require.NoError(t, err, "before %s", path)
		assert.Equal(t, path != l.dir, there, "only an empty directory is as good as none")
		require.NoError(t, os.RemoveAll(path))
	}
	assert.NoDirExists(t, l.dir)
}

func TestNewLayout_SocketPathTooLong(t *testing.T) {
	const suffix = "/run/mariadb.sock"
	fits := "/" + strings.Repeat("d", maxSocketPath-len(suffix)-1)
	l, err := newLayout(fits)
	require.NoError(t, err)
	assert.Len(t, l.socket(), maxSocketPath)
	_, err = newLayout(fits + "d")
	assert.ErrorContains(t, err, "too long by 1 bytes")
}

func TestAcquire_Concurrent(t *testing.T) {
	l := newTestLayout(t)
	require.NoError(t, l.create())
	release, err := l.acquire()
	require.NoError(t, err)
	_, err = l.acquire()
	require.ErrorContains(t, err, "by somebody else right now")
	release()
	release, err = l.acquire()
	require.NoError(t, err)
	release()
}
