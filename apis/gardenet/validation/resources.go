package validation

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/gardenet/v1alpha1"
)

func validateResources(resources *v1alpha1.Resources, path *field.Path) field.ErrorList {
	if resources == nil || resources.Node == nil {
		return nil
	}
	path = path.Child("node")
	requests, limits := resources.Node.Requests, resources.Node.Limits
	errs := validateList(requests, path.Child("requests"))
	errs = append(errs, validateList(limits, path.Child("limits"))...)
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		request := requests[name]
		if limit, limited := limits[name]; limited && request.Cmp(limit) > 0 {
			errs = append(errs, field.Invalid(path.Child("requests").Key(string(name)), request.String(), fmt.Sprintf("must be at most the limit, %s: lower it, or raise the limit", limit.String())))
		}
	}
	return errs
}

func validateList(list corev1.ResourceList, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(list)) {
		quantity := list[name]
		switch {
		case name != corev1.ResourceCPU && name != corev1.ResourceMemory:
			errs = append(errs, field.Forbidden(path.Key(string(name)), "only cpu and memory are possible: remove it"))
		case quantity.Sign() <= 0:
			errs = append(errs, field.Invalid(path.Key(string(name)), quantity.String(), "must be more than nothing: raise or remove it"))
		}
	}
	return errs
}
