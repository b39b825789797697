package v1alpha1

import (
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
)

// CapabilityFlavors returns the flavors of a version of a machine image, as Gardener writes them, or none when the CloudProfile does not map the
// version by capabilities.
func (c *CloudProfileConfig) CapabilityFlavors(image, version string) []gardencorev1beta1.MachineImageFlavor {
	var flavors []gardencorev1beta1.MachineImageFlavor
	for _, mapped := range c.MachineImages {
		if mapped.Name != image {
			continue
		}
		for _, entry := range mapped.Versions {
			if entry.Version != version {
				continue
			}
			if len(entry.CapabilityFlavors) == 0 {
				return nil
			}
			for _, flavor := range entry.CapabilityFlavors {
				capabilities := gardencorev1beta1.Capabilities{} // never nil, which would be written as null
				flavor.Capabilities.DeepCopyInto(&capabilities)
				flavors = append(flavors, gardencorev1beta1.MachineImageFlavor{Capabilities: capabilities})
			}
		}
	}
	return flavors
}
