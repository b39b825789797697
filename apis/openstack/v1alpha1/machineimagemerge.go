package v1alpha1

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/internal/machineimage"
)

// MergeMachineImages returns the images of a CloudProfile with those of a NamespacedCloudProfile: the parent's in the parent's order, then
// what is new in its own order, and the same with versions. Where both map a version, the own mapping takes the parent's place.
// Merging the same once more changes nothing. Neither list is changed.
func MergeMachineImages(parent, own []MachineImages) []MachineImages {
	return machineimage.Merge(parent, own, MachineImageShape())
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

// MergeProviderConfigs returns the parent's CloudProfileConfig with the machine images of both, as MergeMachineImages does. Everything else,
// and fields that are not known here, stay as they are in the parent's and in the images. Both must be decodable.
func MergeProviderConfigs(parent, own *runtime.RawExtension) (*runtime.RawExtension, error) {
	return machineimage.MergeProviderConfigs(parent, own, func(config *runtime.RawExtension) error {
		_, err := DecodeCloudProfileConfig(config)
		return err
	})
}
