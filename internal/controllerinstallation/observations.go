package controllerinstallation

import (
	"sync"
	"time"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/rollout"
)

// observations remembers what came of looking at each installation. It begins empty with the process: what a status says was seen by an operator that may have
// been away for long, and nobody is judged by that. What was observed for how long goes on from what a status keeps of it.
type observations struct {
	mutex          sync.Mutex
	byInstallation map[string]observation // by the name of the installation
	requested      map[string]bool        // whose next look somebody waits for
	// lastReachedAt is when any seed answered last. While none does, it may well be that the operator itself is cut off.
	lastReachedAt time.Time
}

// observation is what came of looking at an installation in its seed. A look has the time at which it began.
type observation struct {
	// watchedSince is since when that is done without a break, tried when it was done last, and seen when that told last how the installation is.
	watchedSince, triedAt, seenAt time.Time
	// unreachable is true while the seed cannot be reached. Nothing else is known then.
	unreachable bool
	// failure is why the last look could not install what is assigned; nil when it could.
	failure *installFailure
	// assignment is of what the rest tells: what has been observed since then, until marked, and how the installation was at that moment.
	assignment    string
	observed      rollout.Observed
	health        rollout.Health
	observedUntil time.Time
}

// installFailure is what is wrong with a revision. It is about one assignment of it.
type installFailure struct{ assignment, message string }

const (
	// staleAfter is how long looks may fail before what was seen earlier is not trusted any more.
	staleAfter = time.Minute
	// maxObservationInterval bounds what one look may add to what has been observed: in more time than that between two looks nobody was looking, or a clock
	// has jumped.
	maxObservationInterval = 2 * time.Minute
)

func newObservations() *observations {
	return &observations{byInstallation: map[string]observation{}, requested: map[string]bool{}}
}

// observe adds the time since the look before to what has been observed of an installation since an assignment, and returns it. kept is where that begins,
// when nothing is known.
func (o *observations) observe(installation, assignment string, began time.Time, health rollout.Health, stored rollout.Observed) rollout.Observed {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if health != rollout.Hidden {
		o.lastReachedAt = began
	}
	known := o.byInstallation[installation]
	var interval time.Duration
	if known.assignment != assignment {
		known.assignment, known.observed, known.health = assignment, stored, health
	} else {
		interval = min(max(0, began.Sub(known.observedUntil)), maxObservationInterval)
	}
	if known.health == rollout.Hidden && began.Sub(o.lastReachedAt) > maxObservationInterval {
		interval = 0
	}
	known.observed = known.observed.After(interval, known.health, health)
	known.health, known.observedUntil = health, began
	o.byInstallation[installation] = known
	return known.observed
}

// recordSeen notes a look that told how an installation is, or why it cannot be, and reports whether somebody may want to decide by it.
func (o *observations) recordSeen(installation string, began time.Time, refusal *installFailure) bool {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	known := o.byInstallation[installation]
	isFirst := known.seenAt.IsZero()
	if known.watchedSince.IsZero() || known.triedAt.Sub(known.seenAt) > staleAfter {
		known.watchedSince = began
	}
	known.triedAt, known.seenAt, known.unreachable, known.failure = began, began, false, refusal
	o.byInstallation[installation] = known
	return o.consumeRequest(installation) || isFirst || refusal != nil
}

// recordFailed notes a look that has reached the seed and told nothing, and reports whether somebody may want to decide by it.
func (o *observations) recordFailed(installation string, began time.Time) bool {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	known := o.byInstallation[installation]
	isFirst := known.watchedSince.IsZero()
	if isFirst {
		known.watchedSince = began
	}
	known.triedAt, known.unreachable = began, false
	o.byInstallation[installation] = known
	return isFirst || o.requested[installation]
}

// recordUnreachable notes that the seed of an installation cannot be reached, and reports whether somebody may want to decide by it.
func (o *observations) recordUnreachable(installation string, began time.Time) bool {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	known := o.byInstallation[installation]
	wasUnreachable := known.unreachable
	known.unreachable, known.watchedSince, known.triedAt, known.seenAt, known.failure = true, time.Time{}, began, time.Time{}, nil
	o.byInstallation[installation] = known
	return o.consumeRequest(installation) || !wasUnreachable
}

// consumeRequest reports whether somebody has asked for this look, who knows of it now.
func (o *observations) consumeRequest(installation string) bool {
	isRequested := o.requested[installation]
	delete(o.requested, installation)
	return isRequested
}

// requestCheck wants to know of the next look at an installation, and reports whether nobody has asked for it yet.
func (o *observations) requestCheck(installation string) bool {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	wasRequested := o.requested[installation]
	o.requested[installation] = true
	return !wasRequested
}

// forget drops what is known of an installation that is gone.
func (o *observations) forget(installation string) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	delete(o.byInstallation, installation)
	delete(o.requested, installation)
}

// get is zero while nobody has looked at an installation.
func (o *observations) get(installation string) observation {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.byInstallation[installation]
}
