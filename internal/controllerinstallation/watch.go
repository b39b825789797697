package controllerinstallation

import (
	"sync"
	"time"
)

// watch remembers what came of looking at each installation. It begins empty with the process: what a status says was seen by an operator that may have
// been away for long, and nobody is judged by that.
type watch struct {
	mutex sync.Mutex
	looks map[string]look // by the name of the installation
	asked map[string]bool // whose next look somebody waits for
}

// look is what came of looking at an installation in its seed. A look has the time at which it began.
type look struct {
	// first is since when that is done without a break, tried when it was done last, and seen when that told last how the installation is.
	first, tried, seen time.Time
	// lost is true while the seed cannot be reached. Nothing else is known then.
	lost bool
	// refusal is why the last look could not install what is assigned; nil when it could.
	refusal *refusal
}

// refusal is what is wrong with a revision.
type refusal struct{ revision, message string }

// breakAfter is how long looks may fail before what was seen earlier is not trusted any more.
const breakAfter = time.Minute

func newWatch() *watch { return &watch{looks: map[string]look{}, asked: map[string]bool{}} }

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
	isAsked := w.asked[installation]
	delete(w.asked, installation)
	return isFirst || isAsked || refusal != nil
}

// failed notes a look that has reached the seed and told nothing, and reports whether somebody may want to decide by it.
func (w *watch) failed(installation string, began time.Time) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	known := w.looks[installation]
	isFirst := known.tried.IsZero()
	if isFirst {
		known.first = began
	}
	known.tried, known.lost = began, false
	w.looks[installation] = known
	return isFirst || w.asked[installation]
}

// lost notes that the seed of an installation cannot be reached, and reports whether that is new.
func (w *watch) lost(installation string) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	wasLost := w.looks[installation].lost
	w.looks[installation] = look{lost: true}
	return !wasLost
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
