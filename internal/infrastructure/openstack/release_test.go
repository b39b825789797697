package openstack

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// givenResource is something that a user gives.
type givenResource struct {
	give        func(w *environment)
	key         string
	failingPath string // path of a write that comes after the gift is recorded
}

func givenResources() map[string]givenResource {
	const groups, routers = "/v2.0/security-groups", "/v2.0/routers"
	return map[string]givenResource{
		"network": {
			func(env *environment) {
				env.config.Networks.ID = new(env.plant("networks", fake.Attrs{"name": "theirs"}))
			}, "Network", "/v2.0/routers/{id}/add_router_interface",
		},
		"router": {
			func(env *environment) {
				env.config.Networks.Router = &openstackv1alpha1.Router{ID: env.plantRouter("theirs")}
			}, "Router", "/v2.0/security-group-rules",
		},
		"security group": {
			func(env *environment) {
				env.config.Networks.SecurityGroupID = new(env.plant("security-groups", fake.Attrs{"name": "theirs"}))
			}, "SecurityGroup", routers,
		},
		"network and subnet": {
			func(env *environment) {
				network := env.plant("networks", fake.Attrs{"name": "theirs"})
				env.config.Networks = openstackv1alpha1.Networks{ID: &network, SubnetID: new(env.plantSubnet(network, "theirs", "10.250.0.0/19"))}
			}, "Subnet", groups,
		},
		"network, subnet and router": {
			func(env *environment) {
				network := env.plant("networks", fake.Attrs{"name": "theirs"})
				env.config.Networks = openstackv1alpha1.Networks{
					ID: &network, SubnetID: new(env.plantSubnet(network, "theirs", "10.250.0.0/19")),
					Router: &openstackv1alpha1.Router{ID: env.plantRouter("theirs")},
				}
			}, "Subnet", groups,
		},
	}
}

// failures are those at which a first pass can fail: as soon as the gift is recorded, or when all else is done.
func (g givenResource) failures() map[string]func(env *environment) {
	return map[string]func(env *environment){
		"early": func(env *environment) {
			env.cloud.Inject(wire.Fault{Match: wire.Match{Path: g.failingPath, WritesOnly: true}, Status: 500})
			_, err := env.reconcile()
			require.Error(env.t, err)
		},
		"late": (*environment).failAtEnd,
	}
}

// failAtEnd makes a pass that fails when everything is done.
func (env *environment) failAtEnd() {
	env.mustReconcile()
	state := env.state()
	delete(state, keyConfig)
	env.infra.Status.State = env.marshal(map[string]any{
		"apiVersion": openstackv1alpha1.GroupVersion().String(), "kind": "InfrastructureState", "data": state,
	})
	env.infra.Status.ProviderStatus = nil
}

// assertRemaining asserts that the user's gifts are left, so many of each, and nothing else.
func (g givenResource) assertRemaining(env *environment, count int) {
	env.t.Helper()
	reference := newEnvironment(env.t)
	for range count {
		g.give(reference)
	}
	assert.Equal(env.t, countByKind(reference.resources()), countByKind(env.resources()))
}

func TestOwnership_GivenResourceStaysGiven(t *testing.T) {
	for name, resource := range givenResources() {
		for moment, fail := range resource.failures() {
			failed := func(t *testing.T) (env *environment, id string) {
				env = newEnvironment(t)
				resource.give(env)
				fail(env)
				require.Contains(t, env.state()[openstackv1alpha1.StateKeyOwnership], `"`+resource.key+`":"given"`)
				return env, env.state()[resource.key]
			}
			t.Run("a "+name+" that is taken out of the configuration after a failure, "+moment, func(t *testing.T) {
				env, id := failed(t)
				env.config.Networks = openstackv1alpha1.Networks{Workers: "10.250.0.0/19"}
				env.mustReconcile()
				assert.NotEqual(t, id, env.state()[resource.key], "the shoot has one of its own now")
				env.mustDelete()
				resource.assertRemaining(env, 1)
			})
			t.Run("a "+name+" that is taken out of the configuration of a shoot to be deleted, "+moment, func(t *testing.T) {
				env, _ := failed(t)
				env.config.Networks = openstackv1alpha1.Networks{Workers: "10.250.0.0/19"}
				env.mustDelete()
				resource.assertRemaining(env, 1)
			})
			t.Run("a "+name+" that is exchanged for another before the first success, "+moment, func(t *testing.T) {
				env, id := failed(t)
				resource.give(env)
				env.mustReconcile()
				assert.NotEqual(t, id, env.state()[resource.key])
				assert.Contains(t, env.state()[openstackv1alpha1.StateKeyOwnership], `"`+resource.key+`":"given"`)
				env.mustDelete()
				resource.assertRemaining(env, 2)
			})
		}
	}
	t.Run("not even when the recorded state is told so", func(t *testing.T) {
		s := newState()
		s.recordResource(kindNetwork, "net-1", given)
		s.recordResource(kindNetwork, "net-1", own)
		assert.Equal(t, given, s.Owner(kindNetwork))
		s.recordResource(kindNetwork, "net-2", own)
		assert.Equal(t, own, s.Owner(kindNetwork))
	})
}

func TestRelease_GivenBeforeFirstSuccess(t *testing.T) {
	for name, resource := range givenResources() {
		t.Run("a "+name, func(t *testing.T) {
			env := newEnvironment(t)
			env.failAtEnd()
			resource.give(env)
			before := env.state()[resource.key]
			env.mustReconcile()
			assert.NotEqual(t, before, env.state()[resource.key])
			env.mustDelete()
			resource.assertRemaining(env, 1)
		})
	}
}

func TestDriver_ValidateGivenResourceRemoved(t *testing.T) {
	env, _ := upstreamShoot(t)
	network := env.state()["Network"]
	env.infra.Status.ProviderStatus = env.marshal(map[string]any{"networks": map[string]any{"id": network}})
	env.infra.Status.State = env.marshal(map[string]any{
		"apiVersion": openstackv1alpha1.GroupVersion().String(), "kind": "InfrastructureState",
		"data": map[string]string{"Network": network, openstackv1alpha1.StateKeyOwnership: `{"Network":"given"}`},
	})
	problems := env.driver.Validate(env.input())
	require.Len(t, problems, 1)
	assert.Contains(t, problems.ToAggregate().Error(), "spec.providerConfig.networks.id: Required value: is immutable: the shoot lives in "+network)
	env.config.Networks.ID = &network
	assert.Empty(t, env.driver.Validate(env.input()))
}
