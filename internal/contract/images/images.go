// Package images looks up what runs in pods in image vectors of Gardener's format.
//
// It must not know any image.
package images

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/utils/imagevector"
)

// Vector holds images by name and by the versions of Kubernetes and the architectures that they are for. The zero value has none.
type Vector struct {
	// builtIn are the program's own entries, overwrites those of the operator.
	builtIn, overwrites imagevector.ImageVector
}

// Read reads image vectors, and what the operator overwrites of them in the file that the environment variable
// IMAGEVECTOR_OVERWRITE names.
//
// An entry of the operator applies to every image of its name for which its own constraints hold, however the constraints of the
// built-in entries are written: operators copy those of another extension or of an earlier version, and an entry that silently did
// not apply would send pods to a registry that they may not reach. What it leaves out, repository or tag, is the built-in one's.
func Read(documents ...[]byte) (Vector, error) {
	var vector Vector
	for _, document := range documents {
		some, _, err := imagevector.Read(document)
		if err != nil {
			return Vector{}, fmt.Errorf("reading image vector: %w", err)
		}
		vector.builtIn = imagevector.MergeImageVectors(vector.builtIn, some)
	}
	var err error
	if vector.overwrites, err = readOverwrites(); err != nil {
		return Vector{}, fmt.Errorf("overwriting image vector by $%s: %w", imagevector.OverrideEnv, err)
	}
	return vector, nil
}

// With returns the images of both. The operator's entries are the same in both.
func (v Vector) With(other Vector) Vector {
	return Vector{builtIn: slices.Concat(v.builtIn, other.builtIn), overwrites: slices.Concat(v.overwrites, other.overwrites)}
}

// readOverwrites writes a tag that is left out as an empty one: Gardener's look-up would make it the version of Kubernetes.
func readOverwrites() (imagevector.ImageVector, error) {
	file := os.Getenv(imagevector.OverrideEnv)
	if file == "" {
		return nil, nil
	}
	overwrites, _, err := imagevector.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for _, source := range overwrites {
		if source.Ref == nil && source.Tag == nil {
			source.Tag = new("")
		}
	}
	return overwrites, nil
}

// find returns the operator's entry that fits best, completed by the built-in one that fits best, or that alone.
func (v Vector) find(name string, options ...imagevector.FindOptionFunc) (*imagevector.Image, error) {
	builtIn, missing := v.builtIn.FindImage(name, options...)
	if !slices.ContainsFunc(v.overwrites, func(source *imagevector.ImageSource) bool { return source.Name == name }) {
		return builtIn, missing
	}
	overwrite, err := v.overwrites.FindImage(name, options...)
	if err != nil { // none fits: constraints that cannot be read have been refused with the file
		return builtIn, missing
	}
	if overwrite.Ref != nil || *overwrite.Tag != "" {
		return overwrite, nil
	}
	if missing != nil {
		return nil, fmt.Errorf("the operator's entry has no tag, and there is none to take over: %w", missing)
	}
	overwrite.Tag = builtIn.Tag
	return overwrite, nil
}

// ForKubernetesVersion looks up images by name for a shoot with that version of Kubernetes. The seed's version is not asked for.
func ForKubernetesVersion(images Vector, kubernetesVersion string) func(name string) (string, error) {
	return func(name string) (string, error) {
		image, err := images.find(name, imagevector.TargetVersion(kubernetesVersion))
		if err != nil {
			return "", fmt.Errorf("finding image %q for Kubernetes %s: %w", name, kubernetesVersion, err)
		}
		return image.String(), nil
	}
}

// ForTrellisVersion looks up images that are built from the same source as this program, whose version it is told: an image without a tag is of
// that version.
func ForTrellisVersion(images Vector, version string) func(name string) (string, error) {
	return func(name string) (string, error) {
		image, err := images.find(name)
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
