package installationcontroller

import (
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/rollout"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/state"
)

// recordGateObservation adds the check to the observed durations of the installation. The status gets them together with other changes; while the
// revision is on trial, also whenever they have grown by a minute and a fifth, which is the most that a restart loses.
func (r *reconciler) recordGateObservation(rec *reconciliation, err error) {
	assignment := state.AssignmentKey(rec.installation.Annotations)
	isKnown, health := rec.health(err)
	if r.inSeed() || !isKnown || assignment == "" || rec.assignment.revision != rec.installation.Annotations[installationv1alpha1.AnnotationRevision] {
		return
	}
	stored := state.DecodeObserved(rec.statusBefore, assignment)
	observed := r.State.Observe(rec.installation.Name, assignment, rec.startedAt, health, stored)
	grown := observed.Total - stored.Total
	isDue := rec.assignment.isOnTrial && grown >= max(time.Minute, stored.Total/5)
	isSteady := stored.Healthy < rollout.SteadyAfter && observed.Healthy >= rollout.SteadyAfter // on which the next rollout depends, also after a change of the leader
	isNew := isSteady || rec.statusBefore.Gate == nil || rec.statusBefore.Gate.Assignment != assignment || stored.Interruptions != observed.Interruptions
	if isDue || isNew || !equality.Semantic.DeepEqual(rec.statusBefore, rec.status) {
		rec.status.Gate = state.EncodeObserved(observed, assignment)
	}
}

// health returns the health of the installation with its assigned revision. It returns false if the check failed for a reason other than the seed.
func (rec *reconciliation) health(err error) (isKnown bool, health rollout.Health) {
	found, isProblem := problem.In(err)
	isReported := err == nil || isProblem && problem.IsOfRevision(found.Reason)
	switch status := rec.status; {
	case isSeedError(err):
		return true, rollout.Hidden
	case !isReported:
		return false, 0
	case status.Revision != rec.assignment.revision, status.HealthySince == nil && status.UnhealthySince == nil:
		return true, rollout.Progressing
	case status.HealthySince == nil:
		return true, rollout.Unhealthy
	}
	return true, rollout.Healthy
}
