package garden

import "testing"

// part is about one promise. It finds the garden as the one before has left it.
type part struct {
	name string
	run  func(*testing.T, *environment)
}

func parts() []part {
	return []part{
		{"Forms", testForms},
		{"Refused", testRefused},
		{"Wanted", testRequired},
		{"Unregistered", testUnregistered},
		// The life of a landscape: one seed, on which charts are really installed.
		{"Monolith", testMonolith},
		{"Moved", testMoved},
		{"Rendered", testRendered},
		{"OneRolls", testOneRolls},
		{"Gone", testGone},
	}
}

// TestGarden has one garden for all parts: a process starts no second one.
func TestGarden(t *testing.T) {
	env := newEnvironment(t)
	for _, part := range parts() {
		if !t.Run(part.name, func(t *testing.T) { part.run(t, env) }) {
			return
		}
	}
}
