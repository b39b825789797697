package controlplane

import (
	_ "embed" // for the image vector
	"slices"

	"github.com/trellis-garden/trellis/internal/contract/images"
)

//go:embed images.yaml
var ownImages []byte

// ReadImages reads the contract's own image vector and those of drivers (in Gardener's format), and what the operator overwrites
// of them.
func ReadImages(drivers ...[]byte) (images.Vector, error) {
	return images.Read(slices.Concat([][]byte{ownImages}, drivers)...)
}

// ImagesFor looks up images by name for a shoot with that version of Kubernetes. The seed's version is not asked for: nothing of
// a control plane's images depends on it.
func ImagesFor(vector images.Vector, kubernetesVersion string) func(name string) (string, error) {
	return images.ForKubernetesVersion(vector, kubernetesVersion)
}
