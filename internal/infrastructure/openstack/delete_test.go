package openstack

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

func TestDeleting(t *testing.T) {
	t.Run("what never was needs no cloud", func(t *testing.T) {
		w := newWorld(t)
		w.secret = nil
		w.mustDelete()
		assert.Empty(t, w.calls())
	})
	t.Run("twice is fine", func(t *testing.T) {
		w := newWorld(t)
		empty := w.there()
		w.mustReconcile()
		w.mustDelete()
		w.mustDelete()
		w.unchanged(empty)
	})
	t.Run("D3: with an empty state finds everything by its mark", func(t *testing.T) {
		w := newWorld(t)
		empty := w.there()
		w.mustReconcile()
		w.forget()
		w.mustDelete()
		w.unchanged(empty)
	})
	t.Run("D22: leaves nothing of what is gone in the state", func(t *testing.T) {
		w := newWorld(t)
		w.mustReconcile()
		w.mustDelete()
		for _, key := range []string{"Network", "NetworkName", "Subnet", "Router", "SecurityGroup", "SecurityGroupName", "KeyPair", "WorkersCIDR", "trellis.ownership", "trellis.intents"} {
			assert.Empty(t, w.state()[key], key)
		}
	})
	t.Run("D2: forgets only what is gone when the cloud fails", func(t *testing.T) {
		w := newWorld(t)
		empty := w.there()
		w.mustReconcile()
		w.cloud.Inject(fake.Fault{Match: fake.Match{Service: fake.Neutron, Method: "DELETE"}, Times: -1, Status: 500})
		require.Error(t, w.delete())
		assert.NotEmpty(t, w.state()["Network"])
		w.cloud.ClearFaults()
		w.mustDelete()
		w.unchanged(empty)
	})
	t.Run("works although somebody removed parts by hand", func(t *testing.T) {
		w := newWorld(t)
		empty := w.there()
		w.mustReconcile()
		require.NoError(t, w.session().RemoveRouterInterface(t.Context(), w.state()["Router"], w.state()["Subnet"]))
		require.NoError(t, w.session().DeleteRouter(t.Context(), w.state()["Router"]))
		require.NoError(t, w.session().DeleteKeyPair(t.Context(), w.state()["KeyPair"]))
		w.mustDelete()
		w.unchanged(empty)
	})
	t.Run("works without Octavia and Manila", func(t *testing.T) {
		w := newWorld(t, fake.WithoutServices(fake.Octavia, fake.Manila))
		empty := w.there()
		w.mustReconcile()
		w.mustDelete()
		w.unchanged(empty)
	})
	t.Run("works with a configuration that cannot be read any more", func(t *testing.T) {
		w := newWorld(t)
		empty := w.there()
		w.mustReconcile()
		shoot := w.input()
		shoot.Infrastructure.Spec.ProviderConfig.Raw = []byte(`{"kind":"Nonsense"}`)
		require.NoError(t, w.driver.Delete(t.Context(), shoot, &savingTrack{world: w}))
		w.unchanged(empty)
	})
	t.Run("with lost credentials says so and forgets nothing", func(t *testing.T) {
		w := newWorld(t)
		w.mustReconcile()
		state := w.state()
		w.secret["password"] = []byte("wrong")
		err := w.delete()
		require.ErrorContains(t, err, "logging in to OpenStack")
		assert.Equal(t, cloud.Unauthenticated, cloud.KindOf(err))
		assert.Equal(t, state, w.state())
	})
	t.Run("does not touch shoots whose technical ID begins alike", func(t *testing.T) {
		w := newWorld(t)
		for _, name := range []string{technicalID + "-b", "shoot--dev--on"} {
			network := w.plant("networks", fake.Attrs{"name": name, "description": formatMark(name, "uid-"+name)})
			w.plant("loadbalancers", fake.Attrs{"name": "kube_service_" + name + "_default_web", "vip_subnet_id": w.plantSubnet(network, name, "10.3.0.0/24")})
		}
		before := w.there()
		w.mustReconcile()
		w.forget()
		w.mustDelete()
		w.unchanged(before)
	})
}

