package machineimage

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Count returns how many images fit a query equally well.
type Count func(Query) int

// ValidateOffered checks that there is an image for what the CloudProfile offers with a version of a machine image. One region is enough, since
// images are rolled out region by region. kind is what the cloud calls an image, and how to give one. The errors are about the whole list, and their
// texts contain the version.
func ValidateOffered(name string, version *gardencorev1beta1.MachineImageVersion, in *gardencorev1beta1.CloudProfileSpec, kind string, count Count,
	path *field.Path,
) field.ErrorList {
	var errs field.ErrorList
	for _, availability := range Availabilities(name, version, in, count) {
		switch {
		case len(availability.Ambiguous) > 0:
			errs = append(errs, field.Invalid(path, availability.Title, fmt.Sprintf("several images in region %q fit alike: keep one of them, or tell them apart by their capabilities",
				availability.Ambiguous[0])))
		case len(availability.Found) == 0:
			errs = append(errs, field.Required(path, fmt.Sprintf(kind+": no region of the CloudProfile has one", availability.Title)))
		}
	}
	return errs
}

// Availability lists the regions of a CloudProfile with an image for machines.
type Availability struct {
	// Title is the version and what the machines need.
	Title                     string
	Found, Ambiguous, Missing []string
}

// Availabilities looks images up as the controllers do, for machines with minimal capabilities.
func Availabilities(name string, version *gardencorev1beta1.MachineImageVersion, in *gardencorev1beta1.CloudProfileSpec, count Count) []Availability {
	var all []Availability
	for _, need := range needsOf(version, in.MachineCapabilities) {
		query := Query{Name: name, Version: version.Version, Capabilities: need, Definitions: in.MachineCapabilities}
		result := Availability{Title: fmt.Sprintf("%s %s for %s", name, version.Version, describe(need, in.MachineCapabilities))}
		for _, region := range in.Regions {
			query.Region = region.Name
			switch count(query) {
			case 0:
				result.Missing = append(result.Missing, region.Name)
			case 1:
				result.Found = append(result.Found, region.Name)
			default:
				result.Ambiguous = append(result.Ambiguous, region.Name)
			}
		}
		all = append(all, result)
	}
	return all
}

// ByVersion indexes mappings by version: CloudProfiles have thousands of versions, and each is looked up in every region.
func ByVersion[Image, Version any](images []Image, shape Shape[Image, Version]) map[ID][]Image {
	mapped := map[ID][]Image{}
	for _, image := range images {
		added := map[string]int{} // where the versions of this entry are among those of its image
		for _, version := range shape.Versions(image) {
			which := ID{shape.Name(image), shape.Version(version)}
			if _, known := added[which.Version]; !known {
				added[which.Version] = len(mapped[which])
				mapped[which] = append(mapped[which], shape.With(image, nil))
			}
			entry := &mapped[which][added[which.Version]]
			*entry = shape.With(*entry, append(shape.Versions(*entry), version))
		}
	}
	return mapped
}

func describe(need gardencorev1beta1.Capabilities, definitions []gardencorev1beta1.CapabilityDefinition) string {
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
		switch values := Architectures(definitions); {
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
