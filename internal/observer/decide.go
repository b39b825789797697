package observer

import (
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"

	"github.com/trellis-garden/trellis/internal/contract"
)

// whyNotObservable returns why an object is not observed now, or "". An event follows when that ends.
func whyNotObservable(object contract.Object) string {
	lastOperation := object.GetExtensionStatus().GetLastOperation()
	switch {
	case !object.GetDeletionTimestamp().IsZero():
		return "the object is being deleted"
	case object.GetAnnotations()[v1beta1constants.GardenerOperation] != "":
		return "an operation is requested"
	case lastOperation == nil:
		return "the object was never reconciled"
	case lastOperation.Type == gardencorev1beta1.LastOperationTypeMigrate, lastOperation.Type == gardencorev1beta1.LastOperationTypeDelete:
		return "the object is being migrated or deleted"
	case lastOperation.State != gardencorev1beta1.LastOperationStateSucceeded:
		return "the primary controller works on the object"
	default:
		return ""
	}
}

// whyShootNotObserved returns why the objects of a shoot are not observed now, or "". No event of the objects follows when that ends.
func whyShootNotObserved(shoot *gardencorev1beta1.Shoot) string {
	if shoot == nil {
		return "the Cluster resource lacks the shoot"
	}
	lastOperation := shoot.Status.LastOperation
	switch {
	case shoot.DeletionTimestamp != nil:
		return "the shoot is being deleted"
	case v1beta1helper.HibernationIsEnabled(shoot), shoot.Status.IsHibernated:
		return "the shoot is hibernated"
	case lastOperation != nil && lastOperation.State == gardencorev1beta1.LastOperationStateFailed:
		return "the shoot has failed"
	case lastOperation != nil && lastOperation.Type == gardencorev1beta1.LastOperationTypeMigrate:
		return "the shoot is being migrated"
	default:
		return ""
	}
}

// lastSuccess returns when the primary has last succeeded, or zero. Times in a status have a resolution of a second: the returned one is not before the
// success.
func lastSuccess(object contract.Object) time.Time {
	lastOperation := object.GetExtensionStatus().GetLastOperation()
	if lastOperation == nil || lastOperation.State != gardencorev1beta1.LastOperationStateSucceeded {
		return time.Time{}
	}
	return lastOperation.LastUpdateTime.Add(time.Second)
}
