package v1alpha1

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
)

// ImageQuery selects the image of machines.
//
// +kubebuilder:object:generate=false
type ImageQuery struct {
	// Name and Version are those of the machine image in the CloudProfile, Region is where the machines are.
	Name, Version, Region string
	// Architecture is the CPU architecture of the machines. Empty means amd64.
	Architecture string
	// Capabilities are those of the machine type, and Definitions those that the CloudProfile defines: none if it uses
	// architectures only.
	Capabilities gardencorev1beta1.Capabilities
	Definitions  []gardencorev1beta1.CapabilityDefinition
}

// FindMachineImage returns the image that the CloudProfile has for machines, in the form of the WorkerStatus. It is an error if there is
// none or more than one.
func (c *CloudProfileConfig) FindMachineImage(query ImageQuery) (*MachineImage, error) {
	switch found := c.BestMachineImages(query); len(found) {
	case 0:
		return nil, fmt.Errorf("the CloudProfile maps %s to no image in Glance", query)
	case 1:
		return &found[0], nil
	default:
		return nil, fmt.Errorf("the CloudProfile maps %s to %d images in Glance that it does not tell apart", query, len(found))
	}
}

// BestMachineImages returns the image that the CloudProfile has for machines. Of several matches, it is the one with the capabilities that
// the CloudProfile's admin prefers: definitions and their values are in the order of preference. More than one are returned if they are
// equally preferred.
func (c *CloudProfileConfig) BestMachineImages(query ImageQuery) []MachineImage {
	capabilities, definitions := query.normalized()
	var candidates []MachineImage
	for _, image := range c.MachineImages {
		if image.Name != query.Name || len(candidates) > 0 {
			continue
		}
		for _, version := range image.Versions {
			if version.Version != query.Version {
				continue
			}
			images := query.imagesOf(&version)
			if len(version.CapabilityFlavors) == 0 {
				// Of several entries of an architecture the first one is used, as in the upstream extension.
				images = slices.DeleteFunc(images, func(image MachineImage) bool { return slices.ContainsFunc(candidates, image.hasCapabilitiesOf) })
			}
			candidates = append(candidates, images...)
		}
	}
	candidates = slices.DeleteFunc(candidates, func(image MachineImage) bool {
		return !areCompatible(image.Capabilities, capabilities, definitions)
	})
	candidates = preferred(candidates, definitions)
	for i, candidate := range candidates {
		candidates[i] = query.inStatus(candidate)
	}
	return candidates
}

// FindMachineImage returns the recorded image of machines, or nil. It is for image versions that are no longer in the
// CloudProfile.
func (s *WorkerStatus) FindMachineImage(query ImageQuery) *MachineImage {
	capabilities, definitions := query.normalized()
	for _, image := range s.MachineImages {
		if image.Name != query.Name || image.Version != query.Version {
			continue
		}
		image.Capabilities = image.capabilities()
		if areCompatible(image.Capabilities, capabilities, definitions) {
			found := query.inStatus(image)
			return &found
		}
	}
	return nil
}

// String describes image, region and requirements, for errors.
func (q ImageQuery) String() string {
	capabilities, _ := q.normalized()
	var needs []string
	for _, name := range slices.Sorted(maps.Keys(capabilities)) {
		needs = append(needs, fmt.Sprintf("%s %v", name, []string(capabilities[name])))
	}
	return fmt.Sprintf("machine image %s %s in region %q for %s", q.Name, q.Version, q.Region, strings.Join(needs, ", "))
}

// normalized converts an architecture to a capability, so that there is one lookup.
func (q ImageQuery) normalized() (gardencorev1beta1.Capabilities, []gardencorev1beta1.CapabilityDefinition) {
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

// imagesOf lists the images of a version in the region, each with its capabilities. An ID takes precedence over a name, which
// applies to every region.
func (q ImageQuery) imagesOf(version *MachineImageVersion) []MachineImage {
	var images []MachineImage
	for _, flavor := range version.Flavors() {
		image := MachineImage{Name: q.Name, Version: q.Version, Capabilities: flavor.Capabilities}
		for _, region := range flavor.Regions {
			if region.Name == q.Region {
				image.ID = region.ID
			}
		}
		if image.ID == "" {
			image.Image = flavor.Image
		}
		if image.ID != "" || image.Image != "" {
			images = append(images, image)
		}
	}
	return images
}

// Flavors returns the flavors of a version. One that maps by architecture has a flavor for each architecture that its regions list, and for
// amd64 when it lists no regions. Its image name applies to each of them, in every region that has no ID, as in the upstream extension
// since its pull request 1333.
func (v *MachineImageVersion) Flavors() []MachineImageFlavor {
	if len(v.CapabilityFlavors) > 0 {
		return v.CapabilityFlavors
	}
	var flavors []MachineImageFlavor
	regions := map[string][]RegionIDMapping{}
	for _, region := range v.Regions {
		architecture := v1beta1constants.ArchitectureAMD64
		if region.Architecture != nil {
			architecture = *region.Architecture
		}
		regions[architecture] = append(regions[architecture], region)
	}
	if len(regions) == 0 {
		regions[v1beta1constants.ArchitectureAMD64] = nil
	}
	for _, architecture := range slices.Sorted(maps.Keys(regions)) {
		flavors = append(flavors, MachineImageFlavor{
			Regions: regions[architecture], Image: v.Image, Capabilities: ofArchitecture(architecture),
		})
	}
	return flavors
}

func (i *MachineImage) hasCapabilitiesOf(other MachineImage) bool {
	return maps.EqualFunc(i.Capabilities, other.Capabilities, slices.Equal[gardencorev1beta1.CapabilityValues])
}

// capabilities returns the capabilities of a recorded image, which may have been recorded when the CloudProfile used
// architectures.
func (i *MachineImage) capabilities() gardencorev1beta1.Capabilities {
	if len(i.Capabilities) > 0 {
		return i.Capabilities
	}
	architecture := v1beta1constants.ArchitectureAMD64
	if i.Architecture != nil {
		architecture = *i.Architecture
	}
	return ofArchitecture(architecture)
}

// inStatus returns an image in the form of the WorkerStatus that matches the CloudProfile.
func (q ImageQuery) inStatus(image MachineImage) MachineImage {
	image.Architecture = nil
	if len(q.Definitions) > 0 {
		return image
	}
	if values := image.Capabilities[v1beta1constants.ArchitectureName]; len(values) > 0 {
		image.Architecture = new(values[0])
	}
	image.Capabilities = nil
	return image
}

func ofArchitecture(architecture string) gardencorev1beta1.Capabilities {
	return gardencorev1beta1.Capabilities{v1beta1constants.ArchitectureName: {architecture}}
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
func preferred(images []MachineImage, definitions []gardencorev1beta1.CapabilityDefinition) []MachineImage {
	for _, definition := range definitions {
		for _, value := range definition.Values {
			var having []MachineImage
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
