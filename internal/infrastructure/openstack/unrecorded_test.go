package openstack

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
	"github.com/trellis-garden/trellis/internal/contract"
)

// removeFromState leaves out of the state what upstream's extension did not come to record. Its marker, which it writes first, stays.
func (env *environment) removeFromState(keys ...string) {
	env.t.Helper()
	data := env.state()
	for _, key := range keys {
		delete(data, key)
	}
	data[openstackv1alpha1.StateKeyResourcesExist] = "true"
	env.infra.Status.State = env.marshal(map[string]any{
		"apiVersion": openstackv1alpha1.GroupVersion().String(), "kind": "InfrastructureState", "data": data,
	})
}

func incompleteStates() map[string][]string {
	return map[string][]string{
		"the network":        {"Network", "NetworkName"},
		"the subnet":         {"Subnet"},
		"the router":         {"Router"},
		"the security group": {"SecurityGroup", "SecurityGroupName"},
		"the key pair":       {"KeyPair"},
		"everything": {
			"Network", "NetworkName", "Subnet", "Router", "SecurityGroup", "SecurityGroupName", "KeyPair", "FloatingNetwork", "FloatingNetworkName",
		},
	}
}

func TestUpstreamStopped_BeforeRecording(t *testing.T) {
	for what, keys := range incompleteStates() {
		t.Run(what+" is taken", func(t *testing.T) {
			env, before := upstreamShoot(t)
			recorded := env.state()
			env.removeFromState(keys...)
			outcome := env.mustReconcile()
			assert.Empty(t, env.takeCalls().Where(wire.Call.IsWrite))
			env.assertUnchanged(before)
			assert.Empty(t, outcome.Findings)
			for _, key := range keys {
				assert.Equal(t, recorded[key], env.state()[key])
			}
			env.mustDelete()
			assert.Equal(t, countByKind(newEnvironment(t).resources()), countByKind(env.resources()))
		})
		t.Run(what+" is deleted", func(t *testing.T) {
			env, _ := upstreamShoot(t)
			env.removeFromState(keys...)
			env.mustDelete()
			assert.Equal(t, countByKind(newEnvironment(t).resources()), countByKind(env.resources()))
		})
	}
}

// What upstream had not come to is made, and what it had made is used.
func TestUpstreamStopped_AfterNetwork(t *testing.T) {
	env := newEnvironment(t)
	network := env.plant("networks", fake.Attrs{"name": technicalID})
	env.infra.Status.State = env.marshal(map[string]any{"data": map[string]string{}})
	env.removeFromState()
	env.attempted = true
	env.mustReconcile()
	assert.Equal(t, network, env.state()["Network"])
	own := newEnvironment(t)
	own.mustReconcile()
	assert.Equal(t, countByKind(own.resources()), countByKind(env.resources()), "nothing is there twice")
	env.mustDelete()
	assert.Equal(t, countByKind(newEnvironment(t).resources()), countByKind(env.resources()))
}

func TestUpstreamStopped_UncertainNamesakes(t *testing.T) {
	t.Run("several of upstream's form are nobody's choice", func(t *testing.T) {
		env, before := upstreamShoot(t)
		another := env.plant("networks", fake.Attrs{"name": technicalID})
		network := env.state()["Network"]
		env.removeFromState("Network", "NetworkName")
		_, err := env.reconcile()
		require.ErrorContains(t, err, "there are several that the shoot's state does not tell apart: ")
		assert.ErrorContains(t, err, "network "+network)
		assert.ErrorContains(t, err, "network "+another)
		came, deleted := fake.Diff(before, env.resources())
		assert.Empty(t, deleted)
		assert.Len(t, came, 1)
	})
	t.Run("a deletion names them", func(t *testing.T) {
		env, _ := upstreamShoot(t)
		group := env.state()["SecurityGroup"]
		another := env.plant("security-groups", fake.Attrs{"name": technicalID, "description": "Cluster Nodes"})
		env.removeFromState("SecurityGroup", "SecurityGroupName")
		err := env.delete()
		require.ErrorContains(t, err, "security group "+group)
		assert.ErrorContains(t, err, "security group "+another)
		assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
	})
	t.Run("a deletion names networks, although the router cannot go before that of the shoot is known", func(t *testing.T) {
		env, _ := upstreamShoot(t)
		network := env.state()["Network"]
		another := env.plant("networks", fake.Attrs{"name": technicalID})
		env.removeFromState("Network", "NetworkName", "Subnet")
		err := env.delete()
		require.ErrorContains(t, err, "network "+network)
		require.ErrorContains(t, err, "network "+another)
		assert.Contains(t, contract.Codes(err), gardencorev1beta1.ErrorConfigurationProblem)
		assert.Empty(t, env.resources().KeyPairs, "what is certain is gone")

		env.operate("DELETE", services.Neutron, "/v2.0/networks/"+another, nil)
		env.mustDelete()
		assert.Equal(t, countByKind(newEnvironment(t).resources()), countByKind(env.resources()))
	})
	t.Run("a deletion names what has another form", func(t *testing.T) {
		env, _ := upstreamShoot(t)
		group := env.plant("security-groups", fake.Attrs{"name": technicalID, "description": "somebody's"})
		env.operate("DELETE", services.Neutron, "/v2.0/security-groups/"+env.state()["SecurityGroup"], nil)
		env.removeFromState("SecurityGroup", "SecurityGroupName")
		err := env.delete()
		require.ErrorContains(t, err, "security group "+group)
		assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
		require.Len(t, env.resources().Networks, len(newEnvironment(t).resources().Networks), "all that is certain is gone")

		env.operate("DELETE", services.Neutron, "/v2.0/security-groups/"+group, nil)
		env.mustDelete()
		assert.Equal(t, countByKind(newEnvironment(t).resources()), countByKind(env.resources()))
	})
	t.Run("what another shoot of ours has marked does not count", func(t *testing.T) {
		env, _ := upstreamShoot(t)
		env.plant("networks", fake.Attrs{"name": technicalID, "description": formatMark(technicalID, "another-uid")})
		env.removeFromState("Network", "NetworkName")
		env.mustDelete()
		require.Len(t, env.resources().Networks, len(newEnvironment(t).resources().Networks)+1)
	})
	t.Run("a shoot that upstream has finished is not searched", func(t *testing.T) {
		env, _ := upstreamShoot(t)
		env.mustReconcile()
		env.plant("networks", fake.Attrs{"name": technicalID})
		env.mustDelete()
	})
}
