package v1alpha1

import (
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/trellis-garden/trellis/apis/internal/machineimage"
)

// CapabilityFlavors returns a look-up of the flavors of a version of a machine image, as Gardener writes them. There are none if the CloudProfile does not map
// the version by capabilities.
func (c *CloudProfileConfig) CapabilityFlavors() func(image, version string) []gardencorev1beta1.MachineImageFlavor {
	return machineimage.CapabilityFlavors(c.MachineImages, MachineImageShape(), func(version MachineImageVersion) []gardencorev1beta1.Capabilities {
		var all []gardencorev1beta1.Capabilities
		for _, flavor := range version.CapabilityFlavors {
			all = append(all, flavor.Capabilities)
		}
		return all
	})
}
