package validation

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/calico/v1alpha1"
)

func validateResources(scaling *v1alpha1.AutoScaling, path *field.Path) field.ErrorList {
	if scaling == nil || scaling.Resources == nil {
		return nil
	}
	errs := validateRequests(scaling.Resources.Node, path.Child("node"))
	return append(errs, validateRequests(scaling.Resources.Typha, path.Child("typha"))...)
}

func validateRequests(requests *corev1.ResourceList, path *field.Path) field.ErrorList {
	if requests == nil {
		return nil
	}
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(*requests)) {
		quantity := (*requests)[name]
		namePath := path.Child(string(name))
		if name != corev1.ResourceCPU && name != corev1.ResourceMemory {
			errs = append(errs, field.Forbidden(namePath, "only cpu and memory can be requested: remove it"))
			continue
		}
		if quantity.Sign() <= 0 {
			errs = append(errs, field.Invalid(namePath, quantity.String(), "must be more than nothing: raise or remove it"))
		}
	}
	return errs
}

func validateKubeAPIServerEndpoints(endpoints *v1alpha1.KubeAPIServerEndpoints, path *field.Path) field.ErrorList {
	if endpoints == nil {
		return nil
	}
	var errs field.ErrorList
	if name := endpoints.Name; name != nil && len(validation.IsDNS1123Subdomain(*name)) > 0 {
		errs = append(errs, field.Invalid(path.Child("name"), *name,
			"cannot name an object: use lower-case letters, digits, dashes and dots, or remove the field"))
	}
	for _, label := range slices.Sorted(maps.Keys(endpoints.Labels)) {
		value, labelPath := endpoints.Labels[label], path.Child("labels").Key(label)
		switch {
		case label == v1alpha1.KubeAPIServerEndpointsLabel:
			errs = append(errs, field.Forbidden(labelPath, "is always set: remove it"))
		case len(validation.IsQualifiedName(label)) > 0:
			errs = append(errs, field.Invalid(labelPath, label, "is not a label key: use letters, digits, dashes, underscores and dots, after a DNS name and a slash if need be"))
		case len(validation.IsValidLabelValue(value)) > 0:
			errs = append(errs, field.Invalid(labelPath, value, "is not a label value: use at most 63 letters, digits, dashes, underscores and dots"))
		}
	}
	return errs
}
