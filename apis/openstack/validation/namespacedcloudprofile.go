package validation

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

// Parent is the CloudProfile that a NamespacedCloudProfile adds to.
type Parent struct {
	Spec *gardencorev1beta1.CloudProfileSpec
	// Config is the parent's providerConfig, empty if it is absent or cannot be decoded.
	Config *v1alpha1.CloudProfileConfig
}

// Lists reports whether the parent has the version of a machine image itself.
func (p Parent) Lists(image, version string) bool {
	return slices.ContainsFunc(p.Spec.MachineImages, func(listed gardencorev1beta1.MachineImage) bool {
		return listed.Name == image && slices.ContainsFunc(listed.Versions, func(listed gardencorev1beta1.MachineImageVersion) bool { return listed.Version == version })
	})
}

// ValidateNamespacedCloudProfileConfig checks a CloudProfileConfig, at fldPath, that is written into a NamespacedCloudProfile: it maps the
// versions of machine images that the NamespacedCloudProfile adds to its parent's, and sets nothing else. config is empty if there is none.
func ValidateNamespacedCloudProfileConfig(config *v1alpha1.CloudProfileConfig, spec *gardencorev1beta1.NamespacedCloudProfileSpec,
	parent Parent, fldPath *field.Path,
) field.ErrorList {
	errs := onlyMachineImages(config, fldPath)
	path := fldPath.Child("machineImages")
	errs = append(errs, validateMachineImages(config.MachineImages, parent.Spec.MachineCapabilities, path)...)
	errs = append(errs, validateAddedImages(config.MachineImages, spec.MachineImages, parent, path)...)

	merged := byVersion(v1alpha1.MergeMachineImages(parent.Config.MachineImages, config.MachineImages))
	ofParent := versionsOf(parent.Spec.MachineImages)
	for _, image := range spec.MachineImages {
		for _, version := range image.Versions {
			// A version of the parent may only get another expiration date here.
			if !ofParent[imageVersion{image.Name, version.Version}] {
				errs = append(errs, validateOfferedVersion(merged, image.Name, &version, parent.Spec, path)...)
			}
		}
	}
	return errs
}

// onlyMachineImages checks the JSON fields, so that it covers future fields.
func onlyMachineImages(config *v1alpha1.CloudProfileConfig, fldPath *field.Path) field.ErrorList {
	written, empty := fieldsOf(config), fieldsOf(&v1alpha1.CloudProfileConfig{TypeMeta: config.TypeMeta})
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(written)) {
		if name != "machineImages" && string(written[name]) != string(empty[name]) {
			errs = append(errs, field.Forbidden(fldPath.Child(name), "a NamespacedCloudProfile has it from its parent, and may only add machineImages: remove the field"))
		}
	}
	return errs
}

func fieldsOf(config *v1alpha1.CloudProfileConfig) map[string]json.RawMessage {
	config = config.DeepCopy()
	if len(config.Constraints.FloatingPools) == 0 {
		config.Constraints.FloatingPools = nil
	}
	if len(config.Constraints.LoadBalancerProviders) == 0 {
		config.Constraints.LoadBalancerProviders = nil
	}
	fields := map[string]json.RawMessage{}
	if raw, err := json.Marshal(config); err == nil {
		_ = json.Unmarshal(raw, &fields) // what was written by Marshal
	}
	return fields
}

func validateAddedImages(mapped []v1alpha1.MachineImages, own []gardencorev1beta1.MachineImage, parent Parent, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	ofParent, listed := versionsOf(parent.Spec.MachineImages), versionsOf(own)
	for i, image := range mapped {
		for j, version := range image.Versions {
			which, title := imageVersion{image.Name, version.Version}, image.Name+" "+version.Version
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

func versionsOf(images []gardencorev1beta1.MachineImage) map[imageVersion]bool {
	versions := map[imageVersion]bool{}
	for _, image := range images {
		for _, version := range image.Versions {
			versions[imageVersion{image.Name, version.Version}] = true
		}
	}
	return versions
}
