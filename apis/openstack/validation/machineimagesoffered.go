package validation

import (
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/internal/machineimage"
	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

// missingImage says how to map a version of a machine image.
const missingImage = "give an image in Glance for %s, by its name or by its ID in a region"

// validateOfferedImages checks that there is an image for what the CloudProfile offers. Expired versions are checked like all others: machines use
// them as long as a shoot references them.
func validateOfferedImages(config *v1alpha1.CloudProfileConfig, spec *gardencorev1beta1.CloudProfileSpec, path *field.Path) field.ErrorList {
	if len(config.MachineImages) == 0 && len(spec.MachineImages) > 0 {
		return field.ErrorList{field.Required(path, "map the versions in spec.machineImages to images in Glance")}
	}
	var errs field.ErrorList
	count := countImages(config.MachineImages)
	for _, image := range spec.MachineImages {
		for _, version := range image.Versions {
			errs = append(errs, machineimage.ValidateOffered(image.Name, &version, spec, missingImage, count, path)...)
		}
	}
	return errs
}

// countImages looks images up as the controllers do.
func countImages(images []v1alpha1.MachineImages) machineimage.Count {
	mapped := machineimage.ByVersion(images, v1alpha1.MachineImageShape())
	return func(query machineimage.Query) int {
		config := v1alpha1.CloudProfileConfig{MachineImages: mapped[machineimage.ID{Name: query.Name, Version: query.Version}]}
		return len(config.BestMachineImages(query))
	}
}
