package garden

import "testing"

// part is about one promise. It finds the garden as the one before has left it.
type part struct {
	name string
	play func(*testing.T, *ground)
}

func parts() []part {
	return []part{
		{"Forms", testForms},
		{"Refused", testRefused},
		{"Wanted", testWanted},
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
	g := newGround(t)
	for _, part := range parts() {
		if !t.Run(part.name, func(t *testing.T) { part.play(t, g) }) {
			return
		}
	}
}
