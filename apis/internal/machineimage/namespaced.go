package machineimage

import (
	"fmt"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateAdded checks the mappings that are written into a NamespacedCloudProfile: of versions that it adds to its parent's.
func ValidateAdded[Image, Version any](mapped []Image, shape Shape[Image, Version], own, parent []gardencorev1beta1.MachineImage, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	ofParent, listed := VersionsOf(parent), VersionsOf(own)
	for i, image := range mapped {
		for j, version := range shape.Versions(image) {
			which := ID{shape.Name(image), shape.Version(version)}
			title := which.Name + " " + which.Version
			versionPath := path.Index(i).Child("versions").Index(j)
			switch {
			case ofParent[which]:
				errs = append(errs, field.Forbidden(versionPath, fmt.Sprintf("the parent CloudProfile has %s already: remove it here", title)))
			case !listed[which]:
				errs = append(errs, field.Invalid(versionPath, title, "spec.machineImages does not list this version: add it there, or remove it here"))
			}
		}
	}
	return errs
}

// ValidateMerged checks that there is an image for the versions that a NamespacedCloudProfile adds to its parent's; see ValidateOffered. A version of
// the parent may only get another expiration date there.
func ValidateMerged(own []gardencorev1beta1.MachineImage, parent *gardencorev1beta1.CloudProfileSpec, kind string, count Count, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	ofParent := VersionsOf(parent.MachineImages)
	for _, image := range own {
		for _, version := range image.Versions {
			if !ofParent[ID{image.Name, version.Version}] {
				errs = append(errs, ValidateOffered(image.Name, &version, parent, kind, count, path)...)
			}
		}
	}
	return errs
}

// VersionsOf returns the versions that a CloudProfile lists.
func VersionsOf(images []gardencorev1beta1.MachineImage) map[ID]bool {
	versions := map[ID]bool{}
	for _, image := range images {
		for _, version := range image.Versions {
			versions[ID{image.Name, version.Version}] = true
		}
	}
	return versions
}
