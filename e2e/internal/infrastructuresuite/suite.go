// Package infrastructuresuite tests an infrastructure-controller in scenarios that run unchanged on any cloud of a provider: a fake, or a real one. Some
// scenarios are the same for all providers, others need resources of one. The binary runs as a process, gardenlet's own code requests operations, and
// results are read from the seed and from the cloud. The package must not depend on the kind of cloud or on the implementation of the controller.
package infrastructuresuite

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/e2e/internal/aws"
	"github.com/trellis-garden/trellis/e2e/internal/cloud"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/testenv"
)

// OpenStack returns the provider whose clouds a function opens.
func OpenStack(open func() (cloud.Cloud, error)) testenv.Provider {
	return testenv.Provider{
		Type: openstack.Type, OpenCloud: open, Logins: 1,
		// There are two rules for egress and three for ingress; the port is the router's in the shoot's subnet.
		Resources: map[string]int{
			"network": 1, "subnet": 1, "router": 1, "port": 1, "security group": 1, "security group rule": 5, "key pair": 1,
		},
	}
}

// AWS returns the provider with fakes as its clouds. Requests of an access key are signed, so there is no login.
func AWS() testenv.Provider {
	return testenv.Provider{Type: aws.Type, OpenCloud: aws.FakeReady(0), Resources: aws.Resources()}
}

// Run runs all scenarios of the provider, one after another.
func Run(t *testing.T, f *testenv.Fixture) {
	t.Helper()
	for _, scenario := range []struct {
		name string
		run  func(*testing.T, *testenv.Fixture)
		// only is the provider type whose resources the scenario needs; none if it is the same for all.
		only string
	}{
		{"Lifecycle", testLifecycle, openstack.Type},
		{"TwoShoots", testTwoShoots, aws.Type},
		{"NoOp", testNoOp, ""},
		{"Budget", testBudget, openstack.Type},
		{"Login", testLogin, openstack.Type},
		{"Given", testExisting, openstack.Type},
		{"Adoption", testAdoption, openstack.Type},
		{"DualStack", testDualStack, openstack.Type},
		{"Drift", testDrift, openstack.Type},
		{"Move", testMove, ""},
		{"Trouble", testCloudFailures, ""},
		{"Crash", testCrash, openstack.Type},
		{"HalfMade", testPartialCreation, openstack.Type},
		{"Blocked", testBlocked, openstack.Type},
		{"Leftovers", testLeftovers, openstack.Type},
		{"ForceDelete", testForceDelete, ""},
		{"EveryCall", testEveryCall, openstack.Type},
	} {
		if scenario.only == "" || scenario.only == f.Provider.Type {
			t.Run(scenario.name, func(t *testing.T) { scenario.run(t, f) })
		}
	}
}

// assertOneOfEach asserts that nothing was created twice for the only shoot in the account.
func assertOneOfEach(env *testenv.Env) {
	env.T.Helper()
	assert.Equal(env.T, env.Provider.Resources, env.CountByKind())
}

// assertEmpty asserts that nothing is left of the only shoot in the account.
func assertEmpty(env *testenv.Env) {
	env.T.Helper()
	assert.Empty(env.T, env.Inventory(), "nothing is left in the cloud")
}
