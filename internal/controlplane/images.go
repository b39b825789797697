package controlplane

import (
	_ "embed" // for the image vector
	"fmt"
	"slices"

	"github.com/gardener/gardener/pkg/utils/imagevector"
)

//go:embed images.yaml
var ownImages []byte

// ReadImages reads the contract's own image vector and those of drivers (in Gardener's format), and lets the operator have the
// last word: the file that the environment variable IMAGEVECTOR_OVERWRITE names overwrites entries that have the same name and
// the same constraints, and adds others.
func ReadImages(drivers ...[]byte) (imagevector.ImageVector, error) {
	var images imagevector.ImageVector
	for _, document := range slices.Concat([][]byte{ownImages}, drivers) {
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

// ImagesFor looks up images by name for a shoot with that version of Kubernetes. The seed's version is not asked for: nothing of
// a control plane's images depends on it.
func ImagesFor(images imagevector.ImageVector, kubernetesVersion string) func(name string) (string, error) {
	return func(name string) (string, error) {
		image, err := images.FindImage(name, imagevector.TargetVersion(kubernetesVersion))
		if err != nil {
			return "", fmt.Errorf("finding image %q for Kubernetes %s: %w", name, kubernetesVersion, err)
		}
		return image.String(), nil
	}
}
