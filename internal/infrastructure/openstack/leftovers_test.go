package openstack

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// balancer plants what a cloud-controller-manager makes for a Service: load balancer, floating IP and security group.
func (w *world) balancer(cluster, subnetID string) (id string) {
	id = w.plant("loadbalancers", fake.Attrs{
		"name": "kube_service_" + cluster + "_default_web", "description": "Kubernetes external service default/web from cluster " + cluster,
		"vip_subnet_id": subnetID,
	})
	for _, balancer := range w.there().LoadBalancers {
		if balancer.ID == id {
			w.plant("floatingips", fake.Attrs{
				"floating_network_id": w.floatingNetwork(), "port_id": balancer.VIPPortID,
				"description": "Floating IP for Kubernetes external service default/web from cluster " + cluster,
			})
		}
	}
	w.plant("security-groups", fake.Attrs{
		"name": "lb-sg-1234-default-web", "description": "Security Group for default/web Service LoadBalancer in cluster " + cluster,
	})
	return id
}

func TestLoadBalancersAreRemoved(t *testing.T) {
	t.Run("D1, D11: load balancers before the network, with floating IP and security group, however slow", func(t *testing.T) {
		w := newWorld(t, fake.WithTransition(fake.LoadBalancerDelete, fake.Transition{Polls: 2}))
		empty := w.there()
		w.mustReconcile()
		w.balancer(technicalID, w.state()["Subnet"])
		w.mustDelete()
		w.unchanged(empty)
	})
	t.Run("D11: one that is still being created is waited for", func(t *testing.T) {
		w := newWorld(t, fake.WithTransition(fake.LoadBalancerCreate, fake.Transition{After: 300 * time.Millisecond}))
		empty := w.there()
		w.mustReconcile()
		w.balancer(technicalID, w.state()["Subnet"])
		w.mustDelete()
		w.unchanged(empty)
	})
	t.Run("D27: a wait names the load balancer and its status", func(t *testing.T) {
		w := newWorld(t, fake.WithTransition(fake.LoadBalancerDelete, fake.Transition{After: time.Hour}))
		w.mustReconcile()
		id := w.balancer(technicalID, w.state()["Subnet"])
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		err := w.driver.Delete(ctx, w.input(), &savingTrack{world: w})
		assert.ErrorContains(t, err, "load balancers are still there: "+id+" (kube_service_shoot--dev--one_default_web, PENDING_DELETE)")
		assert.NotEmpty(t, w.there().Networks, "D1: the network waits for the load balancers")
	})
	t.Run("what load balancers leave is removed although the process died in between", func(t *testing.T) {
		w := newWorld(t)
		empty := w.there()
		w.mustReconcile()
		w.balancer(technicalID, w.state()["Subnet"])
		w.cloud.Inject(wire.Fault{Match: wire.Match{Method: "DELETE", Path: "/v2.0/floatingips/{id}"}, Status: 500, Times: -1})
		w.cloud.Inject(wire.Fault{Match: wire.Match{Method: "DELETE", Path: "/v2.0/security-groups/{id}"}, Status: 500, Times: -1})
		require.Error(t, w.delete())
		assert.Empty(t, w.there().LoadBalancers)
		w.cloud.ClearFaults()
		w.restart()
		w.mustDelete()
		w.unchanged(empty)
	})
}

func TestWhoseLoadBalancersTheyAre(t *testing.T) {
	t.Run("a load balancer of the user's in the shoot's own network goes too, its floating IP stays", func(t *testing.T) {
		w := newWorld(t)
		w.mustReconcile()
		id := w.plant("loadbalancers", fake.Attrs{"name": "by-hand", "vip_subnet_id": w.state()["Subnet"]})
		for _, balancer := range w.there().LoadBalancers {
			if balancer.ID == id {
				w.plant("floatingips", fake.Attrs{"floating_network_id": w.floatingNetwork(), "port_id": balancer.VIPPortID, "description": "precious"})
			}
		}
		w.mustDelete()
		assert.Empty(t, w.there().LoadBalancers)
		assert.Len(t, w.there().FloatingIPs, 1)
	})
	t.Run("D10: in a shared network only those of exactly this cluster", func(t *testing.T) {
		w := newWorld(t)
		network := w.plant("networks", fake.Attrs{"name": "shared"})
		subnet := w.plantSubnet(network, "others", "10.9.0.0/24")
		w.config.Networks.Router = &openstackv1alpha1.Router{ID: w.plantRouter("shared")}
		w.operate("PUT", wire.Neutron, "/v2.0/routers/"+w.config.Networks.Router.ID+"/add_router_interface", map[string]any{"subnet_id": subnet})
		w.config.Networks.ID = &network
		w.balancer(technicalID+"-b", subnet)
		w.plant("loadbalancers", fake.Attrs{"name": "kube_service_" + technicalID, "vip_subnet_id": subnet})
		before := w.there()
		w.mustReconcile()
		w.balancer(technicalID, w.state()["Subnet"])
		w.mustDelete()
		w.unchanged(before)
	})
	t.Run("the namespace counts as cluster name, unless it is that of a self-hosted shoot", func(t *testing.T) {
		for namespace, gone := range map[string]bool{"shoot--dev--former": true, "kube-system": false} {
			w := newWorld(t)
			w.infra.Namespace = namespace
			network := w.plant("networks", fake.Attrs{"name": "shared"})
			subnet := w.plantSubnet(network, "others", "10.9.0.0/24")
			w.config.Networks.ID = &network
			w.plant("loadbalancers", fake.Attrs{"name": "kube_service_" + namespace + "_default_web", "vip_subnet_id": subnet})
			w.mustReconcile()
			w.mustDelete()
			assert.Equal(t, gone, len(w.there().LoadBalancers) == 0, namespace)
		}
	})
}

