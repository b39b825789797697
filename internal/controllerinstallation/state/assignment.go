package state

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/rollout"
)

// AssignmentKey identifies one assignment of a revision by the annotations that it consists of; it is empty without an assignment.
func AssignmentKey(annotations map[string]string) string {
	if annotations[installationv1alpha1.AnnotationRevision] == "" {
		return ""
	}
	return strings.Join([]string{
		annotations[installationv1alpha1.AnnotationRevision], annotations[installationv1alpha1.AnnotationRevisionSince],
		annotations[installationv1alpha1.AnnotationRevisionTrial],
	}, " ")
}

// DecodeObserved returns the durations in a status that were observed since the assignment with that key.
func DecodeObserved(status *installationv1alpha1.ControllerInstallationStatus, assignment string) rollout.Observed {
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

// EncodeObserved returns the form of it for a status, in whole seconds.
func EncodeObserved(o rollout.Observed, assignment string) *installationv1alpha1.GateObservation {
	seconds := func(d time.Duration) metav1.Duration { return metav1.Duration{Duration: d.Truncate(time.Second)} }
	return &installationv1alpha1.GateObservation{
		Assignment: assignment, Total: seconds(o.Total), Progressing: seconds(o.Progressing), Healthy: seconds(o.Healthy),
		Unhealthy: seconds(o.Unhealthy), UnhealthyTotal: seconds(o.UnhealthyTotal),
		Interruptions: int32(min(o.Interruptions, 1<<20)), Hidden: seconds(o.Hidden),
	}
}
