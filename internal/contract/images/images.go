// Package images looks up what runs in pods in image vectors of Gardener's format.
//
// It must not know any image.
package images

import (
	"fmt"
	"strings"

	"github.com/gardener/gardener/pkg/utils/imagevector"
)

// Read reads image vectors, and lets the operator have the last word: the file that the environment variable
// IMAGEVECTOR_OVERWRITE names overwrites entries that have the same name and the same constraints, and adds others.
func Read(documents ...[]byte) (imagevector.ImageVector, error) {
	var images imagevector.ImageVector
	for _, document := range documents {
		some, _, err := imagevector.Read(document)
		if err != nil {
			return nil, fmt.Errorf("reading image vector: %w", err)
		}
		images = imagevector.MergeImageVectors(images, some)
	}
	images, _, err := imagevector.WithEnvOverride(images, nil, imagevector.OverrideEnv)
	if err != nil {
		return nil, fmt.Errorf("overwriting image vector by $%s: %w", imagevector.OverrideEnv, err)
	}
	return images, nil
}

// For looks up images by name for a shoot with that version of Kubernetes. The seed's version is not asked for.
func For(images imagevector.ImageVector, kubernetesVersion string) func(name string) (string, error) {
	return func(name string) (string, error) {
		image, err := images.FindImage(name, imagevector.TargetVersion(kubernetesVersion))
		if err != nil {
			return "", fmt.Errorf("finding image %q for Kubernetes %s: %w", name, kubernetesVersion, err)
		}
		return image.String(), nil
	}
}

// Own looks up images that are built from the same source as this program, whose version it is told: an image without a tag is of
// that version.
func Own(images imagevector.ImageVector, version string) func(name string) (string, error) {
	return func(name string) (string, error) {
		image, err := images.FindImage(name)
		if err != nil {
			return "", fmt.Errorf("finding image %q: %w", name, err)
		}
		image.WithOptionalTag(tagOf(version))
		return image.String(), nil
	}
}

// tagOf returns a version as a tag, in which not all characters of a version may be.
func tagOf(version string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-', r == '_':
			return r
		default:
			return '_'
		}
	}, version)
}
