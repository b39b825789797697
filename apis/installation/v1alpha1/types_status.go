package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ControllerInstallationStatus is the operator's status of an installation (ControllerInstallation.status.providerStatus). The conditions
// report whether the installation is valid, installed, healthy or progressing.
//
// +kubebuilder:object:root=true
type ControllerInstallationStatus struct {
	metav1.TypeMeta `json:",inline"`

	// Operator is the kind of operator that manages the installation: "garden" for an operator that manages many seeds, "seed" for
	// one that runs in the seed.
	// +optional
	Operator string `json:"operator,omitempty"`
	// Revision is the revision that was last applied in the seed: the first characters of a hash over everything that
	// makes a revision.
	// +optional
	Revision string `json:"revision,omitempty"`
	// TargetRevision is the revision to be applied, if it is another one.
	// +optional
	TargetRevision string `json:"targetRevision,omitempty"`
	// Wave is the wave of the rollout that the seed belongs to. It is empty where the operator runs in the seed.
	// +optional
	Wave string `json:"wave,omitempty"`
	// Phase is the phase of the installation.
	// +optional
	Phase Phase `json:"phase,omitempty"`
	// AppliedAt is when revision was first applied.
	// +optional
	AppliedAt *metav1.Time `json:"appliedAt,omitempty"`
	// HealthySince is the time since which the operator has observed the installation as healthy with revision. It is absent while it is
	// not healthy.
	// +optional
	HealthySince *metav1.Time `json:"healthySince,omitempty"`
	// UnhealthySince is the time since which the installation is no longer healthy, after it was healthy with revision.
	// +optional
	UnhealthySince *metav1.Time `json:"unhealthySince,omitempty"`
	// Gate is what the operator has observed since the revision was assigned. It determines whether the revision has failed here; elapsed time
	// alone does not. It is absent where the operator runs in the seed.
	// +optional
	Gate *GateObservation `json:"gate,omitempty"`
	// History are the revisions that the installation had, the latest first, the present one not included.
	// +optional
	History []HistoryEntry `json:"history,omitempty"`
	// LastError is the error that blocks the operator now. It is absent if there is none.
	// +optional
	LastError *LastError `json:"lastError,omitempty"`
}

// Phase is the phase of an installation.
type Phase string

// The phases of an installation (ControllerInstallationStatus.phase).
const (
	PhasePending     Phase = "Pending"     // nothing has been applied yet
	PhaseProgressing Phase = "Progressing" // a revision has been applied, and was not healthy yet
	PhaseHealthy     Phase = "Healthy"     // the installation is healthy with its revision
	PhaseUnhealthy   Phase = "Unhealthy"   // it was healthy with its revision, and is not any more
	PhaseFailed      Phase = "Failed"      // the revision cannot be rendered for this seed, or observing it has failed for a minute; what was applied before stays
	PhaseUnreachable Phase = "Unreachable" // the seed cannot be reached
	PhaseHeld        Phase = "Held"        // the installation is deleted, and kept because it is needed
	PhaseDeleting    Phase = "Deleting"    // the installation is being removed
)

// GateObservation is how long an installation was observed in which state since its revision was assigned. Time in which the operator did not observe
// it is not counted. It is written from time to time only.
type GateObservation struct {
	// Assignment identifies the assignment: the values of the installation's annotations, joined by spaces.
	Assignment string `json:"assignment"`
	// Total is the total time.
	Total metav1.Duration `json:"total"`
	// Progressing is how long it took to become healthy with the revision.
	Progressing metav1.Duration `json:"progressing"`
	// Healthy is how long it has been healthy without becoming unhealthy in between.
	Healthy metav1.Duration `json:"healthy"`
	// Unhealthy is how long it has been continuously unhealthy after it was healthy.
	Unhealthy metav1.Duration `json:"unhealthy"`
	// UnhealthyTotal is how long it was unhealthy in total.
	UnhealthyTotal metav1.Duration `json:"unhealthyTotal"`
	// Interruptions is how often it became unhealthy.
	Interruptions int32 `json:"interruptions"`
	// Hidden grows while the seed is unreachable or the state of the installation is unknown, and shrinks at half the speed while it is
	// known.
	Hidden metav1.Duration `json:"hidden"`
}

// HistoryEntry is a revision that an installation had.
type HistoryEntry struct {
	// Revision is the name of the revision.
	Revision string `json:"revision"`
	// AppliedAt is when it was first applied.
	// +optional
	AppliedAt *metav1.Time `json:"appliedAt,omitempty"`
	// EndedAt is when it was replaced.
	// +optional
	EndedAt *metav1.Time `json:"endedAt,omitempty"`
	// Outcome is the phase of the installation when the revision was replaced.
	Outcome Phase `json:"outcome"`
}

// LastError is an error that blocks the operator.
type LastError struct {
	// Reason is a CamelCase reason. It is the reason of the condition Valid if the registration is at fault.
	Reason string `json:"reason"`
	// Message describes what is wrong and what to do about it.
	Message string `json:"message"`
	// Since is when the error first occurred.
	Since metav1.Time `json:"since"`
}
