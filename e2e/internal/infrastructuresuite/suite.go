// Package infrastructuresuite tests an infrastructure-controller for OpenStack, in scenarios that run unchanged on any cloud: the fake, or a real
// one. The binary runs as a process, gardenlet's own code requests operations, and results are read from the seed and from the cloud. The
// package must not depend on the kind of cloud or on the implementation of the controller.
package infrastructuresuite

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/e2e/internal/testenv"
)

// Run runs all scenarios, one after another.
func Run(t *testing.T, f *testenv.Fixture) {
	t.Helper()
	for _, scenario := range []struct {
		name string
		run  func(*testing.T, *testenv.Fixture)
	}{
		{"Lifecycle", testLifecycle},
		{"NoOp", testNoOp},
		{"Budget", testBudget},
		{"Login", testLogin},
		{"Given", testExisting},
		{"Adoption", testAdoption},
		{"DualStack", testDualStack},
		{"Drift", testDrift},
		{"Move", testMove},
		{"Trouble", testCloudFailures},
		{"Crash", testCrash},
		{"HalfMade", testPartialCreation},
		{"Blocked", testBlocked},
		{"Leftovers", testLeftovers},
		{"ForceDelete", testForceDelete},
		{"EveryCall", testEveryCall},
	} {
		t.Run(scenario.name, func(t *testing.T) { scenario.run(t, f) })
	}
}

// oneOfEach are the resources of a default shoot. There are two rules for egress and three for ingress; the port is the router's in the shoot's
// subnet.
func oneOfEach() map[string]int {
	return map[string]int{
		"network": 1, "subnet": 1, "router": 1, "port": 1, "security group": 1, "security group rule": 5, "key pair": 1,
	}
}

// assertOneOfEach asserts that nothing was created twice for the only shoot in the account.
func assertOneOfEach(env *testenv.Env) {
	env.T.Helper()
	assert.Equal(env.T, oneOfEach(), env.CountByKind())
}

// assertEmpty asserts that nothing is left of the only shoot in the account.
func assertEmpty(env *testenv.Env) {
	env.T.Helper()
	assert.Empty(env.T, env.Inventory(), "nothing is left in the cloud")
}
