package images

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Artifact is something in a registry that is no image, such as a Helm chart: one layer and a config, both of media types of their own.
type Artifact struct {
	ConfigMediaType string
	Config          []byte
	MediaType       string
	Content         []byte
	// Annotations are those of the manifest.
	Annotations map[string]string
}

// PushArtifact brings an artifact to the registry that the name begins with, as Push does for images, and returns its digest, "sha256:...".
func PushArtifact(ctx context.Context, ref string, a Artifact, options ...remote.Option) (string, error) {
	tag, err := name.NewTag(ref, name.StrictValidation)
	if err != nil {
		return "", err
	}
	made, err := a.assemble()
	if err != nil {
		return "", fmt.Errorf("packing %s: %w", ref, err)
	}
	if err := remote.Write(tag, made, append(slices.Clip(options), remote.WithContext(ctx))...); err != nil {
		return "", fmt.Errorf("pushing %s: %w", ref, err)
	}
	digest, err := made.Digest()
	return digest.String(), err
}

func (a Artifact) assemble() (v1.Image, error) {
	return newArtifact(v1.Manifest{
		Config: v1.Descriptor{MediaType: types.MediaType(a.ConfigMediaType)}, Annotations: a.Annotations,
	}, a.Config, static.NewLayer(a.Content, types.MediaType(a.MediaType)))
}

// artifact has the form that the OCI image specification gives to artifacts: a manifest with a config and one layer.
type artifact struct {
	manifest, config []byte
	content          v1.Layer
}

const (
	emptyConfig     = "{}"
	emptyConfigType = types.MediaType("application/vnd.oci.empty.v1+json")
)

// newArtifact completes a manifest with what follows from the contents.
func newArtifact(manifest v1.Manifest, config []byte, content v1.Layer) (v1.Image, error) {
	layer, err := partial.Descriptor(content)
	if err != nil {
		return nil, err
	}
	if manifest.Config.Digest, manifest.Config.Size, err = v1.SHA256(bytes.NewReader(config)); err != nil {
		return nil, err
	}
	manifest.SchemaVersion, manifest.MediaType, manifest.Layers = 2, types.OCIManifestSchema1, []v1.Descriptor{*layer}
	raw, err := json.Marshal(manifest)
	if err != nil {
		return nil, err
	}
	return partial.CompressedToImage(artifact{manifest: raw, config: config, content: content})
}

func (a artifact) RawConfigFile() ([]byte, error)      { return a.config, nil }
func (a artifact) RawManifest() ([]byte, error)        { return a.manifest, nil }
func (a artifact) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }

func (a artifact) LayerByDigest(digest v1.Hash) (partial.CompressedLayer, error) {
	if own, err := a.content.Digest(); err != nil || own != digest {
		return nil, fmt.Errorf("an artifact has no content %s: %w", digest, io.ErrUnexpectedEOF)
	}
	return a.content, nil
}
