package contract

import (
	"context"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// FollowUp is for a contract that has something left to do when gardenlet continues: a part must wait for what gardenlet does
// next, such as stopping the shoot's kube-apiserver, and no operation will be requested for it.
//
// After a successful reconciliation, and after a restart of the process, the runtime checks periodically whether the follow-up
// is due, and then reconciles once more. A requested operation in between is handled as usual.
type FollowUp[O Object] struct {
	// Required reports whether the object needs a follow-up. It depends on the object alone, in whose provider status the
	// Actuator records that.
	Required func(object O) bool
	// Due reports whether the follow-up can run. It should cost one small read.
	Due func(ctx context.Context, reader client.Reader, object O) (bool, error)
	// Interval is the time between two checks.
	Interval time.Duration
}

// isWaiting reports whether an object that is not pending needs a follow-up. It does not with a nil FollowUp.
func (s *FollowUp[O]) isWaiting(object O) bool {
	return object.GetAnnotations()[v1beta1constants.GardenerOperation] == "" && s.isRequired(object)
}

// checkInterval returns how long to wait after a reconciliation; zero is for ever. The copy of the object may still have the
// annotation of a restore.
func (s *FollowUp[O]) checkInterval(object O) time.Duration {
	if !s.isRequired(object) {
		return 0
	}
	return s.Interval
}

func (s *FollowUp[O]) isRequired(object O) bool {
	lastOperation := object.GetExtensionStatus().GetLastOperation()
	return s != nil &&
		object.GetDeletionTimestamp().IsZero() &&
		lastOperation != nil && lastOperation.State == gardencorev1beta1.LastOperationStateSucceeded && !migrated(lastOperation) &&
		s.Required(object)
}
