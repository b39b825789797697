package machineimage

import gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"

// CapabilityFlavors returns the flavors of a version of a machine image, as Gardener writes them, or none when the CloudProfile does not map the
// version by capabilities. capabilitiesOf returns the capabilities of each flavor of a mapping.
func CapabilityFlavors[Image, Version any](images []Image, shape Shape[Image, Version], which ID,
	capabilitiesOf func(Version) []gardencorev1beta1.Capabilities,
) []gardencorev1beta1.MachineImageFlavor {
	var flavors []gardencorev1beta1.MachineImageFlavor
	for _, image := range images {
		if shape.Name(image) != which.Name {
			continue
		}
		for _, version := range shape.Versions(image) {
			if shape.Version(version) != which.Version {
				continue
			}
			found := capabilitiesOf(version)
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
