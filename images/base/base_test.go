package base

import (
	"archive/tar"
	"crypto/x509"
	"io"
	"path/filepath"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/images"
)

func TestLayer_Authorities(t *testing.T) {
	layer, err := Layer()
	require.NoError(t, err)
	archive := filepath.Join(t.TempDir(), "base.tar")
	_, err = images.WriteArchive(archive, map[string][]images.Image{
		"registry.example/base:v1": {{Platform: images.Platform{OS: "linux", Architecture: "amd64"}, Layers: []*images.Layer{layer}}},
	})
	require.NoError(t, err)
	image, err := tarball.ImageFromPath(archive, nil)
	require.NoError(t, err)

	files := map[string]string{}
	for reader := tar.NewReader(mutate.Extract(image)); ; {
		header, err := reader.Next()
		if err == io.EOF { //nolint:errorlint // as package tar returns it
			break
		}
		require.NoError(t, err)
		content, err := io.ReadAll(reader)
		require.NoError(t, err)
		files["/"+header.Name] = string(content)
		if header.Typeflag == tar.TypeReg {
			assert.Equal(t, int64(0o644), header.Mode, header.Name)
		}
	}
	assert.Contains(t, files["/etc/passwd"], "nonroot:x:65532:65532:")
	assert.Contains(t, files["/etc/protocols"], "udp\t17\t")
	assert.Contains(t, files["/etc/group"], "nonroot:x:65532:")

	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM([]byte(files[Authorities])))
	assert.Greater(t, len(pool.Subjects()), 100) //nolint:staticcheck // right for a pool that is not the system's
}
