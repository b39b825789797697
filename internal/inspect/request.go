package inspect

import (
	"fmt"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
)

const (
	// pickUpGrace is how long a controller may take to pick a request up.
	pickUpGrace = time.Minute
	// busyGrace is how long a controller may be at work on an operation without reporting progress.
	busyGrace = 10 * time.Minute
)

// requestOf returns the requested operation that has no result yet, or nil. Each controller removes the operation annotation when it picks the request up.
// If it is removed but the object's timestamp is later than the last operation, the operation has no result: gardenlet decides so as well.
func requestOf(object *extensionObject, now time.Time) *Request {
	last, requestedAt := object.Status.LastOperation, timestampOf(object)
	annotation := object.Annotations[v1beta1constants.GardenerOperation]
	request := &Request{Message: fmt.Sprintf("no controller has picked it up; check that one for %s of type %s is installed and running", object.Kind, object.Spec.Type)}
	switch {
	case annotation == v1beta1constants.GardenerOperationReconcile, annotation == v1beta1constants.GardenerOperationRestore,
		annotation == v1beta1constants.GardenerOperationMigrate:
		request.Operation, request.At = annotation, requestedAt
	case annotation == v1beta1constants.GardenerOperationWaitForState:
		return &Request{Operation: annotation, At: requestedAt, Message: "controllers wait until gardenlet has restored the state"}
	case object.DeletionTimestamp != nil && (last == nil || last.LastUpdateTime.Before(object.DeletionTimestamp)):
		request.Operation, request.At = "delete", timeOf(object.DeletionTimestamp)
	case last == nil && requestedAt != nil:
		request.Operation, request.At = "create", requestedAt
	case last == nil:
		request.Operation, request.At = "create", timeOf(&object.CreationTimestamp)
	case requestedAt != nil && requestedAt.Truncate(time.Second).After(last.LastUpdateTime.Time):
		request.Operation, request.At = "reconcile", requestedAt
		request.Message = "a controller has picked it up and has not reported since"
	default:
		return nil
	}
	request.Unserved = request.At == nil || now.Sub(*request.At) > pickUpGrace
	switch {
	case !request.Unserved:
		request.Message = "no controller has reported yet"
	case isBusy(last, now):
		request.Unserved, request.Message = false, "the controller works on the operation before"
	}
	return request
}

// isBusy reports whether a controller is at work on an operation.
func isBusy(last *gardencorev1beta1.LastOperation, now time.Time) bool {
	return last != nil && last.State == gardencorev1beta1.LastOperationStateProcessing && now.Sub(last.LastUpdateTime.Time) < busyGrace
}

// timestampOf returns the time of gardenlet's last request, or nil.
func timestampOf(object *extensionObject) *time.Time {
	at, err := time.Parse(time.RFC3339Nano, object.Annotations[v1beta1constants.GardenerTimestamp])
	if err != nil {
		return nil
	}
	return new(at.UTC())
}
