package controllerinstallation

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
	"github.com/trellis-garden/trellis/internal/controllerinstallation/seeds"
	"github.com/trellis-garden/trellis/internal/truncate"
)

// pass is one look at one installation. What is to be said of it is collected here and written in one patch at the end.
type pass struct {
	installation *gardencorev1beta1.ControllerInstallation
	assignment   *assignment
	seed         *gardencorev1beta1.Seed
	cluster      *seeds.Cluster

	status     *installationv1alpha1.ControllerInstallationStatus
	before     *installationv1alpha1.ControllerInstallationStatus // what the status said
	conditions []gardencorev1beta1.Condition                      // those to be written
	clock      clock.Clock
	began      time.Time
}

func newPass(installation *gardencorev1beta1.ControllerInstallation, operator string, clock clock.Clock) *pass {
	status, err := installationv1alpha1.DecodeControllerInstallationStatus(installation.Status.ProviderStatus)
	if err != nil {
		// Somebody else's, or broken: whatever it said, what matters is found out again.
		status = installationv1alpha1.NewControllerInstallationStatus()
	}
	before := status.DeepCopy()
	status.Operator = operator
	return &pass{installation: installation, status: status, before: before, clock: clock, began: clock.Now()}
}

func (p *pass) now() metav1.Time { return metav1.NewTime(p.clock.Now().UTC().Truncate(time.Second)) }

// condition is to be written with that content; times are kept where nothing changes. Whatever a message is composed of, it is cut here.
func (p *pass) condition(conditionType gardencorev1beta1.ConditionType, status gardencorev1beta1.ConditionStatus, reason, message string) {
	old := v1beta1helper.GetOrInitConditionWithClock(p.clock, p.installation.Status.Conditions, conditionType)
	p.conditions = append(p.conditions, v1beta1helper.UpdatedConditionWithClock(p.clock, old, status, reason, truncate.Text(message, truncate.MaxStatus)))
}

// valid says that what was registered can be installed.
func (p *pass) valid() {
	message := fmt.Sprintf("Revision %s could be rendered.", p.assignment.revision)
	if p.assignment.note != "" {
		message += " " + p.assignment.note
	}
	p.condition(gardencorev1beta1.ControllerInstallationValid, gardencorev1beta1.ConditionTrue, problem.RegistrationValid, message)
}

// invalid says what an admin has to mend.
func (p *pass) invalid(found *problem.Problem) {
	message := found.Message
	if p.status.Revision != "" {
		message += fmt.Sprintf(" (Revision %s, which was installed before, is kept.)", p.status.Revision)
	}
	p.condition(gardencorev1beta1.ControllerInstallationValid, gardencorev1beta1.ConditionFalse, found.Reason, message)
	p.setError(found.Reason, found.Message)
}

// failed notes an error. What is an admin's to mend makes the installation invalid; nothing else does: as long as it cannot be known whether it is
// valid, a new one is Unknown, and all others stay what they are.
func (p *pass) failed(err error) {
	if found, ok := problem.In(err); ok {
		p.invalid(found)
		return
	}
	reason := transientReason(err)
	if old := v1beta1helper.GetCondition(p.installation.Status.Conditions, gardencorev1beta1.ControllerInstallationValid); old == nil ||
		old.Status == gardencorev1beta1.ConditionUnknown {
		p.condition(gardencorev1beta1.ControllerInstallationValid, gardencorev1beta1.ConditionUnknown, reason, err.Error())
	}
	p.setError(reason, err.Error())
	switch {
	case p.status.Phase == installationv1alpha1.PhaseDeleting: // what has begun to go does not come back
	case reason == problem.SeedUnreachable:
		p.status.Phase = installationv1alpha1.PhaseUnreachable
	case p.clock.Since(p.status.LastError.Since.Time) > breakAfter:
		p.status.Phase = installationv1alpha1.PhaseFailed // nobody knows any more whether it is what it was
	}
}

func transientReason(err error) string {
	if _, unreachable := errors.AsType[*seeds.Unreachable](err); unreachable {
		return problem.SeedUnreachable
	}
	if _, unreachable := errors.AsType[*registryError](err); unreachable {
		return problem.RegistryUnreachable
	}
	return "OperationFailed"
}

func (p *pass) setError(reason, message string) {
	since, message := p.now(), truncate.Text(message, truncate.MaxStatus)
	if old := p.status.LastError; old != nil && old.Reason == reason {
		since = old.Since
		if old.Message == message {
			return
		}
	}
	p.status.LastError = &installationv1alpha1.LastError{Reason: reason, Message: message, Since: since}
}

// save writes what has been collected, if it says anything new. It reports false when somebody else has written meanwhile.
func (p *pass) save(ctx context.Context, garden client.Client) (bool, error) {
	raw, err := installationv1alpha1.Encode(p.status)
	if err != nil {
		return false, err
	}
	changed := p.installation.DeepCopy()
	changed.Status.Conditions = v1beta1helper.MergeConditions(changed.Status.Conditions, p.conditions...)
	if before, err := installationv1alpha1.DecodeControllerInstallationStatus(p.installation.Status.ProviderStatus); err != nil ||
		p.installation.Status.ProviderStatus == nil || !equality.Semantic.DeepEqual(before, p.status) {
		changed.Status.ProviderStatus = raw
	}
	if equality.Semantic.DeepEqual(p.installation.Status, changed.Status) {
		return true, nil
	}
	patch := client.MergeFromWithOptions(p.installation, client.MergeFromWithOptimisticLock{})
	switch err := garden.Status().Patch(ctx, changed, patch); {
	case apierrors.IsConflict(err):
		return false, nil
	case client.IgnoreNotFound(err) != nil:
		return false, fmt.Errorf("writing the status of ControllerInstallation %s: %w", p.installation.Name, err)
	}
	return true, nil
}
