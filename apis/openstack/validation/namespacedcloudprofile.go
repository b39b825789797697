package validation

import (
	"encoding/json"
	"maps"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/internal/machineimage"
	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

// Parent is the CloudProfile that a NamespacedCloudProfile adds to.
type Parent = machineimage.Parent[v1alpha1.CloudProfileConfig]

// ValidateNamespacedCloudProfileConfig checks a CloudProfileConfig, at fldPath, that is written into a NamespacedCloudProfile: it maps the
// versions of machine images that the NamespacedCloudProfile adds to its parent's, and sets nothing else. config is empty if there is none.
func ValidateNamespacedCloudProfileConfig(config *v1alpha1.CloudProfileConfig, spec *gardencorev1beta1.NamespacedCloudProfileSpec,
	parent Parent, fldPath *field.Path,
) field.ErrorList {
	errs := onlyMachineImages(config, fldPath)
	path := fldPath.Child("machineImages")
	errs = append(errs, validateMachineImages(config.MachineImages, parent.Spec.MachineCapabilities, path)...)
	errs = append(errs, machineimage.ValidateAdded(config.MachineImages, v1alpha1.MachineImageShape(), spec.MachineImages, parent.Spec.MachineImages, path)...)
	merged := countImages(v1alpha1.MergeMachineImages(parent.Config.MachineImages, config.MachineImages))
	return append(errs, machineimage.ValidateMerged(spec.MachineImages, parent.Spec, missingImage, merged, path)...)
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
