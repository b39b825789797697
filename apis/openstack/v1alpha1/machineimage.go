package v1alpha1

import (
	"fmt"
	"maps"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"

	"github.com/trellis-garden/trellis/apis/internal/machineimage"
)

// ImageQuery selects the image of machines.
//
// +kubebuilder:object:generate=false
type ImageQuery = machineimage.Query

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

// imagesOf lists the images of a version in the region, each with its capabilities. An ID takes precedence over a name, which
// applies to every region.
func imagesOf(query ImageQuery, version *MachineImageVersion) []machineimage.Candidate[MachineImage] {
	var images []machineimage.Candidate[MachineImage]
	for _, flavor := range version.Flavors() {
		image := MachineImage{Name: query.Name, Version: query.Version}
		for _, region := range flavor.Regions {
			if region.Name == query.Region {
				image.ID = region.ID
			}
		}
		if image.ID == "" {
			image.Image = flavor.Image
		}
		if image.ID != "" || image.Image != "" {
			images = append(images, machineimage.Candidate[MachineImage]{Image: image, Capabilities: flavor.Capabilities})
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
			Regions: regions[architecture], Image: v.Image, Capabilities: machineimage.OfArchitecture(architecture),
		})
	}
	return flavors
}
