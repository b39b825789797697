package installationcontroller

import (
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/rollout"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/state"
)

// recordGateObservation adds what the pass has seen to what is known of its installation, and has the status keep that where it matters: with whatever else it says
// anew, and while the revision is on trial, whenever the time has grown by a minute and a fifth. A restart loses no more than that.
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
	isSteady := stored.Healthy < rollout.SteadyAfter && observed.Healthy >= rollout.SteadyAfter // which the next rollout asks for, whoever is leader then
	isNew := isSteady || rec.statusBefore.Gate == nil || rec.statusBefore.Gate.Assignment != assignment || stored.Interruptions != observed.Interruptions
	if isDue || isNew || !equality.Semantic.DeepEqual(rec.statusBefore, rec.status) {
		rec.status.Gate = state.EncodeObserved(observed, assignment)
	}
}

// health is what a pass tells of the installation and its assigned revision. It tells nothing when something else than the seed was in the way.
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
