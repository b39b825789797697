package installations

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// parallel is how many parts play at a time. They spend most of it waiting.
const parallel = "24"

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", parallel); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// part is about one promise. It finds the garden as the one before has left it.
type part struct {
	name string
	run  func(*testing.T, *environment)
}

// TestInstallations has one garden for all parts: a process starts no second one.
func TestInstallations(t *testing.T) {
	env := newEnvironment(t)
	for _, part := range []part{
		{"Installed", testInstalled},
		// While nothing happens to those that shoots need, everything else happens to others.
		{"Beside", testParallel},
		{"Held", testHeld},
		{"Moved", testMoved},
		{"Forsaken", testMovedWithoutOperator},
		{"Gone", testGone},
	} {
		if !t.Run(part.name, func(t *testing.T) { part.run(t, env) }) {
			return
		}
	}
}

// testParallel plays what does not get into each other's way.
func testParallel(t *testing.T, env *environment) {
	for _, part := range []part{
		{"Quiet", testIdle},
		{"Equal", testEqual},
		{"Broken", testBroken},
		{"Drift", testDrift},
		{"Alone", testWithoutGardenlet},
		{"Managed", testManaged},
		{"Status", testStatus},
	} {
		t.Run(part.name, func(t *testing.T) {
			t.Parallel()
			part.run(t, env)
		})
	}
}
