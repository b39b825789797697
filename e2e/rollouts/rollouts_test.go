package rollouts

import "testing"

// part is about one promise. It finds the landscape as the one before has left it, and makes up for those that did not run.
type part struct {
	name string
	play func(*testing.T, *world)
}

func parts() []part {
	return []part{
		{"First", testFirst},
		{"Waves", testWaves},
		{"Paused", testPaused},
		{"Unreachable", testUnreachable},
		{"Hidden", testHidden},
		{"CutOff", testCutOff},
		{"Broken", testBroken},
		{"Retry", testRetry},
		{"Deleted", testDeleted},
	}
}

// TestRollouts has one landscape for all parts: a process starts no second garden.
func TestRollouts(t *testing.T) {
	w := newWorld(t)
	for _, part := range parts() {
		if !t.Run(part.name, func(t *testing.T) { part.play(t, w) }) {
			return
		}
	}
}

// begun makes sure that something good is installed everywhere.
func (w *world) begun(t *testing.T) {
	t.Helper()
	if w.word == "" {
		testFirst(t, w)
	}
}

// failed makes sure that the newest revision has failed.
func (w *world) failed(t *testing.T) {
	t.Helper()
	w.begun(t)
	if known := w.revisions(t); known[len(known)-1].verdict != bad {
		testBroken(t, w)
	}
}
