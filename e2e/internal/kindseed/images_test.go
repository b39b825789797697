package kindseed

import (
	"archive/tar"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/charts"
	"github.com/trellis-garden/trellis/charts/registration"
)

// TestAbsentImages compares with what the pods of a control plane consist of, for the version of Kubernetes that shoots have.
func TestAbsentImages(t *testing.T) {
	absent, err := absentImages()
	require.NoError(t, err)
	for _, repository := range []string{
		"registry.k8s.io/provider-os/cinder-csi-plugin:v1.36.", "registry.k8s.io/sig-storage/csi-provisioner:v6.",
		"registry.k8s.io/sig-storage/livenessprobe:", "registry.k8s.io/sig-storage/snapshot-controller:",
	} {
		assert.True(t, slices.ContainsFunc(absent, func(name string) bool { return strings.HasPrefix(name, repository) }), "%s in %v", repository, absent)
	}
	own, err := cloudControllerManagerImage()
	require.NoError(t, err)
	assert.NotContains(t, absent, own, "it is built")
}

// TestBinaries compares with the images that registrations name.
func TestBinaries(t *testing.T) {
	catalogue, err := registration.Read(charts.Catalogue())
	require.NoError(t, err)
	left := slices.DeleteFunc(catalogue.Binaries(), func(name string) bool { return slices.Contains(Binaries(), name) })
	assert.Equal(t, []string{"admission", "controllerinstallation-controller", "gardenet-service-router", "machine-controller-aws"}, left,
		"they run in the garden, or in shoots that the seed does not have")
}

// TestPack packs a program twice, and then another under the same name.
func TestPack(t *testing.T) {
	dir := t.TempDir()
	b, err := newBinaries()
	require.NoError(t, err)
	b.cache = dir
	program := filepath.Join(t.TempDir(), "program")
	pack := func(content string) string {
		require.NoError(t, os.WriteFile(program, []byte(content), 0o700))
		archive, err := b.pack(program, []string{"/program", "/bin/other"}, "localhost/program:e2e", "localhost/another:e2e")
		require.NoError(t, err)
		return archive
	}
	first := pack("one")
	before, err := os.Stat(first)
	require.NoError(t, err)
	assert.Equal(t, first, pack("one"))
	again, err := os.Stat(first)
	require.NoError(t, err)
	assert.Equal(t, before.ModTime(), again.ModTime(), "it is not packed again")
	for _, content := range []string{"two", "three", "four", "five", "six"} {
		assert.NotEqual(t, first, pack(content))
	}
	kept, err := filepath.Glob(filepath.Join(dir, "*.tar"))
	require.NoError(t, err)
	assert.Len(t, kept, keptArchives)
	assert.Contains(t, manifestOf(t, pack("six")), `"localhost/another:e2e"`)
}

// manifestOf reads the table of contents of an archive.
func manifestOf(t *testing.T, archive string) string {
	t.Helper()
	file, err := os.Open(archive)
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	for reader := tar.NewReader(file); ; {
		header, err := reader.Next()
		require.NoError(t, err)
		if header.Name == "manifest.json" {
			content, err := io.ReadAll(reader)
			require.NoError(t, err)
			return string(content)
		}
	}
}

// TestDecode reads a file of manifests as we generate them: comments, and documents behind.
func TestDecode(t *testing.T) {
	objects, err := decode([]byte("# written by a machine\n---\nkind: One\n---\n# nothing\n---\nkind: Two\n"))
	require.NoError(t, err)
	require.Len(t, objects, 2)
	assert.Equal(t, "One", objects[0].GetKind())
	assert.Equal(t, "Two", objects[1].GetKind())
	_, err = decode([]byte("kind: [\n"))
	require.Error(t, err)
}
