package openstack

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// gift is something that a user gives.
type gift struct {
	give  func(w *world)
	key   string
	fails string // path of a write that comes after the gift is recorded
}

func gifts() map[string]gift {
	const groups, routers = "/v2.0/security-groups", "/v2.0/routers"
	return map[string]gift{
		"network": {
			func(w *world) { w.config.Networks.ID = new(w.plant("networks", fake.Attrs{"name": "theirs"})) }, "Network", "/v2.0/routers/{id}/add_router_interface",
		},
		"router": {
			func(w *world) { w.config.Networks.Router = &openstackv1alpha1.Router{ID: w.plantRouter("theirs")} }, "Router", "/v2.0/security-group-rules",
		},
		"security group": {
			func(w *world) {
				w.config.Networks.SecurityGroupID = new(w.plant("security-groups", fake.Attrs{"name": "theirs"}))
			}, "SecurityGroup", routers,
		},
		"network and subnet": {
			func(w *world) {
				network := w.plant("networks", fake.Attrs{"name": "theirs"})
				w.config.Networks = openstackv1alpha1.Networks{ID: &network, SubnetID: new(w.plantSubnet(network, "theirs", "10.250.0.0/19"))}
			}, "Subnet", groups,
		},
		"network, subnet and router": {
			func(w *world) {
				network := w.plant("networks", fake.Attrs{"name": "theirs"})
				w.config.Networks = openstackv1alpha1.Networks{
					ID: &network, SubnetID: new(w.plantSubnet(network, "theirs", "10.250.0.0/19")),
					Router: &openstackv1alpha1.Router{ID: w.plantRouter("theirs")},
				}
			}, "Subnet", groups,
		},
	}
}

// moments are those at which a first pass can fail: as soon as the gift is recorded, or when all else is done.
func (g gift) moments() map[string]func(w *world) {
	return map[string]func(w *world){
		"early": func(w *world) {
			w.cloud.Inject(wire.Fault{Match: wire.Match{Path: g.fails, WritesOnly: true}, Status: 500})
			_, err := w.reconcile()
			require.Error(w.t, err)
		},
		"late": (*world).failLate,
	}
}

// failLate makes a pass that fails when everything is done.
func (w *world) failLate() {
	w.mustReconcile()
	state := w.state()
	delete(state, keyConfig)
	w.infra.Status.State = w.marshal(map[string]any{
		"apiVersion": openstackv1alpha1.GroupVersion().String(), "kind": "InfrastructureState", "data": state,
	})
	w.infra.Status.ProviderStatus = nil
}

// left asserts that the user's gifts are left, so many of each, and nothing else.
func (g gift) left(w *world, count int) {
	w.t.Helper()
	reference := newWorld(w.t)
	for range count {
		g.give(reference)
	}
	assert.Equal(w.t, kinds(reference.there()), kinds(w.there()))
}

func TestWhatWasGivenOnceNeverBecomesTheShootsOwn(t *testing.T) {
	for name, gift := range gifts() {
		for moment, fail := range gift.moments() {
			failed := func(t *testing.T) (w *world, id string) {
				w = newWorld(t)
				gift.give(w)
				fail(w)
				require.Contains(t, w.state()[openstackv1alpha1.StateKeyOwnership], `"`+gift.key+`":"given"`)
				return w, w.state()[gift.key]
			}
			t.Run("a "+name+" that is taken out of the configuration after a failure, "+moment, func(t *testing.T) {
				w, id := failed(t)
				w.config.Networks = openstackv1alpha1.Networks{Workers: "10.250.0.0/19"}
				w.mustReconcile()
				assert.NotEqual(t, id, w.state()[gift.key], "the shoot has one of its own now")
				w.mustDelete()
				gift.left(w, 1)
			})
			t.Run("a "+name+" that is taken out of the configuration of a shoot to be deleted, "+moment, func(t *testing.T) {
				w, _ := failed(t)
				w.config.Networks = openstackv1alpha1.Networks{Workers: "10.250.0.0/19"}
				w.mustDelete()
				gift.left(w, 1)
			})
			t.Run("a "+name+" that is exchanged for another before the first success, "+moment, func(t *testing.T) {
				w, id := failed(t)
				gift.give(w)
				w.mustReconcile()
				assert.NotEqual(t, id, w.state()[gift.key])
				assert.Contains(t, w.state()[openstackv1alpha1.StateKeyOwnership], `"`+gift.key+`":"given"`)
				w.mustDelete()
				gift.left(w, 2)
			})
		}
	}
	t.Run("not even when the ledger is told so", func(t *testing.T) {
		l := newLedger()
		l.hold(kindNetwork, "net-1", given)
		l.hold(kindNetwork, "net-1", own)
		assert.Equal(t, given, l.owner(kindNetwork))
		l.hold(kindNetwork, "net-2", own)
		assert.Equal(t, own, l.owner(kindNetwork))
	})
}

func TestWhatIsGivenBeforeTheFirstSuccessReplacesTheShootsOwn(t *testing.T) {
	for name, gift := range gifts() {
		t.Run("a "+name, func(t *testing.T) {
			w := newWorld(t)
			w.failLate()
			gift.give(w)
			before := w.state()[gift.key]
			w.mustReconcile()
			assert.NotEqual(t, before, w.state()[gift.key])
			w.mustDelete()
			gift.left(w, 1)
		})
	}
}

func TestWhatWasGivenToAFulfilledShootStays(t *testing.T) {
	w, _ := upstreamShoot(t)
	network := w.state()["Network"]
	w.infra.Status.ProviderStatus = w.marshal(map[string]any{"networks": map[string]any{"id": network}})
	w.infra.Status.State = w.marshal(map[string]any{
		"apiVersion": openstackv1alpha1.GroupVersion().String(), "kind": "InfrastructureState",
		"data": map[string]string{"Network": network, openstackv1alpha1.StateKeyOwnership: `{"Network":"given"}`},
	})
	problems := w.driver.Validate(w.input())
	require.Len(t, problems, 1)
	assert.Contains(t, problems.ToAggregate().Error(), "spec.providerConfig.networks.id: Required value: is immutable: the shoot lives in "+network)
	w.config.Networks.ID = &network
	assert.Empty(t, w.driver.Validate(w.input()))
}
