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

func TestRecognise(t *testing.T) {
	for sentence, test := range map[string]struct {
		prepare func(*testing.T, layout)
		there   bool
		foreign bool
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
			there:   true, foreign: true,
		},
		"a marker that says something else is foreign": {
			prepare: func(t *testing.T, l layout) { require.NoError(t, write(l.marker(), []byte("mine"))) },
			there:   true, foreign: true,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			l := newTestLayout(t)
			test.prepare(t, l)
			there, err := l.recognise()
			assert.Equal(t, test.there, there)
			if test.foreign {
				require.ErrorIs(t, err, errForeign)
				require.ErrorIs(t, l.create(), errForeign)
				return
			}
			require.NoError(t, err)
			require.NoError(t, l.create())
		})
	}
}

func TestNobodyElseLooksIntoTheStateDirectory(t *testing.T) {
	for sentence, prepare := range map[string]func(*testing.T, layout){
		"a new one":          func(*testing.T, layout) {},
		"one that was empty": func(t *testing.T, l layout) { require.NoError(t, os.Mkdir(l.dir, 0o755)) },
		"one of an older build": func(t *testing.T, l layout) {
			require.NoError(t, l.create())
			require.NoError(t, os.Chmod(l.dir, 0o755))
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			l := newTestLayout(t)
			prepare(t, l)
			require.NoError(t, l.create())
			info, err := os.Stat(l.dir)
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
		})
	}
}

func TestWhateverIsLeftOfARemovalIsRecognised(t *testing.T) {
	l := newTestLayout(t)
	require.NoError(t, l.create())
	release, err := l.acquire()
	require.NoError(t, err)
	defer release()
	paths, err := l.removal()
	require.NoError(t, err)
	assert.Contains(t, paths, l.data())
	for _, path := range paths {
		there, err := l.recognise()
		require.NoError(t, err, "before %s", path)
		assert.Equal(t, path != l.dir, there, "only an empty directory is as good as none")
		require.NoError(t, os.RemoveAll(path))
	}
	assert.NoDirExists(t, l.dir)
}

func TestAStateDirectoryWhoseSocketsNobodyCouldReach(t *testing.T) {
	const suffix = "/run/mariadb.sock"
	fits := "/" + strings.Repeat("d", longestSocket-len(suffix)-1)
	l, err := newLayout(fits)
	require.NoError(t, err)
	assert.Len(t, l.socket(), longestSocket)
	_, err = newLayout(fits + "d")
	assert.ErrorContains(t, err, "too long by 1 bytes")
}

func TestOneAtATime(t *testing.T) {
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
