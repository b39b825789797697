package openstack

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// floatingNetwork is the ID of the external network.
func (w *world) floatingNetwork() string { return w.cloud.State(fake.AdminProject).Networks[0].ID }

// plantRouter makes a router with a gateway.
func (w *world) plantRouter(name string) string {
	return w.plant("routers", fake.Attrs{"name": name, "external_gateway_info": map[string]any{"network_id": w.floatingNetwork()}})
}

func (w *world) plantSubnet(network, name, cidr string) string {
	return w.plant("subnets", fake.Attrs{"name": name, "network_id": network, "ip_version": 4, "cidr": cidr})
}

// fullCycle reconciles twice and deletes, and asserts that nothing of the user's was touched.
func (w *world) fullCycle() {
	w.t.Helper()
	before := w.there()
	w.mustReconcile()
	_, went := fake.Diff(before, w.there())
	assert.Empty(w.t, went)
	w.cloud.ResetLog()
	w.mustReconcile()
	assert.Empty(w.t, w.calls().Where(wire.Call.Writes), "the second pass changes nothing")
	w.mustDelete()
	w.unchanged(before)
}

func TestGivenRouter(t *testing.T) {
	t.Run("is used and stays", func(t *testing.T) {
		w := newWorld(t)
		id := w.plantRouter("theirs")
		w.config.Networks.Router = &openstackv1alpha1.Router{ID: id}
		w.fullCycle()
	})
	t.Run("gives its addresses as egress ranges", func(t *testing.T) {
		w := newWorld(t)
		w.config.Networks.Router = &openstackv1alpha1.Router{ID: w.plantRouter("theirs")}
		outcome := w.mustReconcile()
		assert.Equal(t, []string{w.there().Routers[0].Gateway.ExternalFixedIPs[0].IPAddress + "/32"}, outcome.EgressCIDRs)
	})
	t.Run("that does not exist is a configuration error that names the field", func(t *testing.T) {
		w := newWorld(t)
		w.config.Networks.Router = &openstackv1alpha1.Router{ID: "11111111-1111-1111-1111-111111111111"}
		w.attempted = true
		_, err := w.reconcile()
		assert.ErrorContains(t, err, "networks.router.id: there is no router 11111111")
		assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
	})
	t.Run("that does not exist is found out before anything is created, on the first attempt too", func(t *testing.T) {
		w := newWorld(t)
		before := w.there()
		w.config.Networks.Router = &openstackv1alpha1.Router{ID: "11111111-1111-1111-1111-111111111111"}
		_, err := w.reconcile()
		require.Error(t, err)
		w.unchanged(before)
	})
	t.Run("D12: that has no address yet is waited for", func(t *testing.T) {
		w := newWorld(t)
		id := w.plant("routers", fake.Attrs{"name": "theirs"})
		w.config.Networks.Router = &openstackv1alpha1.Router{ID: id}
		reads := 0
		w.cloud.SetHook(func(event wire.Event) wire.Verdict {
			if event.Phase == wire.After && event.Call.Name() == "neutron GET /v2.0/routers/{id}" {
				if reads++; reads == 2 {
					w.operate("PUT", wire.Neutron, "/v2.0/routers/"+id, map[string]any{
						"router": map[string]any{"external_gateway_info": map[string]any{"network_id": w.floatingNetwork()}},
					})
				}
			}
			return wire.Proceed
		})
		outcome := w.mustReconcile()
		assert.NotEmpty(t, outcome.EgressCIDRs)
		assert.GreaterOrEqual(t, reads, 2)
	})
	t.Run("in another external network is reported", func(t *testing.T) {
		w := newWorld(t)
		other, err := w.cloud.Plant(fake.AdminProject, "networks", fake.Attrs{"name": "other", "router:external": true})
		require.NoError(t, err)
		_, err = w.cloud.Plant(fake.AdminProject, "subnets", fake.Attrs{"network_id": other, "ip_version": 4, "cidr": "203.0.113.0/24"})
		require.NoError(t, err)
		id := w.plant("routers", fake.Attrs{"name": "theirs", "external_gateway_info": map[string]any{"network_id": other}})
		w.config.Networks.Router = &openstackv1alpha1.Router{ID: id}
		outcome := w.mustReconcile()
		require.Len(t, outcome.Findings, 1)
		assert.Contains(t, outcome.Findings[0], "load balancers of the shoot cannot have floating IPs")
	})
}

func TestGivenNetwork(t *testing.T) {
	t.Run("is used and stays", func(t *testing.T) {
		w := newWorld(t)
		w.config.Networks.ID = new(w.plant("networks", fake.Attrs{"name": "theirs"}))
		w.fullCycle()
	})
	t.Run("that is external is refused", func(t *testing.T) {
		w := newWorld(t)
		w.config.Networks.ID = new(w.floatingNetwork())
		_, err := w.reconcile()
		assert.ErrorContains(t, err, "networks.id")
		assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
	})
}