func TestRoutesToNodesAreRemoved(t *testing.T) {
	t.Run("routes to nodes are taken off the user's router, others stay", func(t *testing.T) {
		w := newWorld(t)
		router := w.plantRouter("theirs")
		subnet := w.plantSubnet(w.plant("networks", fake.Attrs{"name": "office"}), "office", "192.168.7.0/24")
		w.operate("PUT", wire.Neutron, "/v2.0/routers/"+router+"/add_router_interface", map[string]any{"subnet_id": subnet})
		theirs := map[string]any{"destination": "172.16.0.0/16", "nexthop": "192.168.7.9"}
		w.change("routers", "router", router, fake.Attrs{"routes": []any{theirs}})
		w.config.Networks.Router = &openstackv1alpha1.Router{ID: router}
		before := w.there()
		w.mustReconcile()
		ours := map[string]any{"destination": "100.96.1.0/24", "nexthop": "10.250.0.7"}
		w.change("routers", "router", router, fake.Attrs{"routes": []any{theirs, ours}})

		// Somebody else changes the router between our read and our write.
		meddled := false
		w.cloud.SetHook(func(event wire.Event) wire.Verdict {
			if event.Phase == wire.Before && event.Call.Name() == "neutron PUT /v2.0/routers/{id}" && !meddled {
				meddled = true
				w.change("routers", "router", router, fake.Attrs{"description": "meddled"})
			}
			return wire.Proceed
		})
		w.mustDelete()
		assert.True(t, meddled)
		w.unchanged(before)
		require.Len(t, w.there().Routers[0].Routes, 1)
		assert.Equal(t, "192.168.7.9", w.there().Routers[0].Routes[0].NextHop)
	})
	t.Run("routes on the shoot's own router do not keep it from going", func(t *testing.T) {
		w := newWorld(t)
		empty := w.there()
		w.mustReconcile()
		w.change("routers", "router", w.state()["Router"], fake.Attrs{"routes": []any{map[string]any{"destination": "100.96.1.0/24", "nexthop": "10.250.0.7"}}})
		w.mustDelete()
		w.unchanged(empty)
	})
}

func TestRoutesInAGivenSubnet(t *testing.T) {
	route := func(destination, hop string) map[string]any {
		return map[string]any{"destination": destination, "nexthop": hop}
	}
	given := func(t *testing.T) (w *world, router, subnet string) {
		w = newWorld(t)
		router = w.plantRouter("theirs")
		network := w.plant("networks", fake.Attrs{"name": "theirs"})
		subnet = w.plantSubnet(network, "theirs", "10.250.64.0/20")
		w.config.Networks = openstackv1alpha1.Networks{ID: &network, SubnetID: &subnet, Router: &openstackv1alpha1.Router{ID: router}}
		return w, router, subnet
	}
	t.Run("of the user and of another shoot stay on the user's router", func(t *testing.T) {
		w, router, subnet := given(t)
		w.operate("PUT", wire.Neutron, "/v2.0/routers/"+router+"/add_router_interface", map[string]any{"subnet_id": subnet})
		users, neighbours := route("172.16.0.0/16", "10.250.64.9"), route("100.128.1.0/24", "10.250.64.8")
		w.change("routers", "router", router, fake.Attrs{"routes": []any{users, neighbours}})
		before := w.there()
		w.mustReconcile()
		w.change("routers", "router", router, fake.Attrs{"routes": []any{users, neighbours, route("100.96.1.0/24", "10.250.64.7")}})
		w.mustDelete()
		w.unchanged(before)
		require.Len(t, w.there().Routers[0].Routes, 2)
		assert.Equal(t, before.Routers[0].Routes, w.there().Routers[0].Routes)
	})
	t.Run("of the user that need the shoot's interface are named, not removed", func(t *testing.T) {
		w, router, _ := given(t)
		w.mustReconcile()
		w.change("routers", "router", router, fake.Attrs{"routes": []any{route("172.16.0.0/16", "10.250.64.9")}})
		require.ErrorContains(t, w.delete(), "router "+router+" still has a route to 172.16.0.0/16 by 10.250.64.9")
		assert.Len(t, w.there().Routers[0].Routes, 1)
	})
	t.Run("do not keep the shoot's own router from going", func(t *testing.T) {
		w, _, _ := given(t)
		w.config.Networks.Router = nil
		before := w.there()
		w.mustReconcile()
		w.change("routers", "router", w.state()["Router"], fake.Attrs{"routes": []any{route("172.16.0.0/16", "10.250.64.9")}})
		w.mustDelete()
		w.unchanged(before)
	})
}

func TestManyLoadBalancersAreAskedForInPortions(t *testing.T) {
	w := newWorld(t)
	w.mustReconcile()
	w.balancer(technicalID, w.state()["Subnet"])
	session := w.session()
	balancers, err := session.ListLoadBalancers(t.Context(), cloudopenstack.LoadBalancerFilter{VIPNetworkID: w.state()["Network"]})
	require.NoError(t, err)
	for i := range 2 * portsPerQuery {
		balancers = slices.Insert(balancers, 0, cloudopenstack.LoadBalancer{VIPPortID: fmt.Sprintf("00000000-0000-0000-0000-%012d", i)})
	}
	w.calls()
	p := &pass{plan: &plan{clusterNames: []string{technicalID}}, cloud: session}
	leftovers, err := p.floatingIPsOf(t.Context(), balancers)
	require.NoError(t, err)
	assert.Len(t, leftovers, 1)
	assert.Equal(t, map[string]int{getFloatingIPs: 3}, w.calls().Count())
}
