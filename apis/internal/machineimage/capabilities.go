package machineimage

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/internal/fields"
)

// Architectures lists the architectures that machines may have.
func Architectures(definitions []gardencorev1beta1.CapabilityDefinition) []string {
	for _, definition := range definitions {
		if definition.Name == v1beta1constants.ArchitectureName {
			return definition.Values
		}
	}
	return []string{v1beta1constants.ArchitectureAMD64, v1beta1constants.ArchitectureARM64}
}

// ValidateCapabilities checks the capabilities of an image. If the CloudProfile does not use capabilities, or no longer does, only the
// architecture is evaluated.
func ValidateCapabilities(capabilities gardencorev1beta1.Capabilities, definitions []gardencorev1beta1.CapabilityDefinition, path *field.Path) field.ErrorList {
	known := map[string][]string{v1beta1constants.ArchitectureName: Architectures(definitions)}
	for _, definition := range definitions {
		known[definition.Name] = definition.Values
	}
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(capabilities)) {
		values, isKnown := known[name]
		if !isKnown {
			if len(definitions) > 0 {
				errs = append(errs, field.Invalid(path.Child(name), name, fmt.Sprintf("spec.machineCapabilities does not define it: choose one of %s, or remove it",
					strings.Join(fields.Quoted(slices.Sorted(maps.Keys(known))), ", "))))
			}
			continue
		}
		if len(capabilities[name]) == 0 {
			errs = append(errs, field.Required(path.Child(name), "give the values that the image has, or remove the capability to mean all"))
		}
		for i, value := range capabilities[name] {
			if !slices.Contains(values, value) {
				errs = append(errs, field.Invalid(path.Child(name).Index(i), value, "no machine has it: choose one of "+strings.Join(fields.Quoted(values), ", ")))
			}
		}
	}
	return errs
}
