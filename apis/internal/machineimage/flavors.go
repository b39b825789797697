package machineimage

import gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"

// CapabilityFlavors returns a look-up of the flavors of a version of a machine image, as Gardener writes them. There are none if a mapping of the version is
// not by capabilities. capabilitiesOf returns the capabilities of each flavor of a mapping.
func CapabilityFlavors[Image, Version any](images []Image, shape Shape[Image, Version],
	capabilitiesOf func(Version) []gardencorev1beta1.Capabilities,
) func(image, version string) []gardencorev1beta1.MachineImageFlavor {
	mapped := ByVersion(images, shape)
	return func(image, version string) []gardencorev1beta1.MachineImageFlavor {
		var flavors []gardencorev1beta1.MachineImageFlavor
		for _, mapping := range mapped[ID{image, version}] {
			for _, of := range shape.Versions(mapping) {
				found := capabilitiesOf(of)
				if len(found) == 0 {
					return nil
				}
				for _, given := range found {
					capabilities := gardencorev1beta1.Capabilities{} // never nil, which would be written as null
					given.DeepCopyInto(&capabilities)
					flavors = append(flavors, gardencorev1beta1.MachineImageFlavor{Capabilities: capabilities})
				}
			}
		}
		return flavors
	}
}
