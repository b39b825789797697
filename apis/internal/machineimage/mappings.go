package machineimage

import (
	"fmt"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateMappings checks each mapping by itself. validate checks what the version of an image is mapped to.
func ValidateMappings[Image, Version any](images []Image, shape Shape[Image, Version], validate func(*Version, *field.Path) field.ErrorList, path *field.Path,
) field.ErrorList {
	var errs field.ErrorList
	for i, image := range images {
		imagePath, name, versions := path.Index(i), shape.Name(image), shape.Versions(image)
		if name == "" {
			errs = append(errs, field.Required(imagePath.Child("name"), "give the name that the machine image has in spec.machineImages"))
		}
		if len(versions) == 0 {
			errs = append(errs, field.Required(imagePath.Child("versions"), fmt.Sprintf("give at least one version of %q, or remove the machine image", name)))
		}
		for j := range versions {
			versionPath := imagePath.Child("versions").Index(j)
			if shape.Version(versions[j]) == "" {
				errs = append(errs, field.Required(versionPath.Child("version"), "give the version that it is in spec.machineImages"))
			}
			errs = append(errs, validate(&versions[j], versionPath)...)
		}
	}
	return errs
}

// Parent is the CloudProfile that a NamespacedCloudProfile adds to.
type Parent[Config any] struct {
	Spec *gardencorev1beta1.CloudProfileSpec
	// Config is the parent's providerConfig, empty if it is absent or cannot be decoded.
	Config *Config
}
