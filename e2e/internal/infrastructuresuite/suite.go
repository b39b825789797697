// Package infrastructuresuite tells what an infrastructure-controller for OpenStack does from its first order to its last,
// as scenarios that run unchanged on any cloud: the stand-in, or a real one. The binary is a process, gardenlet's own code
// orders, and what came of it is read from the seed and from the cloud. It must not know which cloud it is on, nor how a
// controller goes about its work.
package infrastructuresuite

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/e2e/internal/testenv"
)

// Run plays all scenarios, one after another.
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

// oneOfEach is what a default shoot consists of. The rules are two for what goes out, three for what comes in; the port is
// the router's in the shoot's subnet.
func oneOfEach() map[string]int {
	return map[string]int{
		"network": 1, "subnet": 1, "router": 1, "port": 1, "security group": 1, "security group rule": 5, "key pair": 1,
	}
}

// assertOneOfEach makes sure that nothing was made twice for the only shoot in the account.
func assertOneOfEach(env *testenv.Env) {
	env.T.Helper()
	assert.Equal(env.T, oneOfEach(), env.CountByKind())
}

// assertEmpty makes sure that nothing is left of the only shoot in the account.
func assertEmpty(env *testenv.Env) {
	env.T.Helper()
	assert.Empty(env.T, env.Inventory(), "nothing is left in the cloud")
}
