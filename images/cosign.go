package images

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// TaggedDocument is something said of an image in the place where cosign looks for it: a layer of an image whose tag is made of the digest.
type TaggedDocument struct {
	MediaType   string
	Content     []byte
	Annotations map[string]string
}

// The ends of the tags that cosign gives to signatures and to statements.
const (
	SignatureTag = "sig"
	StatementTag = "att"
)

// cosignTag is e.g. "sha256-4bc4.sig".
func cosignTag(repository name.Repository, digest, end string) name.Tag {
	return repository.Tag(strings.Replace(digest, ":", "-", 1) + "." + end)
}

// PushTagged brings documents about an image to the repository of ref, in place of those that were there under the same tag.
func PushTagged(ctx context.Context, ref, digest, end string, documents []TaggedDocument, options ...remote.Option) error {
	tag, err := name.NewTag(ref, name.StrictValidation)
	if err != nil {
		return err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	for _, document := range documents {
		layer := static.NewLayer(document.Content, types.MediaType(document.MediaType))
		if image, err = mutate.Append(image, mutate.Addendum{Layer: layer, Annotations: document.Annotations}); err != nil {
			return fmt.Errorf("packing the %s of %s: %w", document.MediaType, ref, err)
		}
	}
	options = append(slices.Clip(options), remote.WithContext(ctx))
	if err := remote.Write(cosignTag(tag.Context(), digest, end), image, options...); err != nil {
		return fmt.Errorf("pushing what is said of %s: %w", ref, err)
	}
	return nil
}

// FindDigest returns the digest that a name stands for in its registry: that of the index, or the one in the name itself.
func FindDigest(ctx context.Context, ref string, options ...remote.Option) (string, error) {
	parsed, err := name.ParseReference(ref, name.StrictValidation)
	if err != nil {
		return "", err
	}
	found, err := remote.Head(parsed, append(slices.Clip(options), remote.WithContext(ctx))...)
	if err != nil {
		return "", fmt.Errorf("looking for %s: %w", ref, err)
	}
	return found.Digest.String(), nil
}

// ReadTagged returns the documents about an image that PushTagged, or cosign, has brought to the repository of ref.
func ReadTagged(ctx context.Context, ref, digest, end string, options ...remote.Option) ([]TaggedDocument, error) {
	parsed, err := name.ParseReference(ref, name.StrictValidation)
	if err != nil {
		return nil, err
	}
	tag := cosignTag(parsed.Context(), digest, end)
	image, err := remote.Image(tag, append(slices.Clip(options), remote.WithContext(ctx))...)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", tag, err)
	}
	manifest, err := image.Manifest()
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", tag, err)
	}
	var documents []TaggedDocument
	for _, descriptor := range manifest.Layers {
		content, err := readLayer(image, descriptor)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", tag, err)
		}
		documents = append(documents, TaggedDocument{MediaType: string(descriptor.MediaType), Content: content, Annotations: descriptor.Annotations})
	}
	return documents, nil
}

func readLayer(image v1.Image, descriptor v1.Descriptor) ([]byte, error) {
	layer, err := image.LayerByDigest(descriptor.Digest)
	if err != nil {
		return nil, err
	}
	content, err := layer.Compressed()
	if err != nil {
		return nil, err
	}
	defer content.Close() //nolint:errcheck // nothing was written
	raw, err := readWhole(content, maxDocument)
	if err != nil {
		return nil, err
	}
	// The reader compares the digest when it comes to the end.
	_, err = io.Copy(io.Discard, content)
	return raw, err
}
