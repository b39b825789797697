package validation

import (
	"slices"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/apis/internal/fields"
	"github.com/trellis-garden/trellis/apis/internal/machineimage"
)

// missingImage says how to map a version of a machine image.
const missingImage = "give an AMI for %s in a region"

// ValidateCloudProfileConfig checks a CloudProfileConfig that is written, at fldPath, against the CloudProfile that it is in.
//
// What is useless but harms nobody is no error, as it is none for the upstream extension: regions that the CloudProfile does not have, and
// mappings of machine images that it does not list, or lists no more, by which nodes live on. CloudProfileWarnings speaks of the former.
func ValidateCloudProfileConfig(config *v1alpha1.CloudProfileConfig, spec *gardencorev1beta1.CloudProfileSpec, fldPath *field.Path) field.ErrorList {
	path := fldPath.Child("machineImages")
	if len(config.MachineImages) == 0 {
		return field.ErrorList{field.Required(path, "map the versions in spec.machineImages to AMIs")}
	}
	errs := validateMachineImages(config.MachineImages, spec.MachineCapabilities, path)
	count := countImages(config.MachineImages)
	for _, image := range spec.MachineImages {
		for _, version := range image.Versions {
			errs = append(errs, machineimage.ValidateOffered(image.Name, &version, spec, missingImage, count, path)...)
		}
	}
	return errs
}

// CloudProfileWarnings speaks of what is no error of a CloudProfileConfig, but may be none of its author's intentions either: regions that the
// CloudProfile does not have, and machine images that only some of its regions have.
func CloudProfileWarnings(config *v1alpha1.CloudProfileConfig, spec *gardencorev1beta1.CloudProfileSpec, fldPath *field.Path) []string {
	path := fldPath.Child("machineImages")
	return append(machineimage.UnknownRegions(config.MachineImages, v1alpha1.MachineImageShape(), imageRegions, spec.Regions, path),
		machineimage.MissingRegions(spec, countImages(config.MachineImages), path)...)
}

// Parent is the CloudProfile that a NamespacedCloudProfile adds to.
type Parent = machineimage.Parent[v1alpha1.CloudProfileConfig]

// ValidateNamespacedCloudProfileConfig checks a CloudProfileConfig, at fldPath, that is written into a NamespacedCloudProfile: it maps the
// versions of machine images that the NamespacedCloudProfile adds to its parent's. config is empty if there is none.
func ValidateNamespacedCloudProfileConfig(config *v1alpha1.CloudProfileConfig, spec *gardencorev1beta1.NamespacedCloudProfileSpec,
	parent Parent, fldPath *field.Path,
) field.ErrorList {
	path := fldPath.Child("machineImages")
	errs := validateMachineImages(config.MachineImages, parent.Spec.MachineCapabilities, path)
	errs = append(errs, machineimage.ValidateAdded(config.MachineImages, v1alpha1.MachineImageShape(), spec.MachineImages, parent.Spec.MachineImages, path)...)
	merged := countImages(v1alpha1.MergeMachineImages(parent.Config.MachineImages, config.MachineImages))
	return append(errs, machineimage.ValidateMerged(spec.MachineImages, parent.Spec, missingImage, merged, path)...)
}

// countImages looks images up as the controllers do.
func countImages(images []v1alpha1.MachineImages) machineimage.Count {
	mapped := machineimage.ByVersion(images, v1alpha1.MachineImageShape())
	return func(query machineimage.Query) int {
		config := v1alpha1.CloudProfileConfig{MachineImages: mapped[machineimage.ID{Name: query.Name, Version: query.Version}]}
		return len(config.BestMachineImages(query))
	}
}

func imageRegions(version v1alpha1.MachineImageVersion) []string {
	var names []string
	for _, flavor := range version.Flavors() {
		for _, mapping := range flavor.Regions {
			names = append(names, mapping.Name)
		}
	}
	return names
}

// validateMachineImages checks each mapping by itself.
func validateMachineImages(images []v1alpha1.MachineImages, definitions []gardencorev1beta1.CapabilityDefinition, path *field.Path) field.ErrorList {
	return machineimage.ValidateMappings(images, v1alpha1.MachineImageShape(), func(version *v1alpha1.MachineImageVersion, path *field.Path) field.ErrorList {
		return validateMachineImageVersion(version, definitions, path)
	}, path)
}

func validateMachineImageVersion(version *v1alpha1.MachineImageVersion, definitions []gardencorev1beta1.CapabilityDefinition, path *field.Path) field.ErrorList {
	if len(version.CapabilityFlavors) == 0 {
		return validateAMIs(version.Regions, machineimage.Architectures(definitions), path.Child("regions"))
	}
	var errs field.ErrorList
	if len(version.Regions) > 0 {
		errs = append(errs, field.Forbidden(path.Child("regions"), "has no effect beside capabilityFlavors: move it into one of them, or remove it"))
	}
	if len(definitions) == 0 {
		errs = append(errs, field.Forbidden(path.Child("capabilityFlavors"), "the CloudProfile defines no capabilities: use regions instead, or define them in spec.machineCapabilities"))
	}
	for i, flavor := range version.CapabilityFlavors {
		flavorPath := path.Child("capabilityFlavors").Index(i)
		errs = append(errs, validateAMIs(flavor.Regions, nil, flavorPath.Child("regions"))...)
		errs = append(errs, machineimage.ValidateCapabilities(flavor.Capabilities, definitions, flavorPath.Child("capabilities"))...)
	}
	return errs
}

// validateAMIs checks AMIs by region. With architectures, each has one of them, and without, the architecture is a capability.
func validateAMIs(regions []v1alpha1.RegionAMIMapping, architectures []string, path *field.Path) field.ErrorList {
	if len(regions) == 0 {
		return field.ErrorList{field.Required(path, "give the AMI of at least one region")}
	}
	var errs field.ErrorList
	for i, region := range regions {
		regionPath := path.Index(i)
		if region.Name == "" {
			errs = append(errs, field.Required(regionPath.Child("name"), "give the region that the AMI is in"))
		}
		if region.AMI == "" {
			errs = append(errs, field.Required(regionPath.Child("ami"), "give the ID of the AMI, like ami-0123456789abcdef0"))
		}
		switch architecture := region.Architecture; {
		case architecture == nil:
		case architectures == nil:
			errs = append(errs, field.Forbidden(regionPath.Child("architecture"), "the flavor has it among its capabilities: move it there, or remove it"))
		case !slices.Contains(architectures, *architecture):
			errs = append(errs, field.Invalid(regionPath.Child("architecture"), *architecture,
				"no machine has it: choose one of "+strings.Join(fields.Quoted(architectures), ", ")))
		}
	}
	return errs
}
