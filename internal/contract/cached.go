package contract

import (
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
)

// CacheTransform returns the transform of a process's cache for the objects of a contract. It removes from an object what nobody reads from memory: the
// runtime and health checks need the type, the requested and the last operation, and conditions. A reconciliation reads the whole object from the API
// server.
//
// strip removes the rest of what only the kind has, of its spec all but what StripSpec returns, and the provider status. It may keep what the
// contract's health check or FollowUp.Required reads.
func CacheTransform[O Object](strip func(object O)) func(any) (any, error) {
	return func(in any) (any, error) {
		if object, ok := in.(O); ok {
			strip(object)
			stripMetadata(object)
			stripOperations(object.GetExtensionStatus())
		}
		return in, nil
	}
}

// StripSpec returns what decides which controller an object belongs to.
func StripSpec(spec extensionsv1alpha1.DefaultSpec) extensionsv1alpha1.DefaultSpec {
	return extensionsv1alpha1.DefaultSpec{Type: spec.Type, Class: spec.Class}
}

// stripMetadata leaves what requests an operation, and what a change of the object is written with.
func stripMetadata(object Object) {
	annotations := map[string]string{}
	for _, key := range []string{v1beta1constants.GardenerOperation, v1beta1constants.GardenerTimestamp} {
		if value, found := object.GetAnnotations()[key]; found {
			annotations[key] = value
		}
	}
	object.SetAnnotations(annotations)
	object.SetLabels(nil)
	object.SetOwnerReferences(nil)
	object.SetManagedFields(nil)
}

// stripOperations removes texts. A change of an error is known by its time. Conditions stay whole: all of them are written together.
func stripOperations(status extensionsv1alpha1.Status) {
	status.SetResources(nil)
	status.SetConditions(slices.Clone(status.GetConditions())) // a decoder allocates more than it needs
	if last := status.GetLastOperation(); last != nil {
		status.SetLastOperation(&gardencorev1beta1.LastOperation{Type: last.Type, State: last.State, LastUpdateTime: last.LastUpdateTime})
	}
	if last := status.GetLastError(); last != nil {
		status.SetLastError(&gardencorev1beta1.LastError{Codes: last.Codes, LastUpdateTime: last.LastUpdateTime})
	}
}
