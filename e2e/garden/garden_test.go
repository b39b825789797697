package garden

import "testing"

// part is a group of related cases. It starts with the garden's state after the previous part.
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
		// The life of a landscape: one seed, on which charts are installed.
		{"Monolith", testMonolith},
		{"Moved", testMoved},
		{"Rendered", testRendered},
		{"Secondary", testSecondary},
		{"OneRolls", testOneRolls},
		{"Gone", testGone},
	}
}

// TestGarden uses one garden for all parts: a process can start only one.
func TestGarden(t *testing.T) {
	env := newEnvironment(t)
	for _, part := range parts() {
		if !t.Run(part.name, func(t *testing.T) { part.run(t, env) }) {
			return
		}
	}
}
