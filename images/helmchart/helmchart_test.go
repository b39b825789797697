package helmchart

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"log"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const metadata = "apiVersion: v2\nname: web\nversion: 1.2.3+build.4\nappVersion: v1.2.3\ndescription: A server\nkeywords: [a, b]\n"

// pack is an archive of files, given by path and content in turn.
func pack(t *testing.T, files ...string) []byte {
	t.Helper()
	var packed bytes.Buffer
	zipper := gzip.NewWriter(&packed)
	archive := tar.NewWriter(zipper)
	for i := 0; i < len(files); i += 2 {
		require.NoError(t, archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: files[i], Mode: 0o644, Size: int64(len(files[i+1]))}))
		_, err := archive.Write([]byte(files[i+1]))
		require.NoError(t, err)
	}
	require.NoError(t, archive.Close())
	require.NoError(t, zipper.Close())
	return packed.Bytes()
}

func TestPush(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	repository := strings.TrimPrefix(server.URL, "http://") + "/team/charts"
	archive := pack(t, "web/charts/common/Chart.yaml", "name: common\nversion: 0.0.1\n", "web/Chart.yaml", metadata, "web/values.yaml", "a: 1\n")
	created := time.Date(2026, 1, 2, 4, 4, 5, 0, time.FixedZone("CET", 3600))
	chart, err := Read(archive)
	require.NoError(t, err)
	ref, digest, err := chart.Push(t.Context(), repository, created)
	require.NoError(t, err)
	assert.Equal(t, repository+"/web:1.2.3_build.4", ref)
	_, again, err := chart.Push(t.Context(), repository+"/other", created)
	require.NoError(t, err)
	assert.Equal(t, digest, again, "the same archive gives the same digest")

	pulled, err := name.NewDigest(repository + "/web@" + digest)
	require.NoError(t, err)
	artifact, err := remote.Image(pulled)
	require.NoError(t, err)
	manifest, err := artifact.Manifest()
	require.NoError(t, err)
	assert.EqualValues(t, "application/vnd.oci.image.manifest.v1+json", manifest.MediaType)
	assert.EqualValues(t, "application/vnd.cncf.helm.config.v1+json", manifest.Config.MediaType)
	assert.Equal(t, map[string]string{
		"org.opencontainers.image.title": "web", "org.opencontainers.image.version": "1.2.3+build.4",
		"org.opencontainers.image.description": "A server", "org.opencontainers.image.created": "2026-01-02T03:04:05Z",
	}, manifest.Annotations)
	config, err := artifact.RawConfigFile()
	require.NoError(t, err)
	assert.JSONEq(t, `{"apiVersion":"v2","name":"web","version":"1.2.3+build.4","appVersion":"v1.2.3","description":"A server","keywords":["a","b"]}`, string(config))
	layers, err := artifact.Layers()
	require.NoError(t, err)
	require.Len(t, layers, 1)
	mediaType, err := layers[0].MediaType()
	require.NoError(t, err)
	assert.EqualValues(t, "application/vnd.cncf.helm.chart.content.v1.tar+gzip", mediaType)
	content, err := layers[0].Compressed()
	require.NoError(t, err)
	defer content.Close()
	raw, err := io.ReadAll(content)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(archive, raw))
}

func TestRead_Errors(t *testing.T) {
	for sentence, tt := range map[string]struct {
		archive []byte
		want    string
	}{
		"no archive":                      {[]byte("x"), "reading the archive of a chart"},
		"a chart inside of none":          {pack(t, "web/charts/common/Chart.yaml", metadata), "the archive has no Chart.yaml"},
		"no version":                      {pack(t, "web/Chart.yaml", "name: web\n"), "has no name or no version"},
		"a version that is a number":      {pack(t, "web/Chart.yaml", "name: web\nversion: 1.2\n"), "has no name or no version"},
		"a Chart.yaml that is no mapping": {pack(t, "web/Chart.yaml", "- a\n"), "reading Chart.yaml"},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := Read(tt.archive)
			assert.ErrorContains(t, err, tt.want)
		})
	}
}
