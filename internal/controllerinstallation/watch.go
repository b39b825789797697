package controllerinstallation

import (
	"sync"
	"time"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/rollout"
)

// watch remembers what came of looking at each installation. It begins empty with the process: what a status says was seen by an operator that may have
// been away for long, and nobody is judged by that. What was observed for how long goes on from what a status keeps of it.
type watch struct {
	mutex sync.Mutex
	looks map[string]look // by the name of the installation
	asked map[string]bool // whose next look somebody waits for
	// reached is when any seed answered last. While none does, it may well be that the operator itself is cut off.
	reached time.Time
}

// look is what came of looking at an installation in its seed. A look has the time at which it began.
type look struct {
	// first is since when that is done without a break, tried when it was done last, and seen when that told last how the installation is.
	first, tried, seen time.Time
	// lost is true while the seed cannot be reached. Nothing else is known then.
	lost bool
	// refusal is why the last look could not install what is assigned; nil when it could.
	refusal *refusal
	// assignment is of what the rest tells: what has been observed since then, until marked, and how the installation was at that moment.
	assignment string
	observed   rollout.Observed
	health     rollout.Health
	marked     time.Time
}

// refusal is what is wrong with a revision. It is about one assignment of it.
type refusal struct{ assignment, message string }

const (
	// breakAfter is how long looks may fail before what was seen earlier is not trusted any more.
	breakAfter = time.Minute
	// longestInterval bounds what one look may add to what has been observed: in more time than that between two looks nobody was looking, or a clock
	// has jumped.
	longestInterval = 2 * time.Minute
)

func newWatch() *watch { return &watch{looks: map[string]look{}, asked: map[string]bool{}} }

// observe adds the time since the look before to what has been observed of an installation since an assignment, and returns it. kept is where that begins,
// when nothing is known.
func (w *watch) observe(installation, assignment string, began time.Time, health rollout.Health, kept rollout.Observed) rollout.Observed {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if health != rollout.Hidden {
		w.reached = began
	}
	known := w.looks[installation]
	var interval time.Duration
	if known.assignment != assignment {
		known.assignment, known.observed, known.health = assignment, kept, health
	} else {
		interval = min(max(0, began.Sub(known.marked)), longestInterval)
	}
	if known.health == rollout.Hidden && began.Sub(w.reached) > longestInterval {
		interval = 0
	}
	known.observed = known.observed.After(interval, known.health, health)
	known.health, known.marked = health, began
	w.looks[installation] = known
	return known.observed
}

// seen notes a look that told how an installation is, or why it cannot be, and reports whether somebody may want to decide by it.
func (w *watch) seen(installation string, began time.Time, refusal *refusal) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	known := w.looks[installation]
	isFirst := known.seen.IsZero()
	if known.first.IsZero() || known.tried.Sub(known.seen) > breakAfter {
		known.first = began
	}
	known.tried, known.seen, known.lost, known.refusal = began, began, false, refusal
	w.looks[installation] = known
	return w.isAwaited(installation) || isFirst || refusal != nil
}

// failed notes a look that has reached the seed and told nothing, and reports whether somebody may want to decide by it.
func (w *watch) failed(installation string, began time.Time) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	known := w.looks[installation]
	isFirst := known.first.IsZero()
	if isFirst {
		known.first = began
	}
	known.tried, known.lost = began, false
	w.looks[installation] = known
	return isFirst || w.asked[installation]
}

// lost notes that the seed of an installation cannot be reached, and reports whether somebody may want to decide by it.
func (w *watch) lost(installation string, began time.Time) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	known := w.looks[installation]
	wasLost := known.lost
	known.lost, known.first, known.tried, known.seen, known.refusal = true, time.Time{}, began, time.Time{}, nil
	w.looks[installation] = known
	return w.isAwaited(installation) || !wasLost
}

// isAwaited reports whether somebody has asked for this look, who knows of it now.
func (w *watch) isAwaited(installation string) bool {
	isAsked := w.asked[installation]
	delete(w.asked, installation)
	return isAsked
}

// ask wants to know of the next look at an installation, and reports whether nobody has asked for it yet.
func (w *watch) ask(installation string) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	wasAsked := w.asked[installation]
	w.asked[installation] = true
	return !wasAsked
}

// forget drops what is known of an installation that is gone.
func (w *watch) forget(installation string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	delete(w.looks, installation)
	delete(w.asked, installation)
}

// of is zero while nobody has looked at an installation.
func (w *watch) of(installation string) look {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.looks[installation]
}
