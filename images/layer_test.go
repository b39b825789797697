package images

import (
	"archive/tar"
	"crypto/rand"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// layerEntry is what the tests look at in a layer.
type layerEntry struct {
	Type           string
	Mode           int64
	UID, GID       int
	Content, Links string
}

const file, folder, link = "file", "folder", "link"

func TestNewLayer_Contents(t *testing.T) {
	tree := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(tree, "bin", "empty"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(tree, "bin", "tool"), []byte("tool"), 0o600))
	require.NoError(t, os.Chmod(filepath.Join(tree, "bin", "tool"), 0o750|fs.ModeSetuid))
	require.NoError(t, os.Chmod(filepath.Join(tree, "bin"), 0o711))
	require.NoError(t, os.Symlink("tool", filepath.Join(tree, "bin", "alias")))
	require.NoError(t, os.Symlink("/nowhere", filepath.Join(tree, "dangling")))
	require.NoError(t, os.Chmod(tree, 0o755))
	require.NoError(t, os.Symlink(tree, tree+"-link"))

	for sentence, c := range map[string]struct {
		files []File
		want  map[string]layerEntry
	}{
		"content, with the folders above it": {
			[]File{{Path: "/a/b/c", Content: []byte("hello")}},
			map[string]layerEntry{"a/": {Type: folder, Mode: 0o755}, "a/b/": {Type: folder, Mode: 0o755}, "a/b/c": {Type: file, Mode: 0o644, Content: "hello"}},
		},
		"an empty file": {[]File{{Path: "/a"}}, map[string]layerEntry{"a": {Type: file, Mode: 0o644}}},
		"a mode and an owner": {
			[]File{{Path: "/a", Mode: 0o700, UID: 7, GID: 8}, {Path: "/b", Mode: fs.ModeSetgid | 0o755}},
			map[string]layerEntry{"a": {Type: file, Mode: 0o700, UID: 7, GID: 8}, "b": {Type: file, Mode: 0o2755}},
		},
		"folders of their own": {
			[]File{{Path: "/home", Mode: fs.ModeDir, UID: 5}, {Path: "/tmp", Mode: fs.ModeDir | fs.ModeSticky | 0o777}},
			map[string]layerEntry{"home/": {Type: folder, Mode: 0o755, UID: 5}, "tmp/": {Type: folder, Mode: 0o1777}},
		},
		"a folder that is named keeps its mode, whoever lies in it": {
			[]File{{Path: "/secret/key", Content: []byte("k")}, {Path: "/secret", Mode: fs.ModeDir | 0o700}},
			map[string]layerEntry{"secret/": {Type: folder, Mode: 0o700}, "secret/key": {Type: file, Mode: 0o644, Content: "k"}},
		},
		"a link": {[]File{{Path: "/a", Link: "../b"}}, map[string]layerEntry{"a": {Type: link, Mode: 0o777, Links: "../b"}}},
		"one file from disk, with the mode asked for": {
			[]File{{Path: "/x", Source: filepath.Join(tree, "bin", "tool"), Mode: 0o555}},
			map[string]layerEntry{"x": {Type: file, Mode: 0o555, Content: "tool"}},
		},
		"one file through a link": {
			[]File{{Path: "/x", Source: filepath.Join(tree, "bin", "alias")}},
			map[string]layerEntry{"x": {Type: file, Mode: 0o644, Content: "tool"}},
		},
		"a folder from disk, with its modes": {
			[]File{{Path: "/opt/x", Source: tree, GID: 9}},
			map[string]layerEntry{
				"opt/":             {Type: folder, Mode: 0o755},
				"opt/x/":           {Type: folder, Mode: 0o755, GID: 9},
				"opt/x/bin/":       {Type: folder, Mode: 0o711, GID: 9},
				"opt/x/bin/alias":  {Type: link, Mode: 0o777, GID: 9, Links: "tool"},
				"opt/x/bin/empty/": {Type: folder, Mode: 0o755, GID: 9},
				"opt/x/bin/tool":   {Type: file, Mode: 0o4750, GID: 9, Content: "tool"},
				"opt/x/dangling":   {Type: link, Mode: 0o777, GID: 9, Links: "/nowhere"},
			},
		},
		"a folder through a link, as the root of the image": {
			[]File{{Path: "/", Source: tree + "-link"}},
			map[string]layerEntry{
				"./":         {Type: folder, Mode: 0o755},
				"bin/":       {Type: folder, Mode: 0o711},
				"bin/alias":  {Type: link, Mode: 0o777, Links: "tool"},
				"bin/empty/": {Type: folder, Mode: 0o755},
				"bin/tool":   {Type: file, Mode: 0o4750, Content: "tool"},
				"dangling":   {Type: link, Mode: 0o777, Links: "/nowhere"},
			},
		},
		"two folders into one": {
			[]File{{Path: "/x", Source: filepath.Join(tree, "bin", "empty")}, {Path: "/x", Source: filepath.Join(tree, "bin", "empty")}},
			map[string]layerEntry{"x/": {Type: folder, Mode: 0o755}},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			layer := layerOf(t, c.files...)
			require.NoError(t, validate.Layer(stored{layer}))
			assert.Empty(t, cmp.Diff(c.want, contentOf(t, layer)))
		})
	}
}

