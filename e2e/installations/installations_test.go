package installations

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// parallel is how many parts run concurrently. They mostly wait.
const parallel = "24"

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", parallel); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// part is a group of related cases. It starts with the garden's state after the previous part.
type part struct {
	name string
	run  func(*testing.T, *environment)
}

// TestInstallations uses one garden for all parts: a process can start only one.
func TestInstallations(t *testing.T) {
	env := newEnvironment(t)
	for _, part := range []part{
		{"Installed", testInstalled},
		// While installations that shoots need stay unchanged, other parts change others.
		{"Beside", testParallel},
		{"Held", testHeld},
		{"Moved", testMoved},
		{"MovedWithoutOperator", testMovedWithoutOperator},
		{"Gone", testGone},
	} {
		if !t.Run(part.name, func(t *testing.T) { part.run(t, env) }) {
			return
		}
	}
}

// testParallel runs parts that do not affect each other.
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
