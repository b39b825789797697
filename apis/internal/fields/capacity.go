package fields

import (
	"maps"
	"slices"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxResourceName is the maximum length of a Kubernetes name with a domain prefix.
const maxResourceName = 317

// NodeTemplate checks the capacities of a node.
func NodeTemplate(template *extensionsv1alpha1.NodeTemplate, path *field.Path) field.ErrorList {
	if template == nil {
		return nil
	}
	errs := validateCapacity(template.Capacity, false, path.Child("capacity"))
	return append(errs, validateCapacity(template.VirtualCapacity, true, path.Child("virtualCapacity"))...)
}

func validateCapacity(capacity corev1.ResourceList, whole bool, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(capacity)) {
		amount := capacity[name]
		switch {
		case len(name) > maxResourceName:
			errs = append(errs, field.TooLong(path.Key(string(name)), name, maxResourceName))
		case amount.Sign() < 0:
			errs = append(errs, field.Invalid(path.Key(string(name)), amount.String(), "give an amount that is not negative"))
		case whole && amount.Cmp(*resource.NewQuantity(amount.Value(), amount.Format)) != 0:
			errs = append(errs, field.Invalid(path.Key(string(name)), amount.String(), "extended resources come in whole numbers: give one"))
		}
	}
	return errs
}
