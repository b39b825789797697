package v1alpha1

import (
	"fmt"
	"maps"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/internal/machineimage"
)

// ImageQuery selects the image of machines.
//
// +kubebuilder:object:generate=false
type ImageQuery = machineimage.Query

// FindMachineImage returns the AMI that the CloudProfile has for machines, in the form of the WorkerStatus. It is an error if there is
// none or more than one.
func (c *CloudProfileConfig) FindMachineImage(query ImageQuery) (*MachineImage, error) {
	switch found := c.BestMachineImages(query); len(found) {
	case 0:
		return nil, fmt.Errorf("the CloudProfile maps %s to no AMI", query)
	case 1:
		return &found[0], nil
	default:
		return nil, fmt.Errorf("the CloudProfile maps %s to %d AMIs that it does not tell apart", query, len(found))
	}
}

// BestMachineImages returns the AMI that the CloudProfile has for machines. Of several matches, it is the one with the capabilities that
// the CloudProfile's admin prefers: definitions and their values are in the order of preference. More than one are returned if they are
// equally preferred.
func (c *CloudProfileConfig) BestMachineImages(query ImageQuery) []MachineImage {
	candidates := machineimage.Best(query, c.MachineImages, MachineImageShape(), func(version MachineImageVersion) ([]machineimage.Candidate[MachineImage], bool) {
		return imagesOf(query, &version), len(version.CapabilityFlavors) > 0
	})
	var images []MachineImage
	for _, candidate := range candidates {
		images = append(images, inStatus(query, candidate.Image, candidate.Capabilities))
	}
	return images
}

// FindMachineImage returns the recorded image of machines, or nil. It is for image versions that are no longer in the
// CloudProfile.
func (s *WorkerStatus) FindMachineImage(query ImageQuery) *MachineImage {
	for _, image := range s.MachineImages {
		capabilities := machineimage.CapabilitiesOf(image.Capabilities, image.Architecture)
		if image.Name == query.Name && image.Version == query.Version && query.Fits(capabilities) {
			return new(inStatus(query, image, capabilities))
		}
	}
	return nil
}

// inStatus returns an image in the form of the WorkerStatus that matches the CloudProfile.
func inStatus(query ImageQuery, image MachineImage, capabilities gardencorev1beta1.Capabilities) MachineImage {
	image.Architecture, image.Capabilities = query.Recorded(capabilities)
	return image
}

// imagesOf lists the AMIs of a version in the region, each with its capabilities.
func imagesOf(query ImageQuery, version *MachineImageVersion) []machineimage.Candidate[MachineImage] {
	var images []machineimage.Candidate[MachineImage]
	for _, flavor := range version.Flavors() {
		for _, region := range flavor.Regions {
			if region.Name == query.Region && region.AMI != "" {
				image := MachineImage{Name: query.Name, Version: query.Version, AMI: region.AMI}
				images = append(images, machineimage.Candidate[MachineImage]{Image: image, Capabilities: flavor.Capabilities})
				break // of several AMIs of a flavor the first one is used, as in the upstream extension
			}
		}
	}
	return images
}

// Flavors returns the flavors of a version. One that maps by architecture has a flavor for each architecture that its regions list.
func (v *MachineImageVersion) Flavors() []MachineImageFlavor {
	if len(v.CapabilityFlavors) > 0 {
		return v.CapabilityFlavors
	}
	regions := map[string][]RegionAMIMapping{}
	for _, region := range v.Regions {
		architecture := v1beta1constants.ArchitectureAMD64
		if region.Architecture != nil {
			architecture = *region.Architecture
		}
		regions[architecture] = append(regions[architecture], region)
	}
	var flavors []MachineImageFlavor
	for _, architecture := range slices.Sorted(maps.Keys(regions)) {
		flavors = append(flavors, MachineImageFlavor{Regions: regions[architecture], Capabilities: machineimage.OfArchitecture(architecture)})
	}
	return flavors
}

// MachineImageShape describes the mappings of machine images.
func MachineImageShape() machineimage.Shape[MachineImages, MachineImageVersion] {
	return machineimage.Shape[MachineImages, MachineImageVersion]{
		Name:     func(image MachineImages) string { return image.Name },
		Versions: func(image MachineImages) []MachineImageVersion { return image.Versions },
		Version:  func(version MachineImageVersion) string { return version.Version },
		With: func(image MachineImages, versions []MachineImageVersion) MachineImages {
			return MachineImages{Name: image.Name, Versions: versions}
		},
	}
}

// MergeMachineImages returns the images of a CloudProfile with those of a NamespacedCloudProfile: the parent's in the parent's order, then
// what is new in its own order, and the same with versions. Where both map a version, the own mapping takes the parent's place.
// Merging the same once more changes nothing. Neither list is changed.
func MergeMachineImages(parent, own []MachineImages) []MachineImages {
	return machineimage.Merge(parent, own, MachineImageShape())
}

// MergeProviderConfigs returns the parent's CloudProfileConfig with the machine images of both, as MergeMachineImages does. Everything else,
// and fields that are not known here, stay as they are in the parent's and in the images. Both must be decodable.
func MergeProviderConfigs(parent, own *runtime.RawExtension) (*runtime.RawExtension, error) {
	return machineimage.MergeProviderConfigs(parent, own, func(config *runtime.RawExtension) error {
		_, err := DecodeCloudProfileConfig(config)
		return err
	})
}
