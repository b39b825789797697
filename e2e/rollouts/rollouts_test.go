package rollouts

import "testing"

// part is about one promise. It finds the landscape as the one before has left it, and makes up for those that did not run.
type part struct {
	name string
	run  func(*testing.T, *environment)
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
	env := newEnvironment(t)
	for _, part := range parts() {
		if !t.Run(part.name, func(t *testing.T) { part.run(t, env) }) {
			return
		}
	}
}

// ensureInstalled makes sure that something good is installed everywhere.
func (env *environment) ensureInstalled(t *testing.T) {
	t.Helper()
	if env.contentValue == "" {
		testFirst(t, env)
	}
}

// ensureFailed makes sure that the newest revision has failed.
func (env *environment) ensureFailed(t *testing.T) {
	t.Helper()
	env.ensureInstalled(t)
	if known := env.revisions(t); known[len(known)-1].result != bad {
		testBroken(t, env)
	}
}
