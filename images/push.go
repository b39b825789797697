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

// Attachment is a document about an image, such as its bill of materials.
type Attachment struct {
	// MediaType says what it is, e.g. "application/vnd.cyclonedx+json".
	MediaType string
	Content   []byte
}

// Push brings one name's images to the registry that the name begins with, e.g. "ghcr.io/you/app:v1": the image of each platform, the index over
// them, and the Attachments as referrers of their image (OCI distribution 1.1; in an older registry under the fallback tag that it describes).
// Options say who logs in, e.g. remote.WithAuthFromKeychain(authn.DefaultKeychain). What the registry has already is not sent again.
//
// It returns the index's digest, "sha256:...", the same that WriteArchive finds.
func Push(ctx context.Context, ref string, images []Image, options ...remote.Option) (string, error) {
	tag, err := name.NewTag(ref, name.StrictValidation)
	if err != nil {
		return "", err
	}
	made, err := assemble(images)
	if err != nil {
		return "", fmt.Errorf("image %s: %w", ref, err)
	}
	options = append(slices.Clip(options), remote.WithContext(ctx))
	if err := remote.WriteIndex(tag, made.index, options...); err != nil {
		return "", fmt.Errorf("pushing %s: %w", ref, err)
	}
	for i, image := range images {
		for _, attachment := range image.Attachments {
			if err := attach(tag.Context(), made.images[i], attachment, options); err != nil {
				return "", fmt.Errorf("pushing the %s of %s for %s: %w", attachment.MediaType, ref, image.Platform, err)
			}
		}
	}
	digest, err := made.index.Digest()
	return digest.String(), err
}

func attach(repository name.Repository, to v1.Image, attachment Attachment, options []remote.Option) error {
	subject, err := partial.Descriptor(to)
	if err != nil {
		return err
	}
	document, err := newReferrer(*subject, attachment)
	if err != nil {
		return err
	}
	digest, err := document.Digest()
	if err != nil {
		return err
	}
	return remote.Write(repository.Digest(digest.String()), document, options...)
}

// referrer is an attachment in the form that the OCI image specification gives to artifacts: a manifest with a subject and an empty config.
type referrer struct {
	manifest []byte
	content  v1.Layer
}

const (
	emptyConfig     = "{}"
	emptyConfigType = types.MediaType("application/vnd.oci.empty.v1+json")
)

func newReferrer(subject v1.Descriptor, attachment Attachment) (v1.Image, error) {
	content := static.NewLayer(attachment.Content, types.MediaType(attachment.MediaType))
	layer, err := partial.Descriptor(content)
	if err != nil {
		return nil, err
	}
	config, size, err := v1.SHA256(bytes.NewReader([]byte(emptyConfig)))
	if err != nil {
		return nil, err
	}
	manifest, err := json.Marshal(v1.Manifest{
		SchemaVersion: 2,
		MediaType:     types.OCIManifestSchema1,
		ArtifactType:  attachment.MediaType,
		Config:        v1.Descriptor{MediaType: emptyConfigType, Digest: config, Size: size, Data: []byte(emptyConfig)},
		Layers:        []v1.Descriptor{*layer},
		Subject:       &v1.Descriptor{MediaType: subject.MediaType, Digest: subject.Digest, Size: subject.Size},
	})
	if err != nil {
		return nil, err
	}
	return partial.CompressedToImage(referrer{manifest: manifest, content: content})
}

func (r referrer) RawConfigFile() ([]byte, error)      { return []byte(emptyConfig), nil }
func (r referrer) RawManifest() ([]byte, error)        { return r.manifest, nil }
func (r referrer) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }

func (r referrer) LayerByDigest(digest v1.Hash) (partial.CompressedLayer, error) {
	if own, err := r.content.Digest(); err != nil || own != digest {
		return nil, fmt.Errorf("an attachment has no content %s: %w", digest, io.ErrUnexpectedEOF)
	}
	return r.content, nil
}
