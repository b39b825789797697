package controlplane

import (
	"testing"

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
)

// TestControlPlane takes one shoot through its life, and through three more that begin or end in other ways. All parts share the API servers; each
// starts with the state after the previous one.
func TestControlPlane(t *testing.T) {
	env := newEnvironment(t)
	clusterstest.AssertNoErrors(t, env.Clusters)
	for _, part := range []struct {
		name string
		run  func(*testing.T, *environment)
	}{
		{"Create", testCreate},
		{"CloudControllerManager", testCloudControllerManager},
		{"DryRun", testDryRun},
		{"Again", testNoOp},
		{"NativeRouting", testNativeRouting},
		{"Manila", testManila},
		{"Versions", testVersions},
		{"Credentials", testCredentials},
		{"SameAsGardener", testSameAsGardener},
		{"Hibernation", testHibernation},
		{"Move", testMove},
		{"Delete", testDelete},
		{"TakeOver", testAdoption},
		{"DeleteTakenOver", testDeleteAdopted},
		{"CreateAfterCrash", testCreateAfterCrash},
		{"ForceDelete", testForceDelete},
	} {
		if !t.Run(part.name, func(t *testing.T) { part.run(t, env) }) {
			break // the next would only say the same in more words
		}
	}
	complete := !t.Failed()
	t.Run("Rights", func(t *testing.T) { testRights(t, env, complete) })
}

// testRights asserts that the controller has all rights that it uses and, after all parts were run, no others. It reads its namespace when it
// registers webhooks, which are not served here, and pods when a component has been unhealthy for long. Only shoots in AWS have webhooks that it serves.
func testRights(t *testing.T, env *environment, all bool) {
	if env.controller != nil {
		env.stopController(t)
	}
	var requests clusterstest.Requests
	requests.Add(t, controller.ControlPlane(), env.Seeds...)
	if all {
		requests.AssertAllNeeded(t, controller.ControlPlaneFor("openstack"), "namespaces", "pods")
	}
}
