package validation

import (
	"slices"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/internal/fields"
	"github.com/trellis-garden/trellis/apis/internal/machineimage"
	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

// validateMachineImages checks each mapping by itself.
func validateMachineImages(images []v1alpha1.MachineImages, definitions []gardencorev1beta1.CapabilityDefinition, path *field.Path) field.ErrorList {
	return machineimage.ValidateMappings(images, v1alpha1.MachineImageShape(), func(version *v1alpha1.MachineImageVersion, path *field.Path) field.ErrorList {
		return validateMachineImageVersion(version, definitions, path)
	}, path)
}

func validateMachineImageVersion(version *v1alpha1.MachineImageVersion, definitions []gardencorev1beta1.CapabilityDefinition, path *field.Path) field.ErrorList {
	if len(version.CapabilityFlavors) == 0 {
		return validateGlanceImages(version.Image, version.Regions, machineimage.Architectures(definitions), path)
	}
	var errs field.ErrorList
	const elsewhere = "has no effect beside capabilityFlavors: move it into one of them, or remove it"
	if version.Image != "" {
		errs = append(errs, field.Forbidden(path.Child("image"), elsewhere))
	}
	if len(version.Regions) > 0 {
		errs = append(errs, field.Forbidden(path.Child("regions"), elsewhere))
	}
	for i, flavor := range version.CapabilityFlavors {
		flavorPath := path.Child("capabilityFlavors").Index(i)
		errs = append(errs, validateGlanceImages(flavor.Image, flavor.Regions, nil, flavorPath)...)
		errs = append(errs, machineimage.ValidateCapabilities(flavor.Capabilities, definitions, flavorPath.Child("capabilities"))...)
	}
	return errs
}

// validateGlanceImages checks a name and IDs by region. With architectures, a region has one ID for each of them, and without, one.
func validateGlanceImages(image string, regions []v1alpha1.RegionIDMapping, architectures []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if image != "" {
		errs = append(errs, validateLine(image, "the name of an image in Glance, or remove the field", path.Child("image"))...)
	}
	type place struct{ region, architecture string }
	ids := map[place]string{}
	for i, region := range regions {
		regionPath := path.Child("regions").Index(i)
		if region.Name == "" {
			errs = append(errs, field.Required(regionPath.Child("name"), "give the region that the image is in"))
		}
		where := place{region: region.Name}
		if architectures != nil {
			where.architecture = v1beta1constants.ArchitectureAMD64
			if region.Architecture != nil {
				where.architecture = *region.Architecture
			}
			if !slices.Contains(architectures, where.architecture) {
				errs = append(errs, field.Invalid(regionPath.Child("architecture"), where.architecture,
					"no machine has it: choose one of "+strings.Join(fields.Quoted(architectures), ", ")))
			}
		}
		if region.ID != "" || image == "" {
			errs = append(errs, validateUUID(region.ID, "image in Glance", regionPath.Child("id"))...)
		}
		if id, known := ids[where]; known && id != region.ID {
			errs = append(errs, fields.Duplicate(regionPath.Child("name"), region.Name))
		}
		ids[where] = region.ID
	}
	return errs
}
