package installationcontroller

import (
	"context"
	"errors"
	"fmt"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/registered"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/seeds"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/state"
	"github.com/trellis-garden/trellis/internal/truncate"
)

// reconciliation is one look at one installation. What is to be said of it is collected here and written in one patch at the end.
type reconciliation struct {
	installation *gardencorev1beta1.ControllerInstallation
	assignment   *assignment
	seed         *gardencorev1beta1.Seed
	cluster      *seeds.Cluster

	status       *installationv1alpha1.ControllerInstallationStatus
	statusBefore *installationv1alpha1.ControllerInstallationStatus // what the status said
	conditions   []gardencorev1beta1.Condition                      // those to be written
	clock        clock.Clock
	startedAt    time.Time
}

func newReconciliation(installation *gardencorev1beta1.ControllerInstallation, operator string, clock clock.Clock) *reconciliation {
	status, err := installationv1alpha1.DecodeControllerInstallationStatus(installation.Status.ProviderStatus)
	if err != nil {
		// Somebody else's, or broken: whatever it said, what matters is found out again.
		status = installationv1alpha1.NewControllerInstallationStatus()
	}
	before := status.DeepCopy()
	status.Operator = operator
	return &reconciliation{installation: installation, status: status, statusBefore: before, clock: clock, startedAt: clock.Now()}
}

func (rec *reconciliation) now() metav1.Time {
	return metav1.NewTime(rec.clock.Now().UTC().Truncate(time.Second))
}

// setCondition is to be written with that content; times are kept where nothing changes. Whatever a message is composed of, it is cut here.
func (rec *reconciliation) setCondition(conditionType gardencorev1beta1.ConditionType, status gardencorev1beta1.ConditionStatus, reason, message string) {
	old := v1beta1helper.GetOrInitConditionWithClock(rec.clock, rec.installation.Status.Conditions, conditionType)
	rec.conditions = append(rec.conditions, v1beta1helper.UpdatedConditionWithClock(rec.clock, old, status, reason, truncate.Text(message, truncate.MaxStatus)))
}

// setValid says that what was registered can be installed.
func (rec *reconciliation) setValid() {
	message := fmt.Sprintf("Revision %s could be rendered.", rec.assignment.revision)
	if rec.assignment.note != "" {
		message += " " + rec.assignment.note
	}
	rec.setCondition(gardencorev1beta1.ControllerInstallationValid, gardencorev1beta1.ConditionTrue, problem.RegistrationValid, message)
}

// setInvalid says what an admin has to mend.
func (rec *reconciliation) setInvalid(found *problem.Problem) {
	message := found.Message
	if rec.status.Revision != "" {
		message += fmt.Sprintf(" (Revision %s, which was installed before, is kept.)", rec.status.Revision)
	}
	rec.setCondition(gardencorev1beta1.ControllerInstallationValid, gardencorev1beta1.ConditionFalse, found.Reason, message)
	rec.setError(found.Reason, found.Message)
}

// recordError notes an error. What is an admin's to mend makes the installation invalid; nothing else does: as long as it cannot be known whether it is
// valid, a new one is Unknown, and all others stay what they are.
func (rec *reconciliation) recordError(err error) {
	if found, ok := problem.In(err); ok {
		rec.setInvalid(found)
		return
	}
	reason := transientReason(err)
	if old := v1beta1helper.GetCondition(rec.installation.Status.Conditions, gardencorev1beta1.ControllerInstallationValid); old == nil ||
		old.Status == gardencorev1beta1.ConditionUnknown {
		rec.setCondition(gardencorev1beta1.ControllerInstallationValid, gardencorev1beta1.ConditionUnknown, reason, err.Error())
	}
	rec.setError(reason, err.Error())
	switch {
	case rec.status.Phase == installationv1alpha1.PhaseDeleting: // what has begun to go does not come back
	case reason == problem.SeedUnreachable:
		rec.status.Phase = installationv1alpha1.PhaseUnreachable
	case rec.clock.Since(rec.status.LastError.Since.Time) > state.StaleAfter:
		rec.status.Phase = installationv1alpha1.PhaseFailed // nobody knows any more whether it is what it was
	}
}

func transientReason(err error) string {
	if _, unreachable := errors.AsType[*seeds.Unreachable](err); unreachable {
		return problem.SeedUnreachable
	}
	if _, unreachable := errors.AsType[*registered.RegistryError](err); unreachable {
		return problem.RegistryUnreachable
	}
	return "OperationFailed"
}

func (rec *reconciliation) setError(reason, message string) {
	since, message := rec.now(), truncate.Text(message, truncate.MaxStatus)
	if old := rec.status.LastError; old != nil && old.Reason == reason {
		since = old.Since
		if old.Message == message {
			return
		}
	}
	rec.status.LastError = &installationv1alpha1.LastError{Reason: reason, Message: message, Since: since}
}

// save writes what has been collected, if it says anything new. It reports false when somebody else has written meanwhile.
func (rec *reconciliation) save(ctx context.Context, garden client.Client) (bool, error) {
	raw, err := installationv1alpha1.Encode(rec.status)
	if err != nil {
		return false, err
	}
	changed := rec.installation.DeepCopy()
	changed.Status.Conditions = v1beta1helper.MergeConditions(changed.Status.Conditions, rec.conditions...)
	if before, err := installationv1alpha1.DecodeControllerInstallationStatus(rec.installation.Status.ProviderStatus); err != nil ||
		rec.installation.Status.ProviderStatus == nil || !equality.Semantic.DeepEqual(before, rec.status) {
		changed.Status.ProviderStatus = raw
	}
	if equality.Semantic.DeepEqual(rec.installation.Status, changed.Status) {
		return true, nil
	}
	patch := client.MergeFromWithOptions(rec.installation, client.MergeFromWithOptimisticLock{})
	switch err := garden.Status().Patch(ctx, changed, patch); {
	case apierrors.IsConflict(err):
		return false, nil
	case client.IgnoreNotFound(err) != nil:
		return false, fmt.Errorf("writing the status of ControllerInstallation %s: %w", rec.installation.Name, err)
	}
	return true, nil
}
