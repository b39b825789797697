package controlplane

import (
	"testing"

	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/ground/groundtest"
)

// TestControlPlane leads one shoot through its life, and through three more that begin or end in other ways. All parts share
// the API servers; each takes over what the one before has left.
func TestControlPlane(t *testing.T) {
	w := newWorld(t)
	groundtest.AssertNoErrors(t, w.Ground)
	for _, part := range []struct {
		name string
		play func(*testing.T, *world)
	}{
		{"Create", testCreate},
		{"CloudControllerManager", testCloudControllerManager},
		{"DryRun", testDryRun},
		{"Again", testAgain},
		{"NativeRouting", testNativeRouting},
		{"Manila", testManila},
		{"Versions", testVersions},
		{"Credentials", testCredentials},
		{"SameAsGardener", testSameAsGardener},
		{"Hibernation", testHibernation},
		{"Move", testMove},
		{"Delete", testDelete},
		{"TakeOver", testTakeOver},
		{"DeleteTakenOver", testDeleteTakenOver},
		{"CreateAfterCrash", testCreateAfterCrash},
		{"ForceDelete", testForceDelete},
	} {
		if !t.Run(part.name, func(t *testing.T) { part.play(t, w) }) {
			break // the next would only say the same in more words
		}
	}
	complete := !t.Failed()
	t.Run("Rights", func(t *testing.T) { testRights(t, w, complete) })
}

// testRights makes sure that the controller has all rights that it uses; and, when all parts were played, no others. It asks for its
// namespace when it registers webhooks, which are not served here, and for pods when a component has been ill for long.
func testRights(t *testing.T, w *world, all bool) {
	if w.controller != nil {
		w.stopController(t)
	}
	var asked groundtest.Requests
	asked.Add(t, controller.ControlPlane(), w.Seeds()...)
	if all {
		asked.AssertAllNeeded(t, controller.ControlPlane(), "namespaces", "pods")
	}
}
