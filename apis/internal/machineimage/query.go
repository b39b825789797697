package machineimage

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
)

// Query selects the image of machines.
type Query struct {
	// Name and Version are those of the machine image in the CloudProfile, Region is where the machines are.
	Name, Version, Region string
	// Architecture is the CPU architecture of the machines. Empty means amd64.
	Architecture string
	// Capabilities are those of the machine type, and Definitions those that the CloudProfile defines: none if it uses
	// architectures only.
	Capabilities gardencorev1beta1.Capabilities
	Definitions  []gardencorev1beta1.CapabilityDefinition
}

// Candidate is an image with its capabilities.
type Candidate[Image any] struct {
	Image        Image
	Capabilities gardencorev1beta1.Capabilities
}

// String describes image, region and requirements, for errors.
func (q Query) String() string {
	capabilities, _ := q.normalized()
	var needs []string
	for _, name := range slices.Sorted(maps.Keys(capabilities)) {
		needs = append(needs, fmt.Sprintf("%s %v", name, []string(capabilities[name])))
	}
	return fmt.Sprintf("machine image %s %s in region %q for %s", q.Name, q.Version, q.Region, strings.Join(needs, ", "))
}

// Best returns the image that a CloudProfile has for machines. Of several matches, it is the one with the capabilities that the
// CloudProfile's admin prefers: definitions and their values are in the order of preference. More than one are returned if they are
// equally preferred.
//
// candidatesOf lists the images of a version in the query's region; byFlavors is false if the version maps by architecture.
func Best[Images, Version, Image any](
	query Query, images []Images, shape Shape[Images, Version], candidatesOf func(Version) (candidates []Candidate[Image], byFlavors bool),
) []Candidate[Image] {
	capabilities, definitions := query.normalized()
	var candidates []Candidate[Image]
	for _, image := range images {
		if shape.Name(image) != query.Name || len(candidates) > 0 {
			continue
		}
		for _, version := range shape.Versions(image) {
			if shape.Version(version) != query.Version {
				continue
			}
			found, byFlavors := candidatesOf(version)
			if !byFlavors {
				// Of several entries of an architecture the first one is used, as in the upstream extensions.
				found = slices.DeleteFunc(found, func(candidate Candidate[Image]) bool {
					return slices.ContainsFunc(candidates, candidate.hasCapabilitiesOf)
				})
			}
			candidates = append(candidates, found...)
		}
	}
	candidates = slices.DeleteFunc(candidates, func(candidate Candidate[Image]) bool {
		return !areCompatible(candidate.Capabilities, capabilities, definitions)
	})
	return preferred(candidates, definitions)
}

// Fits reports whether machines can use an image of these capabilities.
func (q Query) Fits(ofImage gardencorev1beta1.Capabilities) bool {
	capabilities, definitions := q.normalized()
	return areCompatible(ofImage, capabilities, definitions)
}

// Recorded returns how a WorkerStatus records the capabilities of an image, in the form of the CloudProfile: as an architecture, or as they are.
func (q Query) Recorded(ofImage gardencorev1beta1.Capabilities) (architecture *string, capabilities gardencorev1beta1.Capabilities) {
	if len(q.Definitions) > 0 {
		return nil, ofImage
	}
	if values := ofImage[v1beta1constants.ArchitectureName]; len(values) > 0 {
		architecture = new(values[0])
	}
	return architecture, nil
}

// CapabilitiesOf returns the capabilities of a recorded image, which may have been recorded when the CloudProfile used architectures.
func CapabilitiesOf(capabilities gardencorev1beta1.Capabilities, architecture *string) gardencorev1beta1.Capabilities {
	if len(capabilities) > 0 {
		return capabilities
	}
	if architecture == nil {
		return OfArchitecture(v1beta1constants.ArchitectureAMD64)
	}
	return OfArchitecture(*architecture)
}

// OfArchitecture returns the capabilities of an image that is known by its architecture alone.
func OfArchitecture(architecture string) gardencorev1beta1.Capabilities {
	return gardencorev1beta1.Capabilities{v1beta1constants.ArchitectureName: {architecture}}
}

// normalized converts an architecture to a capability, so that there is one lookup.
func (q Query) normalized() (gardencorev1beta1.Capabilities, []gardencorev1beta1.CapabilityDefinition) {
	definitions := q.Definitions
	if len(definitions) == 0 {
		definitions = []gardencorev1beta1.CapabilityDefinition{{
			Name:   v1beta1constants.ArchitectureName,
			Values: gardencorev1beta1.CapabilityValues{v1beta1constants.ArchitectureAMD64, v1beta1constants.ArchitectureARM64},
		}}
	}
	if _, known := q.Capabilities[v1beta1constants.ArchitectureName]; known {
		return q.Capabilities, definitions
	}
	architecture := cmp.Or(q.Architecture, v1beta1constants.ArchitectureAMD64)
	for _, definition := range definitions {
		if definition.Name == v1beta1constants.ArchitectureName && len(definition.Values) == 1 {
			architecture = definition.Values[0]
		}
	}
	capabilities := maps.Clone(q.Capabilities)
	if capabilities == nil {
		capabilities = gardencorev1beta1.Capabilities{}
	}
	capabilities[v1beta1constants.ArchitectureName] = gardencorev1beta1.CapabilityValues{architecture}
	return capabilities, definitions
}

func (c Candidate[Image]) hasCapabilitiesOf(other Candidate[Image]) bool {
	return maps.EqualFunc(c.Capabilities, other.Capabilities, slices.Equal[gardencorev1beta1.CapabilityValues])
}

// areCompatible reports whether two sets of capabilities have a value in common for every definition. A set without a definition
// has all its values.
func areCompatible(a, b gardencorev1beta1.Capabilities, definitions []gardencorev1beta1.CapabilityDefinition) bool {
	a = gardencorev1beta1.GetCapabilitiesWithAppliedDefaults(a, definitions)
	b = gardencorev1beta1.GetCapabilitiesWithAppliedDefaults(b, definitions)
	for _, definition := range definitions {
		isShared := func(value string) bool { return slices.Contains(b[definition.Name], value) }
		if !slices.ContainsFunc(a[definition.Name], isShared) {
			return false
		}
	}
	return true
}

// preferred narrows images down, value by value: as long as some of them have a value, the others are out.
func preferred[Image any](images []Candidate[Image], definitions []gardencorev1beta1.CapabilityDefinition) []Candidate[Image] {
	for _, definition := range definitions {
		for _, value := range definition.Values {
			var having []Candidate[Image]
			for _, image := range images {
				all := gardencorev1beta1.GetCapabilitiesWithAppliedDefaults(image.Capabilities, definitions)
				if slices.Contains(all[definition.Name], value) {
					having = append(having, image)
				}
			}
			if len(having) > 0 {
				images = having
			}
		}
	}
	return images
}
