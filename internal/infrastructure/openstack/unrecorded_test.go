package openstack

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
	"github.com/trellis-garden/trellis/internal/contract"
)

// unrecord leaves out of the state what upstream's extension did not come to record. Its marker, which it writes first, stays.
func (w *world) unrecord(keys ...string) {
	w.t.Helper()
	data := w.state()
	for _, key := range keys {
		delete(data, key)
	}
	data[openstackv1alpha1.StateKeyResourcesExist] = "true"
	w.infra.Status.State = w.marshal(map[string]any{
		"apiVersion": openstackv1alpha1.GroupVersion().String(), "kind": "InfrastructureState", "data": data,
	})
}

func lackingStates() map[string][]string {
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

func TestUpstreamStoppedBeforeItRecorded(t *testing.T) {
	for what, keys := range lackingStates() {
		t.Run(what+" is taken", func(t *testing.T) {
			w, before := upstreamShoot(t)
			recorded := w.state()
			w.unrecord(keys...)
			outcome := w.mustReconcile()
			assert.Empty(t, w.calls().Where(wire.Call.Writes))
			w.unchanged(before)
			assert.Empty(t, outcome.Findings)
			for _, key := range keys {
				assert.Equal(t, recorded[key], w.state()[key])
			}
			w.mustDelete()
			assert.Equal(t, kinds(newWorld(t).there()), kinds(w.there()))
		})
		t.Run(what+" is deleted", func(t *testing.T) {
			w, _ := upstreamShoot(t)
			w.unrecord(keys...)
			w.mustDelete()
			assert.Equal(t, kinds(newWorld(t).there()), kinds(w.there()))
		})
	}
}

// What upstream had not come to is made, and what it had made is used.
func TestUpstreamStoppedAfterTheNetwork(t *testing.T) {
	w := newWorld(t)
	network := w.plant("networks", fake.Attrs{"name": technicalID})
	w.infra.Status.State = w.marshal(map[string]any{"data": map[string]string{}})
	w.unrecord()
	w.attempted = true
	w.mustReconcile()
	assert.Equal(t, network, w.state()["Network"])
	own := newWorld(t)
	own.mustReconcile()
	assert.Equal(t, kinds(own.there()), kinds(w.there()), "nothing is there twice")
	w.mustDelete()
	assert.Equal(t, kinds(newWorld(t).there()), kinds(w.there()))
}

func TestUpstreamStopped_NamesakesThatAreNotCertain(t *testing.T) {
	t.Run("several of upstream's form are nobody's choice", func(t *testing.T) {
		w, before := upstreamShoot(t)
		another := w.plant("networks", fake.Attrs{"name": technicalID})
		network := w.state()["Network"]
		w.unrecord("Network", "NetworkName")
		_, err := w.reconcile()
		require.ErrorContains(t, err, "there are several that the shoot's state does not tell apart: ")
		assert.ErrorContains(t, err, "network "+network)
		assert.ErrorContains(t, err, "network "+another)
		came, went := fake.Diff(before, w.there())
		assert.Empty(t, went)
		assert.Len(t, came, 1)
	})
	t.Run("a deletion names them", func(t *testing.T) {
		w, _ := upstreamShoot(t)
		group := w.state()["SecurityGroup"]
		another := w.plant("security-groups", fake.Attrs{"name": technicalID, "description": "Cluster Nodes"})
		w.unrecord("SecurityGroup", "SecurityGroupName")
		err := w.delete()
		require.ErrorContains(t, err, "security group "+group)
		assert.ErrorContains(t, err, "security group "+another)
		assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
	})
	t.Run("a deletion names networks, although the router cannot go before that of the shoot is known", func(t *testing.T) {
		w, _ := upstreamShoot(t)
		network := w.state()["Network"]
		another := w.plant("networks", fake.Attrs{"name": technicalID})
		w.unrecord("Network", "NetworkName", "Subnet")
		err := w.delete()
		require.ErrorContains(t, err, "network "+network)
		require.ErrorContains(t, err, "network "+another)
		assert.Contains(t, contract.Codes(err), gardencorev1beta1.ErrorConfigurationProblem)
		assert.Empty(t, w.there().KeyPairs, "what is certain is gone")

		w.operate("DELETE", wire.Neutron, "/v2.0/networks/"+another, nil)
		w.mustDelete()
		assert.Equal(t, kinds(newWorld(t).there()), kinds(w.there()))
	})
	t.Run("a deletion names what has another form", func(t *testing.T) {
		w, _ := upstreamShoot(t)
		group := w.plant("security-groups", fake.Attrs{"name": technicalID, "description": "somebody's"})
		w.operate("DELETE", wire.Neutron, "/v2.0/security-groups/"+w.state()["SecurityGroup"], nil)
		w.unrecord("SecurityGroup", "SecurityGroupName")
		err := w.delete()
		require.ErrorContains(t, err, "security group "+group)
		assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
		require.Len(t, w.there().Networks, len(newWorld(t).there().Networks), "all that is certain is gone")

		w.operate("DELETE", wire.Neutron, "/v2.0/security-groups/"+group, nil)
		w.mustDelete()
		assert.Equal(t, kinds(newWorld(t).there()), kinds(w.there()))
	})
	t.Run("what another shoot of ours has marked does not count", func(t *testing.T) {
		w, _ := upstreamShoot(t)
		w.plant("networks", fake.Attrs{"name": technicalID, "description": formatMark(technicalID, "another-uid")})
		w.unrecord("Network", "NetworkName")
		w.mustDelete()
		require.Len(t, w.there().Networks, len(newWorld(t).there().Networks)+1)
	})
	t.Run("a shoot that upstream has finished is not searched", func(t *testing.T) {
		w, _ := upstreamShoot(t)
		w.mustReconcile()
		w.plant("networks", fake.Attrs{"name": technicalID})
		w.mustDelete()
	})
}