func TestNewLayer_Invalid(t *testing.T) {
	tree := t.TempDir()
	pipe := filepath.Join(tree, "sub", "pipe")
	require.NoError(t, os.Mkdir(filepath.Join(tree, "sub"), 0o755))
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))

	for sentence, c := range map[string]struct {
		files []File
		want  string
	}{
		"a relative path":                {[]File{{Path: "a"}}, "packing a: the path must be absolute"},
		"a path that climbs":             {[]File{{Path: "/a/../b"}}, "packing /a/../b: the path must be absolute and clean"},
		"a path that is given twice":     {[]File{{Path: "/a"}, {Path: "/a"}}, "packing /a: the path is given twice"},
		"a file in a file":               {[]File{{Path: "/a"}, {Path: "/a/b"}}, "packing /a/b: /a is not a folder"},
		"a file in a link":               {[]File{{Path: "/a", Link: "b"}, {Path: "/a/b"}}, "packing /a/b: /a is not a folder"},
		"a file as the root":             {[]File{{Path: "/"}}, "the root of an image is a folder"},
		"a source that is not there":     {[]File{{Path: "/a", Source: "/nowhere/b"}}, "/nowhere/b: no such file"},
		"both content and source":        {[]File{{Path: "/a", Source: pipe, Content: []byte("x")}}, "only one of Source, Content and Link"},
		"a device":                       {[]File{{Path: "/a", Source: os.DevNull}}, "packing /a: /dev/null is a device"},
		"a pipe somewhere in a folder":   {[]File{{Path: "/a", Source: tree}}, "packing /a: " + pipe + " is a pipe"},
		"a name that deletes in a layer": {[]File{{Path: "/a/.wh.b"}}, `".wh."`},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := NewLayer(c.files...)
			assert.ErrorContains(t, err, c.want)
		})
	}
}

func TestNewLayer_Deterministic(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "a")
	require.NoError(t, os.WriteFile(source, []byte("a"), 0o600))
	before := layerOf(t, File{Path: "/a", Source: source}, File{Path: "/b/c", Content: []byte("b")})
	require.NoError(t, os.Chtimes(source, time.Unix(1, 0), time.Unix(2, 0)))
	after := layerOf(t, File{Path: "/b/c", Content: []byte("b")}, File{Path: "/a", Source: source})
	assert.Equal(t, before.digest, after.digest)
	assert.Equal(t, before.diffID, after.diffID)
}

func TestNewLayer_Streams(t *testing.T) {
	const size = 64 << 20
	big := filepath.Join(t.TempDir(), "big")
	to, err := os.Create(big)
	require.NoError(t, err)
	_, err = io.CopyN(to, rand.Reader, size)
	require.NoError(t, err)
	require.NoError(t, to.Close())

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	layer := layerOf(t, File{Path: "/big", Source: big})
	_, err = WriteArchive(filepath.Join(t.TempDir(), "big.tar"), map[string][]Image{app: {{Platform: Platform{"linux", "amd64"}, Layers: []*Layer{layer}}}})
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	assert.Greater(t, layer.Size(), int64(size), "noise cannot be compressed")
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(size/4), "bytes allocated for a file of %d bytes", size)
}

func TestNewLayer_NoFilesLeft(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	layerOf(t, File{Path: "/a", Content: []byte("a")})
	left, err := os.ReadDir(os.TempDir())
	require.NoError(t, err)
	assert.Empty(t, left)
}

func contentOf(t *testing.T, layer *Layer) map[string]layerEntry {
	t.Helper()
	content, err := stored{layer}.Uncompressed()
	require.NoError(t, err)
	found := map[string]layerEntry{}
	reader := tar.NewReader(content)
	for {
		header, err := reader.Next()
		if err == io.EOF { //nolint:errorlint // as package tar returns it
			return found
		}
		require.NoError(t, err)
		assert.True(t, header.ModTime.Equal(time.Unix(0, 0)), header.Name)
		raw, err := io.ReadAll(reader)
		require.NoError(t, err)
		kind := map[byte]string{tar.TypeReg: file, tar.TypeDir: folder, tar.TypeSymlink: link}[header.Typeflag]
		found[header.Name] = layerEntry{Type: kind, Mode: header.Mode, UID: header.Uid, GID: header.Gid, Content: string(raw), Links: header.Linkname}
	}
}
