package images

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const app, other = "registry.example/team/app:v1", "registry.example/team/other:v1"

// twoApps are two images that share their lowest layer, one of them for two platforms.
func twoApps(t *testing.T) map[string][]Image {
	t.Helper()
	base := layerOf(t, File{Path: "/etc/passwd", Content: []byte("root:x:0:0::/:\n")})
	image := func(architecture, content string) Image {
		return Image{
			Platform: Platform{OS: "linux", Architecture: architecture},
			Layers:   []*Layer{base, layerOf(t, File{Path: "/app", Content: []byte(content), Mode: 0o755})},
			Config: Config{
				Entrypoint: []string{"/app"}, Cmd: []string{"--all"}, Env: []string{"A=b"}, WorkingDir: "/etc", StopSignal: "SIGINT",
				Labels: map[string]string{"b": "2", "a": "1"}, Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
			},
		}
	}
	return map[string][]Image{
		app:   {image("amd64", "app for amd64"), image("arm64", "app for arm64")},
		other: {image("amd64", "other for amd64")},
	}
}

func TestWriteArchive_OCILayout(t *testing.T) {
	path := filepath.Join(t.TempDir(), "apps.tar")
	digests, err := WriteArchive(path, twoApps(t))
	require.NoError(t, err)

	index := readLayout(t, path)
	require.NoError(t, validate.Index(index))
	manifest, err := index.IndexManifest()
	require.NoError(t, err)
	require.Len(t, manifest.Manifests, 2)
	for i, name := range []string{app, other} {
		found := manifest.Manifests[i]
		assert.Equal(t, name, found.Annotations["io.containerd.image.name"])
		assert.Equal(t, name, found.Annotations["org.opencontainers.image.ref.name"])
		assert.Equal(t, digests[name], found.Digest.String())
	}

	child, err := index.ImageIndex(manifest.Manifests[0].Digest)
	require.NoError(t, err)
	platforms, err := child.IndexManifest()
	require.NoError(t, err)
	require.Len(t, platforms.Manifests, 2)
	assert.Equal(t, "linux/amd64", platforms.Manifests[0].Platform.String())
	assert.Equal(t, "linux/arm64", platforms.Manifests[1].Platform.String())
	arm, err := child.Image(platforms.Manifests[1].Digest)
	require.NoError(t, err)
	config, err := arm.ConfigFile()
	require.NoError(t, err)
	assert.Equal(t, "arm64", config.Architecture)
	assert.Equal(t, v1.Config{
		Entrypoint: []string{"/app"}, Cmd: []string{"--all"}, Env: []string{"A=b"}, WorkingDir: "/etc", StopSignal: "SIGINT", User: "65532:65532",
		Labels: map[string]string{"a": "1", "b": "2"},
	}, config.Config)
}

func TestWriteArchive_Docker(t *testing.T) {
	path := filepath.Join(t.TempDir(), "apps.tar")
	_, err := WriteArchive(path, twoApps(t))
	require.NoError(t, err)

	for ref, architecture := range map[string]string{app: "amd64", app + "-arm64": "arm64", other: "amd64"} {
		tag, err := name.NewTag(ref)
		require.NoError(t, err)
		image, err := tarball.ImageFromPath(path, &tag)
		require.NoError(t, err, ref)
		require.NoError(t, validate.Image(image), ref)
		config, err := image.ConfigFile()
		require.NoError(t, err)
		assert.Equal(t, architecture, config.Architecture)
	}
}

func TestWriteArchive_SharedLayer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "apps.tar")
	images := twoApps(t)
	_, err := WriteArchive(path, images)
	require.NoError(t, err)

	times := map[string]int{}
	for _, header := range headersOf(t, path) {
		times[header.Name]++
	}
	for name, n := range times {
		assert.Equal(t, 1, n, name)
	}
	assert.Contains(t, times, blobPath(images[app][0].Layers[0].digest))
}

func TestWriteArchive_Deterministic(t *testing.T) {
	write := func() ([]byte, map[string]string) {
		path := filepath.Join(t.TempDir(), "apps.tar")
		digests, err := WriteArchive(path, twoApps(t))
		require.NoError(t, err)
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		return content, digests
	}
	content, digests := write()
	again, digestsAgain := write()
	assert.True(t, bytes.Equal(content, again))
	assert.Equal(t, digests, digestsAgain)
	// Known from before: neither a new Go nor another machine may change it unnoticed.
	assert.Equal(t, "sha256:ed27ce099424c1a82d0ffc7b19dfc8010b0e7c1d7c05aacdebaa3f846396e020", digests[app])
}

func TestWriteArchive_Invalid(t *testing.T) {
	image := Image{Platform: Platform{"linux", "amd64"}, Layers: []*Layer{layerOf(t, File{Path: "/a"})}}
	for sentence, c := range map[string]struct {
		images map[string][]Image
		want   string
	}{
		"no image at all":              {nil, "no images are given"},
		"a name without registry":      {map[string][]Image{"app:v1": {image}}, "registry"},
		"a name without tag":           {map[string][]Image{"registry.example/app": {image}}, "tag"},
		"a name without image":         {map[string][]Image{app: nil}, "no image is given"},
		"a platform twice":             {map[string][]Image{app: {image, image}}, "linux/amd64 is given twice"},
		"no platform":                  {map[string][]Image{app: {{Layers: image.Layers}}}, "such as linux/amd64"},
		"an image without any content": {map[string][]Image{app: {{Platform: image.Platform}}}, "no layers"},
	} {
		t.Run(sentence, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.tar")
			_, err := WriteArchive(path, c.images)
			assert.ErrorContains(t, err, c.want)
			_, err = os.Stat(path)
			assert.ErrorIs(t, err, fs.ErrNotExist)
		})
	}
}

func TestWriteArchive_ReplacesFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "apps.tar")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	_, err := WriteArchive(path, twoApps(t))
	require.NoError(t, err)
	assert.NotEmpty(t, headersOf(t, path))
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
	require.NoError(t, err)
	assert.Empty(t, left, "no half-written file stays")
}

// readLayout unpacks the archive and opens it as an OCI layout.
func readLayout(t *testing.T, archive string) v1.ImageIndex {
	t.Helper()
	dir := t.TempDir()
	file, err := os.Open(archive)
	require.NoError(t, err)
	defer file.Close()
	for reader := tar.NewReader(file); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		target := filepath.Join(dir, header.Name)
		require.NoError(t, os.MkdirAll(filepath.Dir(target), 0o755))
		content, err := io.ReadAll(reader)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(target, content, 0o600))
	}
	marker, err := os.ReadFile(filepath.Join(dir, "oci-layout"))
	require.NoError(t, err)
	var version struct{ ImageLayoutVersion string }
	require.NoError(t, json.Unmarshal(marker, &version))
	assert.Equal(t, "1.0.0", version.ImageLayoutVersion)
	index, err := layout.ImageIndexFromPath(dir)
	require.NoError(t, err)
	return index
}

func headersOf(t *testing.T, archive string) []*tar.Header {
	t.Helper()
	file, err := os.Open(archive)
	require.NoError(t, err)
	defer file.Close()
	return headers(t, file)
}

func headers(t *testing.T, from io.Reader) []*tar.Header {
	t.Helper()
	var all []*tar.Header
	for reader := tar.NewReader(from); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		all = append(all, header)
	}
}

func layerOf(t *testing.T, files ...File) *Layer {
	t.Helper()
	layer, err := NewLayer(files...)
	require.NoError(t, err)
	return layer
}
