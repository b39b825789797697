package contract

import (
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// wakesUp lets through the events that can start a pass. A newly seen object (the process has just started, or the object
// has) counts by what it is; an update only by what it orders anew, so that our own writes start nothing and the pauses
// between retries are kept.
func wakesUp(finalizer string, ignoreOperationAnnotation bool) predicate.Predicate {
	pending := func(o client.Object) bool {
		object, ok := o.(Object)
		return ok && Pending(object, finalizer, ignoreOperationAnnotation)
	}
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return pending(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return ordersAnew(e.ObjectOld, e.ObjectNew, ignoreOperationAnnotation) && pending(e.ObjectNew)
		},
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// ordersAnew tells an order from everything else that changes an object. A new timestamp counts only together with an
// operation: gardenlet writes one, too, when it confirms a deletion.
func ordersAnew(before, after client.Object, ignoreOperationAnnotation bool) bool {
	was, is := before.GetAnnotations(), after.GetAnnotations()
	order := is[v1beta1constants.GardenerOperation]
	switch {
	case order != "" && order != was[v1beta1constants.GardenerOperation]:
		return true
	case order != "" && is[v1beta1constants.GardenerTimestamp] != was[v1beta1constants.GardenerTimestamp]:
		return true
	case before.GetDeletionTimestamp().IsZero() && !after.GetDeletionTimestamp().IsZero():
		return true
	default:
		return ignoreOperationAnnotation && before.GetGeneration() != after.GetGeneration()
	}
}
