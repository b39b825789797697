package worker

import (
	"sync"
	"testing"

	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/ground"
	"github.com/trellis-garden/trellis/e2e/internal/ground/groundtest"
	"github.com/trellis-garden/trellis/e2e/internal/nodes"
)

// part is one in the life of a shoot's machines. It takes over what the one before has left.
type part struct {
	name string
	play func(*testing.T, *world)
}

// TestWorker leads shoots through their lives, side by side, each with API servers of its own.
func TestWorker(t *testing.T) {
	for _, duty := range nodes.Duties() {
		t.Log("played: " + duty)
	}
	var asked groundtest.Requests
	var lives sync.WaitGroup // t.Parallel would have two at a time on two processors, but they wait more than they work
	lead := func(name string, options ground.Options, life []part, expectedErrors ...string) {
		lives.Go(func() { t.Run(name, func(t *testing.T) { live(t, &asked, options, life, expectedErrors) }) })
	}
	lead("Steady", ground.Options{}, steady())
	lead("InPlace", ground.Options{}, inPlace())
	lead("Restless", ground.Options{Destination: true}, restless())
	lead("Unlucky", ground.Options{}, unlucky(), "the project's quota is used up")
	lives.Wait()
	if !t.Failed() {
		t.Run("Rights", func(t *testing.T) { asked.AssertAllNeeded(t, controller.Worker(), "pods") })
	}
}

// steady is a shoot that nothing happens to but its user's wishes.
func steady() []part {
	return []part{
		{"Create", testCreate},
		{"Again", testAgain},
		{"ScaleUp", testScaleUp},
		{"Roll", testRoll},
		{"Shrink", testShrink},
		{"Delete", testDelete},
	}
}

// inPlace is a shoot whose nodes are never replaced, neither when they are updated, nor when another extension has had them made.
func inPlace() []part {
	return []part{
		{"Create", testCreateInPlace},
		{"Auto", testInPlaceAuto},
		{"Manual", testInPlaceManual},
		{"Delete", testDelete},
		{"TakeOver", testTakeOver},
		{"DeleteTakenOver", testDelete},
	}
}

// restless is a shoot that moves and sleeps.
func restless() []part {
	return []part{
		{"Create", testCreateInGroup},
		{"Move", testMove},
		{"Hibernation", testHibernation},
		{"Delete", testDelete},
	}
}

// unlucky is a shoot to which all the rest happens.
func unlucky() []part {
	return []part{
		{"CrashInCreate", testCrashInCreate},
		{"Quota", testQuota},
		{"Leaders", testLeaders},
		{"CrashInDelete", testCrashInDelete},
		{"ForceDelete", testForceDelete},
	}
}

func live(t *testing.T, asked *groundtest.Requests, options ground.Options, life []part, expectedErrors []string) {
	w := newWorld(t, options)
	groundtest.AssertNoErrors(t, w.Ground, expectedErrors...)
	defer func() { asked.Add(t, controller.Worker(), w.Seeds()...) }()
	for _, part := range life {
		if !t.Run(part.name, func(t *testing.T) { part.play(t, w) }) {
			break // the next would only say the same in more words
		}
	}
}
