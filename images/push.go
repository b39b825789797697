package images

import (
	"context"
	"fmt"
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
	document, err := newArtifact(v1.Manifest{
		ArtifactType: attachment.MediaType,
		Config:       v1.Descriptor{MediaType: emptyConfigType, Data: []byte(emptyConfig)},
		Subject:      &v1.Descriptor{MediaType: subject.MediaType, Digest: subject.Digest, Size: subject.Size},
	}, []byte(emptyConfig), static.NewLayer(attachment.Content, types.MediaType(attachment.MediaType)))
	if err != nil {
		return err
	}
	digest, err := document.Digest()
	if err != nil {
		return err
	}
	return remote.Write(repository.Digest(digest.String()), document, options...)
}
