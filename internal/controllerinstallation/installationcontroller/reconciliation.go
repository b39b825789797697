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

// reconciliation is one reconciliation of an installation. It collects changes of the status, which are written in one patch at the end.
type reconciliation struct {
	installation *gardencorev1beta1.ControllerInstallation
	assignment   *assignment
	seed         *gardencorev1beta1.Seed
	cluster      *seeds.Cluster

	status       *installationv1alpha1.ControllerInstallationStatus
	statusBefore *installationv1alpha1.ControllerInstallationStatus // as it was read
	conditions   []gardencorev1beta1.Condition                      // to be written
	clock        clock.Clock
	startedAt    time.Time
}

func newReconciliation(installation *gardencorev1beta1.ControllerInstallation, operator string, clock clock.Clock) *reconciliation {
	status, err := installationv1alpha1.DecodeControllerInstallationStatus(installation.Status.ProviderStatus)
	if err != nil {
		// It was written by another controller, or is malformed. Its content is determined anew.
		status = installationv1alpha1.NewControllerInstallationStatus()
	}
	before := status.DeepCopy()
	status.Operator = operator
	return &reconciliation{installation: installation, status: status, statusBefore: before, clock: clock, startedAt: clock.Now()}
}

func (rec *reconciliation) now() metav1.Time {
	return metav1.NewTime(rec.clock.Now().UTC().Truncate(time.Second))
}

// setCondition sets a condition to be written. Its times are kept if nothing changes, and its message is truncated.
func (rec *reconciliation) setCondition(conditionType gardencorev1beta1.ConditionType, status gardencorev1beta1.ConditionStatus, reason, message string) {
	old := v1beta1helper.GetOrInitConditionWithClock(rec.clock, rec.installation.Status.Conditions, conditionType)
	rec.conditions = append(rec.conditions, v1beta1helper.UpdatedConditionWithClock(rec.clock, old, status, reason, truncate.Text(message, truncate.MaxStatus)))
}

// setValid reports that the registration can be installed.
func (rec *reconciliation) setValid() {
	message := fmt.Sprintf("Revision %s could be rendered.", rec.assignment.revision)
	if rec.assignment.note != "" {
		message += " " + rec.assignment.note
	}
	rec.setCondition(gardencorev1beta1.ControllerInstallationValid, gardencorev1beta1.ConditionTrue, problem.RegistrationValid, message)
}

// setInvalid reports a problem that an admin has to correct.
func (rec *reconciliation) setInvalid(found *problem.Problem) {
	message := found.Message
	if rec.status.Revision != "" {
		message += fmt.Sprintf(" (Revision %s, which was installed before, is kept.)", rec.status.Revision)
	}
	rec.setCondition(gardencorev1beta1.ControllerInstallationValid, gardencorev1beta1.ConditionFalse, found.Reason, message)
	rec.setError(found.Reason, found.Message)
}

// recordError reports an error. Only a problem that an admin has to correct makes the installation invalid. With any other error a new installation
// is Unknown, and all others keep their condition.
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
	case rec.status.Phase == installationv1alpha1.PhaseDeleting: // deletion is final
	case reason == problem.SeedUnreachable:
		rec.status.Phase = installationv1alpha1.PhaseUnreachable
	case rec.clock.Since(rec.status.LastError.Since.Time) > state.StaleAfter:
		rec.status.Phase = installationv1alpha1.PhaseFailed // its present state is unknown
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

// save writes the collected changes, if there are any. It returns false if the object was changed concurrently.
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
