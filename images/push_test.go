package images

import (
	"io"
	"log"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPush_ImagesAndAttachments(t *testing.T) {
	for sentence, referrers := range map[string]bool{
		"from a registry that knows referrers":         true,
		"from a registry that does not know referrers": false,
	} {
		t.Run(sentence, func(t *testing.T) {
			ref := startRegistry(t, registry.WithReferrersSupport(referrers)) + "/team/app:v1"
			images := twoApps(t)[app]
			bill := []byte(`{"bomFormat":"CycloneDX"}`)
			images[1].Attachments = []Attachment{{MediaType: "application/vnd.cyclonedx+json", Content: bill}}

			digest, err := Push(t.Context(), ref, images)
			require.NoError(t, err)

			tag, err := name.NewTag(ref)
			require.NoError(t, err)
			index, err := remote.Index(tag)
			require.NoError(t, err)
			require.NoError(t, validate.Index(index))
			manifest, err := index.IndexManifest()
			require.NoError(t, err)
			require.Len(t, manifest.Manifests, 2)
			pushed, err := index.Digest()
			require.NoError(t, err)
			assert.Equal(t, digest, pushed.String())

			assert.Empty(t, attached(t, tag.Context(), manifest.Manifests[0].Digest))
			assert.Equal(t, [][]byte{bill}, attached(t, tag.Context(), manifest.Manifests[1].Digest))
		})
	}
}

func TestPush_SameDigestAsArchive(t *testing.T) {
	ref := startRegistry(t) + "/team/app:v1"
	images := twoApps(t)[app]
	pushed, err := Push(t.Context(), ref, images)
	require.NoError(t, err)
	archived, err := WriteArchive(filepath.Join(t.TempDir(), "app.tar"), map[string][]Image{ref: images})
	require.NoError(t, err)
	assert.Equal(t, archived[ref], pushed)
}

func TestPush_Errors(t *testing.T) {
	ref := startRegistry(t) + "/team/app:v1"
	_, err := Push(t.Context(), ref, nil)
	assert.ErrorContains(t, err, "no image is given")
	_, err = Push(t.Context(), "app:v1", twoApps(t)[app])
	assert.ErrorContains(t, err, "registry")
	_, err = Push(t.Context(), "127.0.0.1:1/team/app:v1", twoApps(t)[app], remote.WithRetryBackoff(remote.Backoff{Steps: 1}))
	assert.ErrorContains(t, err, "pushing 127.0.0.1:1/team/app:v1")
}

// startRegistry returns the address of a registry that lives as long as the test.
func startRegistry(t *testing.T, options ...registry.Option) string {
	t.Helper()
	server := httptest.NewServer(registry.New(append(options, registry.Logger(log.New(io.Discard, "", 0)))...))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// attached returns the content of all that refers to the image.
func attached(t *testing.T, repository name.Repository, digest v1.Hash) [][]byte {
	t.Helper()
	index, err := remote.Referrers(repository.Digest(digest.String()))
	require.NoError(t, err)
	manifest, err := index.IndexManifest()
	require.NoError(t, err)
	var all [][]byte
	for _, found := range manifest.Manifests {
		document, err := remote.Image(repository.Digest(found.Digest.String()))
		require.NoError(t, err)
		about, err := document.Manifest()
		require.NoError(t, err)
		assert.Equal(t, "application/vnd.cyclonedx+json", about.ArtifactType)
		assert.Equal(t, digest, about.Subject.Digest)
		layers, err := document.Layers()
		require.NoError(t, err)
		require.Len(t, layers, 1)
		content, err := layers[0].Compressed()
		require.NoError(t, err)
		raw, err := io.ReadAll(content)
		require.NoError(t, err)
		all = append(all, raw)
	}
	return all
}
