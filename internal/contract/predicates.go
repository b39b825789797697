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
func wakesUp[O Object](c Contract[O], ignoreOperationAnnotation bool) predicate.Predicate {
	pending := func(o client.Object) bool {
		object, ok := o.(O)
		return ok && Pending(object, c.Finalizer, ignoreOperationAnnotation)
	}
	awaits := func(o client.Object) bool {
		object, ok := o.(O)
		return ok && c.Sequel.awaited(object)
	}
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return pending(e.Object) || awaits(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return ordersAnew(e.ObjectOld, e.ObjectNew, ignoreOperationAnnotation) && pending(e.ObjectNew)
		},
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// ordersAnew tells an order from everything else that changes an object. A new timestamp counts only together with an
// operation or within a deletion, which gardenlet asks for again by nothing else; it also writes one when it confirms a
// deletion that is yet to come. Another UID is another object, whose creation the watch has missed.
func ordersAnew(before, after client.Object, ignoreOperationAnnotation bool) bool {
	was, is := before.GetAnnotations(), after.GetAnnotations()
	order := is[v1beta1constants.GardenerOperation]
	generationChanged := ignoreOperationAnnotation && before.GetGeneration() != after.GetGeneration()
	switch {
	case order != "" && order != was[v1beta1constants.GardenerOperation]:
		return true
	case before.GetUID() != after.GetUID():
		return true
	case !after.GetDeletionTimestamp().IsZero() && before.GetDeletionTimestamp().IsZero():
		return true
	case is[v1beta1constants.GardenerTimestamp] != was[v1beta1constants.GardenerTimestamp]:
		return order != "" || !after.GetDeletionTimestamp().IsZero() || generationChanged
	default:
		return generationChanged
	}
}
