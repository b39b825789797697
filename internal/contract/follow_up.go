package contract

import (
	"context"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// FollowUp is for a contract whose work is not over when gardenlet goes on: a part has to wait for what gardenlet does next,
// such as stopping the shoot's kube-apiserver, and no order will come for it.
//
// After a pass that succeeded, and after a restart of the process, the runtime looks in intervals until the time has come,
// and then runs one more pass. An order in between is an order like any other.
type FollowUp[O Object] struct {
	// Required reports whether the object has a sequel. It looks at nothing but the object, whose provider status is where
	// the Actuator leaves word.
	Required func(object O) bool
	// Due reports whether the time has come. It should cost one small read.
	Due func(ctx context.Context, reader client.Reader, object O) (bool, error)
	// Interval is the pause between two looks.
	Interval time.Duration
}

// isWaiting reports whether an object that is not pending has a sequel. A nil Sequel has none.
func (s *FollowUp[O]) isWaiting(object O) bool {
	return object.GetAnnotations()[v1beta1constants.GardenerOperation] == "" && s.isRequired(object)
}

// checkInterval returns how long to wait after a pass that has left the object like this; zero is for ever. The order of a
// restore may still be on the copy that the pass worked with.
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
