package controllerinstallation

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/rollout"
)

// assignmentKey tells one assignment of a revision from all others by the annotations that it consists of; empty where there is none.
func assignmentKey(annotations map[string]string) string {
	if annotations[installationv1alpha1.AnnotationRevision] == "" {
		return ""
	}
	return strings.Join([]string{
		annotations[installationv1alpha1.AnnotationRevision], annotations[installationv1alpha1.AnnotationRevisionSince],
		annotations[installationv1alpha1.AnnotationRevisionTrial],
	}, " ")
}

// storedObserved is what a status keeps of what was observed since an assignment.
func storedObserved(status *installationv1alpha1.ControllerInstallationStatus, assignment string) rollout.Observed {
	gate := status.Gate
	if gate == nil || gate.Assignment != assignment {
		return rollout.Observed{}
	}
	return rollout.Observed{
		Total: gate.Total.Duration, Progressing: gate.Progressing.Duration, Healthy: gate.Healthy.Duration,
		Unhealthy: gate.Unhealthy.Duration, UnhealthyTotal: gate.UnhealthyTotal.Duration,
		Interruptions: int(gate.Interruptions), Hidden: gate.Hidden.Duration,
	}
}

func gateObservationOf(o rollout.Observed, assignment string) *installationv1alpha1.GateObservation {
	seconds := func(d time.Duration) metav1.Duration { return metav1.Duration{Duration: d.Truncate(time.Second)} }
	return &installationv1alpha1.GateObservation{
		Assignment: assignment, Total: seconds(o.Total), Progressing: seconds(o.Progressing), Healthy: seconds(o.Healthy),
		Unhealthy: seconds(o.Unhealthy), UnhealthyTotal: seconds(o.UnhealthyTotal),
		Interruptions: int32(min(o.Interruptions, 1<<20)), Hidden: seconds(o.Hidden),
	}
}

// recordGateObservation adds what the pass has seen to what is known of its installation, and has the status keep that where it matters: with whatever else it says
// anew, and while the revision is on trial, whenever the time has grown by a minute and a fifth. A restart loses no more than that.
func (r *installations) recordGateObservation(rec *reconciliation, err error) {
	assignment := assignmentKey(rec.installation.Annotations)
	isKnown, health := rec.health(err)
	if r.inSeed() || !isKnown || assignment == "" || rec.assignment.revision != rec.installation.Annotations[installationv1alpha1.AnnotationRevision] {
		return
	}
	stored := storedObserved(rec.statusBefore, assignment)
	observed := r.observations.observe(rec.installation.Name, assignment, rec.startedAt, health, stored)
	grown := observed.Total - stored.Total
	isDue := rec.assignment.isOnTrial && grown >= max(time.Minute, stored.Total/5)
	isSteady := stored.Healthy < rollout.SteadyAfter && observed.Healthy >= rollout.SteadyAfter // which the next rollout asks for, whoever is leader then
	isNew := isSteady || rec.statusBefore.Gate == nil || rec.statusBefore.Gate.Assignment != assignment || stored.Interruptions != observed.Interruptions
	if isDue || isNew || !equality.Semantic.DeepEqual(rec.statusBefore, rec.status) {
		rec.status.Gate = gateObservationOf(observed, assignment)
	}
}

// health is what a pass tells of the installation and its assigned revision. It tells nothing when something else than the seed was in the way.
func (rec *reconciliation) health(err error) (isKnown bool, health rollout.Health) {
	found, isProblem := problem.In(err)
	isReported := err == nil || isProblem && isRevisionProblem(found.Reason)
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
