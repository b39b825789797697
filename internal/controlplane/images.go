package controlplane

import (
	_ "embed" // for the image vector
	"fmt"
	"slices"

	"github.com/trellis-garden/trellis/internal/contract/images"
)

//go:embed images.yaml
var ownImages []byte

// Images are the images of control planes, by the type of their cloud. Those of different clouds may have the same names: all have an image
// cloud-controller-manager.
type Images map[string]images.Vector

// ReadImages reads the image vector of the contract and that of a driver (in Gardener's format), and the operator's overwrites.
func ReadImages(driver []byte) (images.Vector, error) {
	documents := [][]byte{ownImages}
	if len(driver) > 0 {
		documents = append(documents, driver)
	}
	return images.Read(documents...)
}

// ReadImagesOf reads those of the drivers of some types. The operator's entry for an image applies to all types, unless it is for one ("aws/csi-driver"). One
// for all types is an error if the image is another one in each: it would replace one program by another.
func ReadImagesOf(types []string, drivers map[string][]byte) (Images, error) {
	all, scoped := Images{}, Images{}
	for _, providerType := range types {
		vector, err := ReadImages(drivers[providerType])
		if err != nil {
			return nil, err
		}
		all[providerType], scoped[providerType] = vector, vector.Scoped(providerType)
	}
	for i, one := range types {
		for _, other := range types[i+1:] {
			if err := checkOverwrites(all, one, other); err != nil {
				return nil, err
			}
		}
	}
	return scoped, nil
}

// checkOverwrites refuses an entry of the operator that would replace different images of two types.
func checkOverwrites(all Images, one, other string) error {
	mine, others := all[one], all[other]
	for _, name := range mine.Names() {
		repositories := others.Repositories(name)
		shared := mine.Overwrites(name) && !mine.Overwrites(one+"/"+name) && !mine.Overwrites(other+"/"+name)
		if shared && len(repositories) > 0 && !slices.Equal(mine.Repositories(name), repositories) {
			return fmt.Errorf("the operator's entry for image %q is for the types %q and %q, which have different ones: call it %q or %q",
				name, one, other, one+"/"+name, other+"/"+name)
		}
	}
	return nil
}

// ImagesFor returns the look-up of images by name for a shoot's version of Kubernetes. The seed's version is not used: no image of a control plane depends
// on it.
func ImagesFor(vector images.Vector, kubernetesVersion string) func(name string) (string, error) {
	return images.ForKubernetesVersion(vector, kubernetesVersion)
}