func TestBlockersAreNamed(t *testing.T) {
	t.Run("a server in the node subnet", func(t *testing.T) {
		w := newWorld(t)
		w.mustReconcile()
		port := w.plant("ports", fake.Attrs{"name": "p", "network_id": w.state()["Network"], "device_owner": "compute:nova", "device_id": "22222222-2222-2222-2222-222222222222"})
		err := w.delete()
		require.ErrorContains(t, err, "port "+port+" of server 22222222-2222-2222-2222-222222222222 is still in subnet "+w.state()["Subnet"])
		assert.Equal(t, cloud.InUse, cloud.KindOf(err))
	})
	t.Run("a foreign interface on the router", func(t *testing.T) {
		w := newWorld(t)
		w.mustReconcile()
		subnet := w.plantSubnet(w.plant("networks", fake.Attrs{"name": "other"}), "other", "192.168.7.0/24")
		w.operate("PUT", fake.Neutron, "/v2.0/routers/"+w.state()["Router"]+"/add_router_interface", map[string]any{"subnet_id": subnet})
		err := w.delete()
		require.ErrorContains(t, err, "is still connected to subnet "+subnet)
		assert.Equal(t, cloud.InUse, cloud.KindOf(err))
		assert.Empty(t, w.state()["Network"], "everything else is gone")
	})
	t.Run("a port with the security group", func(t *testing.T) {
		w := newWorld(t)
		w.mustReconcile()
		port := w.plant("ports", fake.Attrs{"name": "leftover", "network_id": w.state()["Network"], "security_groups": []string{w.state()["SecurityGroup"]}})
		assert.ErrorContains(t, w.delete(), "port "+port+" (leftover) still has security group")
	})
	t.Run("a floating IP that somebody attached", func(t *testing.T) {
		w := newWorld(t)
		w.mustReconcile()
		port := w.plant("ports", fake.Attrs{"name": "vm", "network_id": w.state()["Network"]})
		ip := w.plant("floatingips", fake.Attrs{"floating_network_id": w.floatingNetwork(), "port_id": port, "description": "mine"})
		assert.ErrorContains(t, w.delete(), "("+ip+") still leads to port "+port)
		assert.Len(t, w.there().FloatingIPs, 1)
	})
}

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

func TestWhatTheCloudControllerManagerLeftIsRemoved(t *testing.T) {
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
		w.operate("PUT", fake.Neutron, "/v2.0/routers/"+w.config.Networks.Router.ID+"/add_router_interface", map[string]any{"subnet_id": subnet})
		w.config.Networks.ID = &network
		w.balancer(technicalID+"-b", subnet)
		w.plant("loadbalancers", fake.Attrs{"name": "kube_service_" + technicalID, "vip_subnet_id": subnet})
		before := w.there()
		w.mustReconcile()
		w.balancer(technicalID, w.state()["Subnet"])
		w.mustDelete()
		w.unchanged(before)
	})
	t.Run("a wait names the load balancer and its status", func(t *testing.T) {
		w := newWorld(t, fake.WithTransition(fake.LoadBalancerDelete, fake.Transition{After: time.Hour}))
		w.mustReconcile()
		id := w.balancer(technicalID, w.state()["Subnet"])
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		err := w.driver.Delete(ctx, w.input(), &savingTrack{world: w})
		assert.ErrorContains(t, err, "load balancers are still there: "+id+" (kube_service_shoot--dev--one_default_web, PENDING_DELETE)")
		assert.NotEmpty(t, w.there().Networks, "D1: the network waits for the load balancers")
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
	t.Run("what load balancers leave is removed although the process died in between", func(t *testing.T) {
		w := newWorld(t)
		empty := w.there()
		w.mustReconcile()
		w.balancer(technicalID, w.state()["Subnet"])
		w.cloud.Inject(fake.Fault{Match: fake.Match{Method: "DELETE", Path: "/v2.0/floatingips/{id}"}, Status: 500, Times: -1})
		w.cloud.Inject(fake.Fault{Match: fake.Match{Method: "DELETE", Path: "/v2.0/security-groups/{id}"}, Status: 500, Times: -1})
		require.Error(t, w.delete())
		assert.Empty(t, w.there().LoadBalancers)
		w.cloud.ClearFaults()
		w.restart()
		w.mustDelete()
		w.unchanged(empty)
	})
	t.Run("routes to nodes are taken off the user's router, others stay", func(t *testing.T) {
		w := newWorld(t)
		router := w.plantRouter("theirs")
		subnet := w.plantSubnet(w.plant("networks", fake.Attrs{"name": "office"}), "office", "192.168.7.0/24")
		w.operate("PUT", fake.Neutron, "/v2.0/routers/"+router+"/add_router_interface", map[string]any{"subnet_id": subnet})
		theirs := map[string]any{"destination": "172.16.0.0/16", "nexthop": "192.168.7.9"}
		w.change("routers", "router", router, fake.Attrs{"routes": []any{theirs}})
		w.config.Networks.Router = &openstackv1alpha1.Router{ID: router}
		before := w.there()
		w.mustReconcile()
		ours := map[string]any{"destination": "100.96.1.0/24", "nexthop": "10.250.0.7"}
		w.change("routers", "router", router, fake.Attrs{"routes": []any{theirs, ours}})

		// Somebody else changes the router between our read and our write.
		meddled := false
		w.cloud.SetHook(func(event fake.Event) fake.Verdict {
			if event.Phase == fake.Before && event.Call.Name() == "neutron PUT /v2.0/routers/{id}" && !meddled {
				meddled = true
				w.change("routers", "router", router, fake.Attrs{"description": "meddled"})
			}
			return fake.Proceed
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
