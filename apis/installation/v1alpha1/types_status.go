package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ControllerInstallationStatus is what the operator says about an installation (ControllerInstallation.status.providerStatus). Whether the
// installation is valid, installed, healthy or progressing is said by its conditions.
//
// +kubebuilder:object:root=true
type ControllerInstallationStatus struct {
	metav1.TypeMeta `json:",inline"`

	// Operator is who serves the installation: "garden" for an operator that serves many seeds, "seed" for one that runs in the seed.
	// +optional
	Operator string `json:"operator,omitempty"`
	// Revision is what was last applied in the seed, the first characters of a hash over all that makes a revision.
	// +optional
	Revision string `json:"revision,omitempty"`
	// TargetRevision is what is to be applied, where that is another one.
	// +optional
	TargetRevision string `json:"targetRevision,omitempty"`
	// Wave is the wave of the rollout that the seed belongs to. It is empty where the operator runs in the seed.
	// +optional
	Wave string `json:"wave,omitempty"`
	// Phase is where the installation is.
	// +optional
	Phase Phase `json:"phase,omitempty"`
	// AppliedAt is when revision was first applied.
	// +optional
	AppliedAt *metav1.Time `json:"appliedAt,omitempty"`
	// HealthySince is since when the installation is healthy with revision, as far as the operator has seen. It is absent while it is not.
	// +optional
	HealthySince *metav1.Time `json:"healthySince,omitempty"`
	// UnhealthySince is since when the installation is not healthy any more, after it was with revision.
	// +optional
	UnhealthySince *metav1.Time `json:"unhealthySince,omitempty"`
	// Gate is what the operator has observed since the revision was assigned. Whether the revision has failed here is decided by that, and not by a
	// clock. It is absent where the operator runs in the seed.
	// +optional
	Gate *GateObservation `json:"gate,omitempty"`
	// History are the revisions that the installation had, the latest first, the present one not included.
	// +optional
	History []HistoryEntry `json:"history,omitempty"`
	// LastError is what keeps the operator from its work now. It is absent when nothing does.
	// +optional
	LastError *LastError `json:"lastError,omitempty"`
}

// Phase is where an installation is.
type Phase string

// The phases of an installation (ControllerInstallationStatus.phase).
const (
	PhasePending     Phase = "Pending"     // nothing has been applied yet
	PhaseProgressing Phase = "Progressing" // a revision has been applied, and was not healthy yet
	PhaseHealthy     Phase = "Healthy"     // the installation is healthy with its revision
	PhaseUnhealthy   Phase = "Unhealthy"   // it was healthy with its revision, and is not any more
	PhaseFailed      Phase = "Failed"      // the revision cannot be rendered for this seed, or looking there has failed for a minute; what was applied before stays
	PhaseUnreachable Phase = "Unreachable" // the seed cannot be reached
	PhaseHeld        Phase = "Held"        // the installation is deleted, and kept because it is needed
	PhaseDeleting    Phase = "Deleting"    // the installation is being removed
)

// GateObservation is for how long an installation was seen to be how, since it was assigned its revision. Time in which the operator did not look is not
// counted. It is written from time to time only.
type GateObservation struct {
	// Assignment says since which assignment: annotations of the installation, one after the other.
	Assignment string `json:"assignment"`
	// Total is all of it.
	Total metav1.Duration `json:"total"`
	// Progressing is how long it took to become healthy with the revision.
	Progressing metav1.Duration `json:"progressing"`
	// Healthy is how long it has been healthy without becoming unhealthy in between.
	Healthy metav1.Duration `json:"healthy"`
	// Unhealthy is how long it has been unhealthy, after it was healthy, without a break.
	Unhealthy metav1.Duration `json:"unhealthy"`
	// UnhealthyTotal is how long it was that in all.
	UnhealthyTotal metav1.Duration `json:"unhealthyTotal"`
	// Interruptions is how often it became unhealthy.
	Interruptions int32 `json:"interruptions"`
	// Hidden grows while the seed is unreachable, or does not tell how the installation is, and shrinks at half the speed while it does.
	Hidden metav1.Duration `json:"hidden"`
}

// HistoryEntry is a revision that an installation had.
type HistoryEntry struct {
	// Revision is its name.
	Revision string `json:"revision"`
	// AppliedAt is when it was first applied.
	// +optional
	AppliedAt *metav1.Time `json:"appliedAt,omitempty"`
	// EndedAt is when it was replaced.
	// +optional
	EndedAt *metav1.Time `json:"endedAt,omitempty"`
	// Outcome is how the installation was when the revision was replaced.
	Outcome Phase `json:"outcome"`
}

// LastError is what keeps the operator from its work.
type LastError struct {
	// Reason is a word, that of the condition Valid where the fault is in what was registered.
	Reason string `json:"reason"`
	// Message says what is wrong and what to do about it.
	Message string `json:"message"`
	// Since is when it began.
	Since metav1.Time `json:"since"`
}
