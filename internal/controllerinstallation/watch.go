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

// look is when an installation was looked at.
type look struct{ first, last time.Time }

func newWatch() *watch { return &watch{looks: map[string]look{}} }

// seen notes a look that came to an end, and reports whether it is the first one after a break.
func (w *watch) seen(installation string, now time.Time) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	known, watched := w.looks[installation]
	if !watched {
		known.first = now
	}
	known.last = now
	w.looks[installation] = known
	return !watched
}

// lost notes that an installation cannot be looked at, or is gone.
func (w *watch) lost(installation string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	delete(w.looks, installation)
}

func (w *watch) of(installation string) (look, bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	known, watched := w.looks[installation]
	return known, watched
}
