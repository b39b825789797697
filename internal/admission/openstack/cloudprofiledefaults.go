package openstack

import (
	"context"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

// setCapabilityFlavors writes into spec.machineImages the flavors by which the providerConfig maps the versions, if the CloudProfile uses
// capabilities. The upstream extension does the same: its users write them once, and Gardener rejects versions without flavors.
//
// Unlike upstream, it keeps what an admin wrote. Flavors that equal the mapping keep following it.
func setCapabilityFlavors(_ context.Context, profile, old *gardencorev1beta1.CloudProfile) error {
	if profile.Spec.Type != Type || len(profile.Spec.MachineCapabilities) == 0 || old != nil && sameCloudProfile(&profile.Spec, &old.Spec) {
		return nil
	}
	if len(tooLargeProfile(profile, old)) > 0 { // rejected by validation
		return nil
	}
	before := profileImages{}
	if old != nil {
		before = profileImagesOf(old.Spec.ProviderConfig, old.Spec.MachineImages)
	}
	for _, change := range profileImagesOf(profile.Spec.ProviderConfig, profile.Spec.MachineImages).changesSince(before) {
		change.apply()
	}
	return nil
}

// profileImages are the machine images of a profile, from spec.machineImages and from the providerConfig.
type profileImages struct {
	// configs are the mappings of each version.
	configs map[imageVersion]*openstackv1alpha1.CloudProfileConfig
	images  []gardencorev1beta1.MachineImage
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

// changesSince lists the versions that get the flavors of their mappings.
func (o profileImages) changesSince(before profileImages) []flavorChange {
	var changes []flavorChange
	for i := range o.images {
		image := &o.images[i]
		for j := range image.Versions {
			version := &image.Versions[j]
			mapped := o.mappedFlavors(image.Name, version.Version)
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

func (o profileImages) mappedFlavors(image, version string) []gardencorev1beta1.MachineImageFlavor {
	config, known := o.configs[imageVersion{image, version}]
	if !known {
		return nil
	}
	return config.CapabilityFlavors(image, version)
}

// flavorsIfMapped returns the flavors of a version if they are those of its mapping, and otherwise none.
func (o profileImages) flavorsIfMapped(image, version string) []gardencorev1beta1.MachineImageFlavor {
	mapped := o.mappedFlavors(image, version)
	for _, flavors := range o.flavors[imageVersion{image, version}] {
		if equality.Semantic.DeepEqual(flavors, mapped) {
			return mapped
		}
	}
	return nil
}

// profileImagesOf returns no mappings if the config cannot be decoded: validation reports that.
func profileImagesOf(raw *runtime.RawExtension, images []gardencorev1beta1.MachineImage) profileImages {
	result := profileImages{
		configs: map[imageVersion]*openstackv1alpha1.CloudProfileConfig{}, images: images,
		flavors: map[imageVersion][][]gardencorev1beta1.MachineImageFlavor{},
	}
	for _, image := range images {
		for _, version := range image.Versions {
			key := imageVersion{image.Name, version.Version}
			result.flavors[key] = append(result.flavors[key], version.CapabilityFlavors)
		}
	}
	config, err := openstackv1alpha1.DecodeCloudProfileConfig(raw)
	if err != nil {
		return result
	}
	for _, image := range config.MachineImages {
		for _, version := range image.Versions {
			key := imageVersion{image.Name, version.Version}
			if result.configs[key] == nil {
				result.configs[key] = &openstackv1alpha1.CloudProfileConfig{}
			}
			mapped := openstackv1alpha1.MachineImages{Name: image.Name, Versions: []openstackv1alpha1.MachineImageVersion{version}}
			result.configs[key].MachineImages = append(result.configs[key].MachineImages, mapped)
		}
	}
	return result
}
