package admission

import (
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
)

// setCapabilityFlavors writes into spec.machineImages the flavors by which the configuration maps the versions, if the CloudProfile uses
// capabilities. Upstream's extensions do the same: their users write them once, and Gardener rejects versions without flavors.
//
// Unlike upstream, it keeps what an admin wrote. Flavors that equal the mapping keep following it.
func (p CloudProfiles[Config]) setCapabilityFlavors(profile, old *gardencorev1beta1.CloudProfile) {
	if profile.Spec.Type != p.Type || len(profile.Spec.MachineCapabilities) == 0 || old != nil && sameCloudProfile(&profile.Spec, &old.Spec) {
		return
	}
	if len(tooLargeProfile(profile, old)) > 0 { // rejected by validation
		return
	}
	before := profileImages{}
	if old != nil {
		before = p.images(old.Spec.ProviderConfig, old.Spec.MachineImages)
	}
	for _, change := range p.images(profile.Spec.ProviderConfig, profile.Spec.MachineImages).changesSince(before) {
		change.apply()
	}
}

// profileImages are the machine images of a profile, from spec.machineImages and from the configuration.
type profileImages struct {
	// mapped returns the flavors by which the configuration maps a version. It is nil if there are no mappings.
	mapped func(image, version string) []gardencorev1beta1.MachineImageFlavor
	images []gardencorev1beta1.MachineImage
	// flavors are those of each version in images.
	flavors map[imageVersion][][]gardencorev1beta1.MachineImageFlavor
}

type imageVersion struct{ image, version string }

// flavorChange changes the flavors of a version.
type flavorChange struct {
	image   string
	version *gardencorev1beta1.MachineImageVersion
	flavors []gardencorev1beta1.MachineImageFlavor
}

func (c flavorChange) apply() { c.version.CapabilityFlavors = c.flavors }

// images returns no mappings if the configuration cannot be decoded: validation reports that.
func (p CloudProfiles[Config]) images(raw *runtime.RawExtension, images []gardencorev1beta1.MachineImage) profileImages {
	result := profileImages{images: images, flavors: map[imageVersion][][]gardencorev1beta1.MachineImageFlavor{}}
	for _, image := range images {
		for _, version := range image.Versions {
			key := imageVersion{image.Name, version.Version}
			result.flavors[key] = append(result.flavors[key], version.CapabilityFlavors)
		}
	}
	if config, err := p.Leniently(raw); err == nil {
		result.mapped = p.Flavors(config)
	}
	return result
}

// changesSince lists the versions that get the flavors of their mappings.
func (o profileImages) changesSince(before profileImages) []flavorChange {
	if o.mapped == nil {
		return nil
	}
	var changes []flavorChange
	for i := range o.images {
		image := &o.images[i]
		for j := range image.Versions {
			version := &image.Versions[j]
			mapped := o.mapped(image.Name, version.Version)
			if len(mapped) == 0 || equality.Semantic.DeepEqual(mapped, version.CapabilityFlavors) {
				continue
			}
			if len(version.CapabilityFlavors) == 0 || equality.Semantic.DeepEqual(version.CapabilityFlavors, before.flavorsIfMapped(image.Name, version.Version)) {
				changes = append(changes, flavorChange{image: image.Name, version: version, flavors: mapped})
			}
		}
	}
	return changes
}

// flavorsIfMapped returns the flavors of a version if they are those of its mapping, and otherwise none.
func (o profileImages) flavorsIfMapped(image, version string) []gardencorev1beta1.MachineImageFlavor {
	if o.mapped == nil {
		return nil
	}
	mapped := o.mapped(image, version)
	for _, flavors := range o.flavors[imageVersion{image, version}] {
		if equality.Semantic.DeepEqual(flavors, mapped) {
			return mapped
		}
	}
	return nil
}
