package state

import (
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/rollout"
)

// Observation is the result of the checks of an installation in its seed. It is the zero value in a new process: what a status says was observed by an
// operator that may have stopped long ago. Only how long something was observed goes on from the status. A check has the time at which it began.
type Observation struct {
	// WatchedSince is since when checks have been made without a break, TriedAt when the last one was made, and SeenAt when one last found out how the
	// installation is.
	WatchedSince, TriedAt, SeenAt time.Time
	// Unreachable is true while the seed cannot be reached. Nothing else is known then.
	Unreachable bool
	// Failure is why the last check could not install the assigned revision; nil if it could.
	Failure *InstallFailure
	// Assignment is the key of the assignment to which Observed belongs.
	Assignment string
	// Observed is what was observed since that assignment, until observedUntil, and health how the installation was at that moment.
	Observed      rollout.Observed
	health        rollout.Health
	observedUntil time.Time
}

// InstallFailure is why an assigned revision cannot be installed. It belongs to the assignment with that key.
type InstallFailure struct{ Assignment, Message string }

const (
	// StaleAfter is how long checks may fail before earlier results are not trusted any more.
	StaleAfter = time.Minute
	// maxObservationInterval bounds what one check may add to what has been observed: if more time has passed between two checks, none was made
	// meanwhile, or a clock has jumped.
	maxObservationInterval = 2 * time.Minute
)

// Observe adds the time since the previous check to what has been observed of an installation since its assignment, and returns the sum. Where the
// store knows nothing of the assignment, stored is what it adds to.
func (s *Store) Observe(installation, assignment string, began time.Time, health rollout.Health, stored rollout.Observed) rollout.Observed {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if health != rollout.Hidden {
		s.lastReachedAt = began
	}
	known := s.observations[installation]
	var interval time.Duration
	if known.Assignment != assignment {
		known.Assignment, known.Observed, known.health = assignment, stored, health
	} else {
		interval = min(max(0, began.Sub(known.observedUntil)), maxObservationInterval)
	}
	if known.health == rollout.Hidden && began.Sub(s.lastReachedAt) > maxObservationInterval {
		interval = 0
	}
	known.Observed = known.Observed.After(interval, known.health, health)
	known.health, known.observedUntil = health, began
	s.observations[installation] = known
	return known.Observed
}

// RecordSeen records a check that found out how an installation is, or why it cannot be installed, and requeues its deployment where a decision may
// depend on that.
func (s *Store) RecordSeen(installation *gardencorev1beta1.ControllerInstallation, began time.Time, failure *InstallFailure) {
	s.record(installation, func(known *Observation) (isNews bool) {
		isFirst := known.SeenAt.IsZero()
		if known.WatchedSince.IsZero() || known.TriedAt.Sub(known.SeenAt) > StaleAfter {
			known.WatchedSince = began
		}
		known.TriedAt, known.SeenAt, known.Unreachable, known.Failure = began, began, false, failure
		return s.consumeRequest(installation.Name) || isFirst || failure != nil
	})
}

// RecordFailed records a check that reached the seed without a result, and requeues the deployment where a decision may depend on that.
func (s *Store) RecordFailed(installation *gardencorev1beta1.ControllerInstallation, began time.Time) {
	s.record(installation, func(known *Observation) (isNews bool) {
		isFirst := known.WatchedSince.IsZero()
		if isFirst {
			known.WatchedSince = began
		}
		known.TriedAt, known.Unreachable = began, false
		return isFirst || s.requested[installation.Name]
	})
}

// RecordUnreachable records that the seed of an installation cannot be reached, and requeues the deployment where a decision may depend on that.
func (s *Store) RecordUnreachable(installation *gardencorev1beta1.ControllerInstallation, began time.Time) {
	s.record(installation, func(known *Observation) (isNews bool) {
		wasUnreachable := known.Unreachable
		known.Unreachable, known.WatchedSince, known.TriedAt, known.SeenAt, known.Failure = true, time.Time{}, began, time.Time{}, nil
		return s.consumeRequest(installation.Name) || !wasUnreachable
	})
}

// record applies a change, which runs with the mutex held, and requeues the deployment of the installation if it is news.
func (s *Store) record(installation *gardencorev1beta1.ControllerInstallation, change func(*Observation) (isNews bool)) {
	s.mutex.Lock()
	known := s.observations[installation.Name]
	isNews := change(&known)
	s.observations[installation.Name] = known
	s.mutex.Unlock()
	if ref := installation.Spec.DeploymentRef; isNews && ref != nil {
		s.changedDeployments.add(ref.Name)
	}
}

// consumeRequest reports whether the next result was requested, and removes the request.
func (s *Store) consumeRequest(installation string) bool {
	isRequested := s.requested[installation]
	delete(s.requested, installation)
	return isRequested
}

// RequestCheck requeues an installation, unless that was requested before: its deployment is requeued when there is a result.
func (s *Store) RequestCheck(installation string) {
	s.mutex.Lock()
	wasRequested := s.requested[installation]
	s.requested[installation] = true
	s.mutex.Unlock()
	if !wasRequested {
		s.changedInstallations.add(installation)
	}
}

// ForgetInstallation removes what is known of an installation that was deleted, or is not the operator's any more.
func (s *Store) ForgetInstallation(installation string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.observations, installation)
	delete(s.requested, installation)
}

// Observation returns the zero value while an installation has not been checked.
func (s *Store) Observation(installation string) Observation {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.observations[installation]
}