func TestGivenSubnet(t *testing.T) {
	given := func(t *testing.T) (*world, string) {
		w := newWorld(t)
		network := w.plant("networks", fake.Attrs{"name": "theirs"})
		subnet := w.plantSubnet(network, "theirs", "10.250.64.0/20")
		w.config.Networks = openstackv1alpha1.Networks{ID: &network, SubnetID: &subnet}
		return w, subnet
	}
	t.Run("is used and stays; the interface goes", func(t *testing.T) {
		w, _ := given(t)
		w.fullCycle()
	})
	t.Run("decides the range of the nodes", func(t *testing.T) {
		w, _ := given(t)
		outcome := w.mustReconcile()
		assert.Equal(t, new("10.250.64.0/20"), outcome.NodesCIDR)
		assert.Equal(t, []string{"10.250.64.0/20"}, outcome.Nodes)
	})
	t.Run("on a given router that is connected already keeps its interface", func(t *testing.T) {
		w, subnet := given(t)
		router := w.plantRouter("theirs")
		w.operate("PUT", wire.Neutron, "/v2.0/routers/"+router+"/add_router_interface", map[string]any{"subnet_id": subnet})
		w.config.Networks.Router = &openstackv1alpha1.Router{ID: router}
		w.fullCycle()
	})
	t.Run("on a given router that is not connected yet loses what the driver added", func(t *testing.T) {
		w, _ := given(t)
		w.config.Networks.Router = &openstackv1alpha1.Router{ID: w.plantRouter("theirs")}
		w.fullCycle()
	})
	t.Run("loses an interface whose creation nobody saw end", func(t *testing.T) {
		w, _ := given(t)
		w.config.Networks.Router = &openstackv1alpha1.Router{ID: w.plantRouter("theirs")}
		before := w.there()
		w.cloud.Inject(wire.Fault{Match: wire.Match{Path: "/v2.0/routers/{id}/add_router_interface"}, Drop: wire.DropAfter})
		_, err := w.reconcile()
		require.Error(t, err)
		w.restart()
		w.mustReconcile()
		w.mustDelete()
		w.unchanged(before)
	})
	t.Run("that is connected to another router names that router", func(t *testing.T) {
		for name, router := range map[string]func(w *world) *openstackv1alpha1.Router{
			"when none is given":    func(*world) *openstackv1alpha1.Router { return nil },
			"when another is given": func(w *world) *openstackv1alpha1.Router { return &openstackv1alpha1.Router{ID: w.plantRouter("spare")} },
		} {
			w, subnet := given(t)
			theirs := w.plantRouter("theirs")
			w.operate("PUT", wire.Neutron, "/v2.0/routers/"+theirs+"/add_router_interface", map[string]any{"subnet_id": subnet})
			w.config.Networks.Router = router(w)
			_, err := w.reconcile()
			require.ErrorContains(t, err, "networks.router.id: subnet "+subnet+" is connected to router "+theirs+" already; give that router", name)
			assert.Equal(t, cloud.Configuration, cloud.KindOf(err))

			w.config.Networks.Router = &openstackv1alpha1.Router{ID: theirs}
			w.mustReconcile() // which removes the router that the shoot made for itself
			assert.Len(t, w.there().Routers, map[string]int{"when none is given": 1, "when another is given": 2}[name])
		}
	})
	t.Run("whose gateway address something else has names it", func(t *testing.T) {
		w, subnet := given(t)
		port := w.plant("ports", fake.Attrs{"network_id": *w.config.Networks.ID, "name": "squatter", "fixed_ips": []any{
			map[string]any{"subnet_id": subnet, "ip_address": "10.250.64.1"},
		}})
		_, err := w.reconcile()
		require.ErrorContains(t, err, "networks.subnetId: the gateway address 10.250.64.1 of subnet "+subnet+" is taken by port "+port+" (squatter)")
		assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
	})
	t.Run("in another network is refused", func(t *testing.T) {
		w, _ := given(t)
		w.config.Networks.ID = new(w.plant("networks", fake.Attrs{"name": "another"}))
		_, err := w.reconcile()
		assert.ErrorContains(t, err, "networks.subnetId")
		assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
	})
	t.Run("of the wrong family is refused", func(t *testing.T) {
		w, _ := given(t)
		w.config.Networks.SubnetID = new(w.plant("subnets", fake.Attrs{"network_id": *w.config.Networks.ID, "ip_version": 6, "cidr": "2001:db8::/64"}))
		_, err := w.reconcile()
		assert.ErrorContains(t, err, "is an IPv6 subnet; give an IPv4 subnet")
	})
}

func TestGivenSecurityGroup(t *testing.T) {
	w := newWorld(t)
	w.config.Networks.SecurityGroupID = new(w.plant("security-groups", fake.Attrs{"name": "theirs"}))
	w.fullCycle()
	outcome := w.mustReconcile()
	assert.Len(t, outcome.Findings, 1, "what nodes need and the group lacks is reported: %v", outcome.Findings)
}
