package validation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

// validateOfferedImages checks that there is an image for what the CloudProfile offers. One region is enough, since images are rolled out region
// by region. Expired versions are checked like all others: machines use them as long as a shoot references them.
//
// The errors are about the whole list, and their texts contain the version.
func validateOfferedImages(config *v1alpha1.CloudProfileConfig, spec *gardencorev1beta1.CloudProfileSpec, path *field.Path) field.ErrorList {
	if len(config.MachineImages) == 0 && len(spec.MachineImages) > 0 {
		return field.ErrorList{field.Required(path, "map the versions in spec.machineImages to images in Glance")}
	}
	var errs field.ErrorList
	mapped := byVersion(config.MachineImages)
	for _, image := range spec.MachineImages {
		for _, version := range image.Versions {
			errs = append(errs, validateOfferedVersion(mapped, image.Name, &version, spec, path)...)
		}
	}
	return errs
}

// imageVersion is a version of a machine image.
type imageVersion struct{ name, version string }

// mappings index the mappings by version: CloudProfiles have thousands of versions, and each is looked up in every region.
type mappings map[imageVersion]v1alpha1.CloudProfileConfig

func byVersion(images []v1alpha1.MachineImages) mappings {
	mapped := mappings{}
	for _, image := range images {
		added := map[string]int{} // where the versions of this entry are among those of its image
		for _, version := range image.Versions {
			which := imageVersion{image.Name, version.Version}
			config := mapped[which]
			if _, known := added[version.Version]; !known {
				added[version.Version] = len(config.MachineImages)
				config.MachineImages = append(config.MachineImages, v1alpha1.MachineImages{Name: image.Name})
			}
			entry := &config.MachineImages[added[version.Version]]
			entry.Versions = append(entry.Versions, version)
			mapped[which] = config
		}
	}
	return mapped
}

func validateOfferedVersion(mapped mappings, name string, version *gardencorev1beta1.MachineImageVersion,
	in *gardencorev1beta1.CloudProfileSpec, path *field.Path,
) field.ErrorList {
	var errs field.ErrorList
	for _, need := range needsOf(version, in.MachineCapabilities) {
		availability := findImages(mapped, name, version.Version, need, in)
		switch {
		case len(availability.ambiguous) > 0:
			errs = append(errs, field.Invalid(path, availability.title, fmt.Sprintf("several images in region %q fit alike: keep one of them, or tell them apart by their capabilities",
				availability.ambiguous[0])))
		case len(availability.found) == 0:
			errs = append(errs, field.Required(path, fmt.Sprintf("give an image in Glance for %s, by its name or by its ID in a region: no region of the CloudProfile has one",
				availability.title)))
		}
	}
	return errs
}

// availability lists the regions of a CloudProfile with an image for machines.
type availability struct {
	title                     string
	found, ambiguous, missing []string
}

// findImages looks images up as the controllers do, for machines with minimal capabilities.
func findImages(mapped mappings, name, version string, need gardencorev1beta1.Capabilities, in *gardencorev1beta1.CloudProfileSpec) availability {
	query := v1alpha1.ImageQuery{Name: name, Version: version, Capabilities: need, Definitions: in.MachineCapabilities}
	config := mapped[imageVersion{name, version}] // empty when there is none
	result := availability{title: fmt.Sprintf("%s %s for %s", name, version, describeCapabilities(need, in.MachineCapabilities))}
	for _, region := range in.Regions {
		query.Region = region.Name
		switch len(config.BestMachineImages(query)) {
		case 0:
			result.missing = append(result.missing, region.Name)
		case 1:
			result.found = append(result.found, region.Name)
		default:
			result.ambiguous = append(result.ambiguous, region.Name)
		}
	}
	return result
}

func describeCapabilities(need gardencorev1beta1.Capabilities, definitions []gardencorev1beta1.CapabilityDefinition) string {
	if len(definitions) == 0 {
		return strings.Join(need[v1beta1constants.ArchitectureName], ", ")
	}
	var parts []string
	for _, definition := range definitions {
		if values := need[definition.Name]; len(values) > 0 {
			parts = append(parts, definition.Name+" "+strings.Join(values, " or "))
		}
	}
	return strings.Join(parts, ", ")
}

// needsOf lists the capabilities of the machines that may boot a version of an image, as far as the CloudProfile defines them: one value each of
// every capability with several values.
func needsOf(version *gardencorev1beta1.MachineImageVersion, definitions []gardencorev1beta1.CapabilityDefinition) []gardencorev1beta1.Capabilities {
	var needs []gardencorev1beta1.Capabilities
	for _, offered := range offeredBy(version, definitions) {
		if len(definitions) == 0 {
			needs = append(needs, offered)
			continue
		}
		all := gardencorev1beta1.GetCapabilitiesWithAppliedDefaults(offered, definitions)
		severalOf := func(definition gardencorev1beta1.CapabilityDefinition) bool { return len(all[definition.Name]) > 1 }
		if !slices.ContainsFunc(definitions, severalOf) {
			needs = append(needs, all)
			continue
		}
		for _, definition := range definitions {
			for _, value := range all[definition.Name] {
				if severalOf(definition) {
					needs = append(needs, with(all, definition.Name, value))
				}
			}
		}
	}
	return needs
}

func with(capabilities gardencorev1beta1.Capabilities, name, value string) gardencorev1beta1.Capabilities {
	changed := maps.Clone(capabilities)
	changed[name] = gardencorev1beta1.CapabilityValues{value}
	return changed
}

// offeredBy returns the flavors of a version as Gardener understands them. A version has flavors or architectures, and may differ from the
// CloudProfile in that: a NamespacedCloudProfile may use the other form than its parent.
func offeredBy(version *gardencorev1beta1.MachineImageVersion, definitions []gardencorev1beta1.CapabilityDefinition) []gardencorev1beta1.Capabilities {
	var flavors []gardencorev1beta1.Capabilities
	architectures := slices.Clone(version.Architectures)
	for _, flavor := range version.CapabilityFlavors {
		flavors = append(flavors, flavor.Capabilities)
		if len(version.Architectures) == 0 {
			architectures = append(architectures, flavor.Capabilities[v1beta1constants.ArchitectureName]...)
		}
	}
	if len(definitions) > 0 && len(flavors) > 0 {
		return flavors
	}
	if len(architectures) == 0 {
		switch values := architecturesOf(definitions); {
		case len(definitions) == 0:
			architectures = []string{v1beta1constants.ArchitectureAMD64}
		case len(values) == 1:
			architectures = values
		default: // Gardener requires one of them.
			return nil
		}
	}
	slices.Sort(architectures)
	flavors = nil
	for _, architecture := range slices.Compact(architectures) {
		flavors = append(flavors, gardencorev1beta1.Capabilities{v1beta1constants.ArchitectureName: {architecture}})
	}
	return flavors
}
