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

// assignmentOf tells one assignment of a revision from all others by the annotations that it consists of; empty where there is none.
func assignmentOf(annotations map[string]string) string {
	if annotations[installationv1alpha1.AnnotationRevision] == "" {
		return ""
	}
	return strings.Join([]string{
		annotations[installationv1alpha1.AnnotationRevision], annotations[installationv1alpha1.AnnotationRevisionSince],
		annotations[installationv1alpha1.AnnotationRevisionTrial],
	}, " ")
}

// keptOf is what a status keeps of what was observed since an assignment.
func keptOf(status *installationv1alpha1.ControllerInstallationStatus, assignment string) rollout.Observed {
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

func gateOf(o rollout.Observed, assignment string) *installationv1alpha1.GateObservation {
	seconds := func(d time.Duration) metav1.Duration { return metav1.Duration{Duration: d.Truncate(time.Second)} }
	return &installationv1alpha1.GateObservation{
		Assignment: assignment, Total: seconds(o.Total), Progressing: seconds(o.Progressing), Healthy: seconds(o.Healthy),
		Unhealthy: seconds(o.Unhealthy), UnhealthyTotal: seconds(o.UnhealthyTotal),
		Interruptions: int32(min(o.Interruptions, 1<<20)), Hidden: seconds(o.Hidden),
	}
}

// observe adds what the pass has seen to what is known of its installation, and has the status keep that where it matters: with whatever else it says
// anew, and while the revision is on trial, whenever the time has grown by a minute and a fifth. A restart loses no more than that.
func (r *installations) observe(p *pass, err error) {
	assignment := assignmentOf(p.installation.Annotations)
	isLook, health := p.health(err)
	if r.inSeed() || !isLook || assignment == "" || p.assignment.revision != p.installation.Annotations[installationv1alpha1.AnnotationRevision] {
		return
	}
	kept := keptOf(p.before, assignment)
	observed := r.watch.observe(p.installation.Name, assignment, p.began, health, kept)
	grown := observed.Total - kept.Total
	isDue := p.assignment.isOnTrial && grown >= max(time.Minute, kept.Total/5)
	isSteady := kept.Healthy < rollout.SteadyAfter && observed.Healthy >= rollout.SteadyAfter // which the next rollout asks for, whoever is leader then
	isNew := isSteady || p.before.Gate == nil || p.before.Gate.Assignment != assignment || kept.Interruptions != observed.Interruptions
	if isDue || isNew || !equality.Semantic.DeepEqual(p.before, p.status) {
		p.status.Gate = gateOf(observed, assignment)
	}
}

// health is what a pass tells of the installation and its assigned revision. It tells nothing when something else than the seed was in the way.
func (p *pass) health(err error) (isLook bool, health rollout.Health) {
	found, isProblem := problem.In(err)
	isToldOf := err == nil || isProblem && isOfRevision(found.Reason)
	switch status := p.status; {
	case isOfSeed(err):
		return true, rollout.Hidden
	case !isToldOf:
		return false, 0
	case status.Revision != p.assignment.revision, status.HealthySince == nil && status.UnhealthySince == nil:
		return true, rollout.Progressing
	case status.HealthySince == nil:
		return true, rollout.Unhealthy
	}
	return true, rollout.Healthy
}
