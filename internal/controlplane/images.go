package controlplane

import (
	_ "embed" // for the image vector
	"slices"

	"github.com/trellis-garden/trellis/internal/contract/images"
)

//go:embed images.yaml
var ownImages []byte

// ReadImages reads the image vectors of the contract and of drivers (in Gardener's format), and the operator's overwrites.
func ReadImages(drivers ...[]byte) (images.Vector, error) {
	return images.Read(slices.Concat([][]byte{ownImages}, drivers)...)
}

// ImagesFor returns the look-up of images by name for a shoot's version of Kubernetes. The seed's version is not used: no image of a control plane depends
// on it.
func ImagesFor(vector images.Vector, kubernetesVersion string) func(name string) (string, error) {
	return images.ForKubernetesVersion(vector, kubernetesVersion)
}
