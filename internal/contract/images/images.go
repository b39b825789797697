// Package images looks up images of pods in image vectors of Gardener's format.
//
// The package must not depend on an image.
package images

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/utils/imagevector"
)

// Vector has images by name and by their versions of Kubernetes and architectures. The zero value has none.
type Vector struct {
	// builtIn are the program's own entries, overwrites those of the operator.
	builtIn, overwrites imagevector.ImageVector
}

// Read reads image vectors, and the operator's overwrites of them in the file that the environment variable
// IMAGEVECTOR_OVERWRITE names.
//
// An entry of the operator applies to every image of its name for which its own constraints hold, independent of the constraints of the
// built-in entries: operators copy entries of another extension or of an earlier version, and one that silently did
// not apply would make pods pull from a registry that they may not reach. An omitted repository or tag is that of the built-in entry.
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

// With returns the images of both. Both have the same entries of the operator.
func (v Vector) With(other Vector) Vector {
	return Vector{builtIn: slices.Concat(v.builtIn, other.builtIn), overwrites: slices.Concat(v.overwrites, other.overwrites)}
}

// WithTrellisVersion returns the images of which those that are built from the same source as this program, which has the given version, have that version: they
// are the built-in ones without a tag.
func (v Vector) WithTrellisVersion(version string) Vector {
	versioned := make(imagevector.ImageVector, 0, len(v.builtIn))
	for _, source := range v.builtIn {
		copied := *source
		if copied.Ref == nil && copied.Tag == nil {
			copied.Tag = new(tagOf(version))
		}
		versioned = append(versioned, &copied)
	}
	return Vector{builtIn: versioned, overwrites: v.overwrites}
}

// Scoped returns the images of one of several scopes whose images may have the same names. Of the operator's entries, one whose name is the scope's, a slash and
// the image's ("aws/cloud-controller-manager") is for this scope only, and takes the place of all with the image's name alone.
func (v Vector) Scoped(scope string) Vector {
	var scoped imagevector.ImageVector
	own := map[string]bool{}
	for _, source := range v.overwrites {
		if name, found := strings.CutPrefix(source.Name, scope+"/"); found {
			copied := *source
			copied.Name, own[name] = name, true
			scoped = append(scoped, &copied)
		}
	}
	for _, source := range v.overwrites {
		if !own[source.Name] {
			scoped = append(scoped, source)
		}
	}
	return Vector{builtIn: v.builtIn, overwrites: scoped}
}

// Overwrites reports whether the operator has an entry with that name.
func (v Vector) Overwrites(name string) bool {
	return slices.ContainsFunc(v.overwrites, func(source *imagevector.ImageSource) bool { return source.Name == name })
}

// Repositories returns the repositories of the program's own entries with that name, sorted, each once.
func (v Vector) Repositories(name string) []string {
	var repositories []string
	for _, source := range v.builtIn {
		if source.Name == name && source.Repository != nil {
			repositories = append(repositories, *source.Repository)
		}
	}
	slices.Sort(repositories)
	return slices.Compact(repositories)
}

// Names returns the names of the program's own entries, sorted, each once.
func (v Vector) Names() []string {
	var names []string
	for _, source := range v.builtIn {
		names = append(names, source.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// readOverwrites writes an omitted tag as an empty one: Gardener's look-up would make it the version of Kubernetes.
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

// find returns the operator's best entry, completed by the best built-in one, or the latter alone.
func (v Vector) find(name string, options ...imagevector.FindOptionFunc) (*imagevector.Image, error) {
	builtIn, missing := v.builtIn.FindImage(name, options...)
	if !v.Overwrites(name) {
		return builtIn, missing
	}
	overwrite, err := v.overwrites.FindImage(name, options...)
	if err != nil { // none matches: constraints that cannot be parsed are rejected with the file
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

// ForKubernetesVersion looks up images by name for a shoot with that version of Kubernetes. The seed's version is irrelevant.
func ForKubernetesVersion(images Vector, kubernetesVersion string) func(name string) (string, error) {
	return func(name string) (string, error) {
		image, err := images.find(name, imagevector.TargetVersion(kubernetesVersion))
		if err != nil {
			return "", fmt.Errorf("finding image %q for Kubernetes %s: %w", name, kubernetesVersion, err)
		}
		return image.String(), nil
	}
}

// ForTrellisVersion looks up images that are built from the same source as this program, which has the given version: an image without a tag has
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

// tagOf returns a version as a tag, which permits fewer characters.
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
