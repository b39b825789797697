package contract

import (
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// action is the Actuator method that a reconciliation calls.
type action int

const (
	actionNone action = iota
	actionReconcile
	actionDelete
	actionForceDelete
	actionMigrate
)

// decision is what a reconciliation has to do, or why it does nothing.
type decision struct {
	action    action
	operation gardencorev1beta1.LastOperationType
	reason    string
}

// Pending reports whether the object must be reconciled:
//
//   - gardenlet requests it by the operation annotation (reconcile, restore, migrate; wait-for-state requests to wait);
//   - it is being deleted and has our finalizer;
//   - it was never reconciled, or its last operation has not succeeded;
//   - gardenlet's timestamp, cut to the second, is later than the last operation. gardenlet itself detects
//     an unfinished operation that way; it covers a process that crashed after it had removed the annotation.
//
// A change of the spec alone does not make it pending, because changes wait for the maintenance window; unless
// ignoreOperationAnnotation is set, for development.
func Pending(object Object, finalizer string, ignoreOperationAnnotation bool) bool {
	operation := object.GetAnnotations()[v1beta1constants.GardenerOperation]
	lastOperation := object.GetExtensionStatus().GetLastOperation()
	switch {
	case operation == v1beta1constants.GardenerOperationMigrate:
		return true
	case !object.GetDeletionTimestamp().IsZero():
		return controllerutil.ContainsFinalizer(object, finalizer)
	case operation == v1beta1constants.GardenerOperationRestore:
		return true
	case operation == v1beta1constants.GardenerOperationWaitForState, migrated(lastOperation):
		return false
	case operation == v1beta1constants.GardenerOperationReconcile, lastOperation == nil:
		return true
	case lastOperation.State != gardencorev1beta1.LastOperationStateSucceeded:
		return true
	case ignoreOperationAnnotation && object.GetGeneration() != object.GetExtensionStatus().GetObservedGeneration():
		return true
	default:
		return requestedAt(object).After(lastOperation.LastUpdateTime.Time)
	}
}

// requestedAt returns gardenlet's timestamp cut to the second, the resolution of a last operation; zero when there is none.
func requestedAt(object Object) time.Time {
	at, err := time.Parse(time.RFC3339Nano, object.GetAnnotations()[v1beta1constants.GardenerTimestamp])
	if err != nil {
		return time.Time{}
	}
	return at.Truncate(time.Second)
}

func migrated(lastOperation *gardencorev1beta1.LastOperation) bool {
	return lastOperation != nil &&
		lastOperation.Type == gardencorev1beta1.LastOperationTypeMigrate &&
		lastOperation.State == gardencorev1beta1.LastOperationStateSucceeded
}

// decide returns what to do with a pending object of the given shoot.
func decide(object Object, shoot *gardencorev1beta1.Shoot) decision {
	if shoot != nil && shoot.Status.LastOperation != nil &&
		shoot.Status.LastOperation.State == gardencorev1beta1.LastOperationStateFailed {
		return decision{reason: "the shoot has failed; a user must retry it"}
	}
	meta := metav1.ObjectMeta{Annotations: object.GetAnnotations(), DeletionTimestamp: object.GetDeletionTimestamp()}
	operation := v1beta1helper.ComputeOperationType(meta, object.GetExtensionStatus().GetLastOperation())
	switch {
	case operation == gardencorev1beta1.LastOperationTypeMigrate:
		return decision{action: actionMigrate, operation: operation}
	case migrated(object.GetExtensionStatus().GetLastOperation()) && operation == gardencorev1beta1.LastOperationTypeDelete:
		// What the object stands for exists on in another seed: only the object is deleted.
		return decision{action: actionMigrate, operation: gardencorev1beta1.LastOperationTypeMigrate}
	case operation != gardencorev1beta1.LastOperationTypeDelete:
		return decision{action: actionReconcile, operation: operation}
	case v1beta1helper.ShootNeedsForceDeletion(shoot):
		return decision{action: actionForceDelete, operation: operation}
	default:
		return decision{action: actionDelete, operation: operation}
	}
}

// firstAttempt reports whether no controller can have reconciled the shoot before: the object is untouched, and the shoot is
// being created. A new object of an existing shoot was restored, for example from a backup, or removed by force.
func firstAttempt(object Object, operation gardencorev1beta1.LastOperationType, shoot *gardencorev1beta1.Shoot) bool {
	status := object.GetExtensionStatus()
	return operation == gardencorev1beta1.LastOperationTypeCreate &&
		shoot != nil && shoot.Status.LastOperation != nil &&
		shoot.Status.LastOperation.Type == gardencorev1beta1.LastOperationTypeCreate &&
		status.GetLastOperation() == nil && status.GetState() == nil && status.GetProviderStatus() == nil
}
