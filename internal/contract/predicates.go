package contract

import (
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// operationPredicate passes events that can start a reconciliation. A new object (the process has just started, or the object was
// just created) passes if it is pending; an update only if it requests an operation, so that our own writes start nothing and
// the backoff between retries is kept.
func operationPredicate[O Object](c Contract[O], ignoreOperationAnnotation bool) predicate.Predicate {
	pending := func(o client.Object) bool {
		object, ok := o.(O)
		return ok && Pending(object, c.Finalizer, ignoreOperationAnnotation)
	}
	hasFollowUp := func(o client.Object) bool {
		object, ok := o.(O)
		return ok && c.FollowUp.isWaiting(object)
	}
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return pending(e.Object) || hasFollowUp(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return requestsOperation(e.ObjectOld, e.ObjectNew, ignoreOperationAnnotation) && pending(e.ObjectNew)
		},
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// requestsOperation reports whether an update requests an operation. A new timestamp counts only together with an operation
// annotation or during a deletion, which gardenlet requests again by nothing else; gardenlet also writes one when it confirms
// a deletion that is yet to come. Another UID is another object, whose creation the watch has missed.
func requestsOperation(before, after client.Object, ignoreOperationAnnotation bool) bool {
	oldAnnotations, newAnnotations := before.GetAnnotations(), after.GetAnnotations()
	operation := newAnnotations[v1beta1constants.GardenerOperation]
	generationChanged := ignoreOperationAnnotation && before.GetGeneration() != after.GetGeneration()
	switch {
	case operation != "" && operation != oldAnnotations[v1beta1constants.GardenerOperation]:
		return true
	case before.GetUID() != after.GetUID():
		return true
	case !after.GetDeletionTimestamp().IsZero() && before.GetDeletionTimestamp().IsZero():
		return true
	case newAnnotations[v1beta1constants.GardenerTimestamp] != oldAnnotations[v1beta1constants.GardenerTimestamp]:
		return operation != "" || !after.GetDeletionTimestamp().IsZero() || generationChanged
	default:
		return generationChanged
	}
}
