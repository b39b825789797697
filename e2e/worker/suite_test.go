package worker

import (
	"sync"
	"testing"

	"github.com/trellis-garden/trellis/e2e/internal/clusters"
	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/nodes"
)

// part is one in the life of a shoot's machines. It takes over what the one before has left.
type part struct {
	name string
	run  func(*testing.T, *environment)
}

// newEnvironmentFunc returns the environment of a shoot in a cloud.
type newEnvironmentFunc func(*testing.T, clusters.Options) *environment

// TestWorker leads shoots through their lives, side by side, each with API servers of its own.
func TestWorker(t *testing.T) {
	for _, duty := range nodes.Duties() {
		t.Log("simulated: " + duty)
	}
	var requests clusterstest.Requests
	var runs sync.WaitGroup // t.Parallel would have two at a time on two processors, but they wait more than they work
	start := func(name string, environment newEnvironmentFunc, options clusters.Options, parts []part, expectedErrors ...string) {
		runs.Go(func() {
			t.Run(name, func(t *testing.T) { runParts(t, &requests, environment(t, options), parts, expectedErrors) })
		})
	}
	start("Steady", newEnvironment, clusters.Options{}, regularParts())
	start("InPlace", newEnvironment, clusters.Options{}, inPlaceParts())
	start("Restless", newEnvironment, clusters.Options{Seeds: 2}, moveParts())
	start("Unlucky", newEnvironment, clusters.Options{}, failureParts(), "the project's quota is used up")
	start("AWS", newAWSEnvironment, clusters.Options{}, adoptionParts())
	runs.Wait()
	if !t.Failed() {
		t.Run("Rights", func(t *testing.T) { requests.AssertAllNeeded(t, controller.Worker(), "pods") })
	}
}

// regularParts is a shoot that nothing happens to but its user's wishes.
func regularParts() []part {
	return []part{
		{"Create", testCreate},
		{"Again", testNoOp},
		{"ScaleUp", testScaleUp},
		{"Roll", testRoll},
		{"Shrink", testShrink},
		{"Delete", testDelete},
	}
}

// inPlaceParts is a shoot whose nodes are never replaced, neither when they are updated, nor when another extension has had them made.
func inPlaceParts() []part {
	return []part{
		{"Create", testCreateInPlace},
		{"Auto", testInPlaceAuto},
		{"Manual", testInPlaceManual},
		{"Delete", testDelete},
		{"TakeOver", testAdoption},
		{"DeleteTakenOver", testDelete},
	}
}

// adoptionParts is a shoot that upstream's extension has created.
func adoptionParts() []part {
	return []part{{"TakeOver", testAdoption}, {"DeleteTakenOver", testDelete}}
}

// moveParts is a shoot that moves and sleeps.
func moveParts() []part {
	return []part{
		{"Create", testCreateInGroup},
		{"Move", testMove},
		{"Hibernation", testHibernation},
		{"Delete", testDelete},
	}
}

// failureParts is a shoot to which all the rest happens.
func failureParts() []part {
	return []part{
		{"CrashInCreate", testCrashInCreate},
		{"Quota", testQuota},
		{"Leaders", testLeaders},
		{"CrashInDelete", testCrashInDelete},
		{"ForceDelete", testForceDelete},
	}
}

func runParts(t *testing.T, requests *clusterstest.Requests, env *environment, parts []part, expectedErrors []string) {
	clusterstest.AssertNoErrors(t, env.Clusters, expectedErrors...)
	defer func() { requests.Add(t, env.what, env.Seeds...) }()
	for _, part := range parts {
		if !t.Run(part.name, func(t *testing.T) { part.run(t, env) }) {
			break // the next would only say the same in more words
		}
	}
}
