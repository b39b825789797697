package controllerinstallation

import (
	"sync"
	"time"
)

// watch remembers since when each installation is looked at without a break. It begins empty with the process: what a status says was seen by an operator
// that may have been away for long, and nobody is judged by that.
type watch struct {
	mutex sync.Mutex
	looks map[string]look // by the name of the installation
}

// look is when an installation was looked at. It is zero after a look that failed.
type look struct{ first, last time.Time }

func (l look) succeeded() bool { return !l.first.IsZero() }

func newWatch() *watch { return &watch{looks: map[string]look{}} }

// seen notes a look that came to an end, and reports whether it is the first one after a break.
func (w *watch) seen(installation string, now time.Time) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	known := w.looks[installation]
	isFirst := !known.succeeded()
	if isFirst {
		known.first = now
	}
	known.last = now
	w.looks[installation] = known
	return isFirst
}

// lost notes that the seed of an installation cannot be reached, and reports whether that is the first thing known of it.
func (w *watch) lost(installation string) bool {
	isFirst := w.failed(installation)
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.looks[installation] = look{}
	return isFirst
}

// failed notes a look that says nothing of the installation, and reports whether it was the first one.
func (w *watch) failed(installation string) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	known, found := w.looks[installation]
	w.looks[installation] = known
	return !found
}

// forget drops what is known of an installation that is gone.
func (w *watch) forget(installation string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	delete(w.looks, installation)
}

// of reports whether anybody has tried to look at an installation, and since when that succeeds.
func (w *watch) of(installation string) (look, bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	known, found := w.looks[installation]
	return known, found
}
