package openstack

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// createLoadBalancer plants what a cloud-controller-manager makes for a Service: load balancer, floating IP and security group.
func (env *environment) createLoadBalancer(cluster, subnetID string) (id string) {
	id = env.plant("loadbalancers", fake.Attrs{
		"name": "kube_service_" + cluster + "_default_web", "description": "Kubernetes external service default/web from cluster " + cluster,
		"vip_subnet_id": subnetID,
	})
	for _, balancer := range env.resources().LoadBalancers {
		if balancer.ID == id {
			env.plant("floatingips", fake.Attrs{
				"floating_network_id": env.floatingNetwork(), "port_id": balancer.VIPPortID,
				"description": "Floating IP for Kubernetes external service default/web from cluster " + cluster,
			})
		}
	}
	env.plant("security-groups", fake.Attrs{
		"name": "lb-sg-1234-default-web", "description": "Security Group for default/web Service LoadBalancer in cluster " + cluster,
	})
	return id
}

func TestRemoveLoadBalancers(t *testing.T) {
	t.Run("D1, D11: load balancers before the network, with floating IP and security group, however slow", func(t *testing.T) {
		env := newEnvironment(t, fake.WithTransition(fake.LoadBalancerDelete, fake.Transition{Polls: 2}))
		empty := env.resources()
		env.mustReconcile()
		env.createLoadBalancer(technicalID, env.state()["Subnet"])
		env.mustDelete()
		env.assertUnchanged(empty)
	})
	t.Run("D11: one that is still being created is waited for", func(t *testing.T) {
		env := newEnvironment(t, fake.WithTransition(fake.LoadBalancerCreate, fake.Transition{After: 300 * time.Millisecond}))
		empty := env.resources()
		env.mustReconcile()
		env.createLoadBalancer(technicalID, env.state()["Subnet"])
		env.mustDelete()
		env.assertUnchanged(empty)
	})
	t.Run("D27: a wait names the load balancer and its status", func(t *testing.T) {
		env := newEnvironment(t, fake.WithTransition(fake.LoadBalancerDelete, fake.Transition{After: time.Hour}))
		env.mustReconcile()
		id := env.createLoadBalancer(technicalID, env.state()["Subnet"])
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var lists atomic.Int32
		env.cloud.SetHook(func(event wire.Event) wire.HookResult {
			deleting := env.cloud.Log().Where(func(call wire.Call) bool { return call.Method == http.MethodDelete && call.Service == services.Octavia })
			isList := event.Phase == wire.Before && event.Call.Method == http.MethodGet && event.Call.Service == services.Octavia
			if isList && len(deleting) > 0 && lists.Add(1) == 2 {
				cancel() // after the status was read once since the deletion
			}
			return wire.Proceed
		})
		err := env.driver.Delete(ctx, env.input(), &savingRecorder{env: env})
		assert.ErrorContains(t, err, "load balancers are still there: "+id+" (kube_service_shoot--dev--one_default_web, PENDING_DELETE)")
		assert.NotEmpty(t, env.resources().Networks, "D1: the network waits for the load balancers")
	})
	t.Run("what load balancers leave is removed although the process died in between", func(t *testing.T) {
		env := newEnvironment(t)
		empty := env.resources()
		env.mustReconcile()
		env.createLoadBalancer(technicalID, env.state()["Subnet"])
		env.cloud.Inject(wire.Fault{Match: wire.Match{Method: "DELETE", Path: "/v2.0/floatingips/{id}"}, Status: 500, Times: -1})
		env.cloud.Inject(wire.Fault{Match: wire.Match{Method: "DELETE", Path: "/v2.0/security-groups/{id}"}, Status: 500, Times: -1})
		require.Error(t, env.delete())
		assert.Empty(t, env.resources().LoadBalancers)
		env.cloud.ClearFaults()
		env.restart()
		env.mustDelete()
		env.assertUnchanged(empty)
	})
}

func TestOrphanedLoadBalancers(t *testing.T) {
	t.Run("a load balancer of the user's in the shoot's own network goes too, its floating IP stays", func(t *testing.T) {
		env := newEnvironment(t)
		env.mustReconcile()
		id := env.plant("loadbalancers", fake.Attrs{"name": "by-hand", "vip_subnet_id": env.state()["Subnet"]})
		for _, balancer := range env.resources().LoadBalancers {
			if balancer.ID == id {
				env.plant("floatingips", fake.Attrs{"floating_network_id": env.floatingNetwork(), "port_id": balancer.VIPPortID, "description": "precious"})
			}
		}
		env.mustDelete()
		assert.Empty(t, env.resources().LoadBalancers)
		assert.Len(t, env.resources().FloatingIPs, 1)
	})
	t.Run("D10: in a shared network only those of exactly this cluster", func(t *testing.T) {
		env := newEnvironment(t)
		network := env.plant("networks", fake.Attrs{"name": "shared"})
		subnet := env.plantSubnet(network, "others", "10.9.0.0/24")
		env.config.Networks.Router = &openstackv1alpha1.Router{ID: env.plantRouter("shared")}
		env.operate("PUT", services.Neutron, "/v2.0/routers/"+env.config.Networks.Router.ID+"/add_router_interface", map[string]any{"subnet_id": subnet})
		env.config.Networks.ID = &network
		env.createLoadBalancer(technicalID+"-b", subnet)
		env.plant("loadbalancers", fake.Attrs{"name": "kube_service_" + technicalID, "vip_subnet_id": subnet})
		before := env.resources()
		env.mustReconcile()
		env.createLoadBalancer(technicalID, env.state()["Subnet"])
		env.mustDelete()
		env.assertUnchanged(before)
	})
	t.Run("the namespace counts as cluster name, unless it is that of a self-hosted shoot", func(t *testing.T) {
		for namespace, gone := range map[string]bool{"shoot--dev--former": true, "kube-system": false} {
			env := newEnvironment(t)
			env.infra.Namespace = namespace
			network := env.plant("networks", fake.Attrs{"name": "shared"})
			subnet := env.plantSubnet(network, "others", "10.9.0.0/24")
			env.config.Networks.ID = &network
			env.plant("loadbalancers", fake.Attrs{"name": "kube_service_" + namespace + "_default_web", "vip_subnet_id": subnet})
			env.mustReconcile()
			env.mustDelete()
			assert.Equal(t, gone, len(env.resources().LoadBalancers) == 0, namespace)
		}
	})
}

func TestRemoveRoutes(t *testing.T) {
	t.Run("routes to nodes are taken off the user's router, others stay", func(t *testing.T) {
		env := newEnvironment(t)
		router := env.plantRouter("theirs")
		subnet := env.plantSubnet(env.plant("networks", fake.Attrs{"name": "office"}), "office", "192.168.7.0/24")
		env.operate("PUT", services.Neutron, "/v2.0/routers/"+router+"/add_router_interface", map[string]any{"subnet_id": subnet})
		theirs := map[string]any{"destination": "172.16.0.0/16", "nexthop": "192.168.7.9"}
		env.updateResource("routers", "router", router, fake.Attrs{"routes": []any{theirs}})
		env.config.Networks.Router = &openstackv1alpha1.Router{ID: router}
		before := env.resources()
		env.mustReconcile()
		ours := map[string]any{"destination": "100.96.1.0/24", "nexthop": "10.250.0.7"}
		env.updateResource("routers", "router", router, fake.Attrs{"routes": []any{theirs, ours}})

		// Somebody else changes the router between our read and our write.
		meddled := false
		env.cloud.SetHook(func(event wire.Event) wire.HookResult {
			if event.Phase == wire.Before && event.Call.Name() == "neutron PUT /v2.0/routers/{id}" && !meddled {
				meddled = true
				env.updateResource("routers", "router", router, fake.Attrs{"description": "meddled"})
			}
			return wire.Proceed
		})
		env.mustDelete()
		assert.True(t, meddled)
		env.assertUnchanged(before)
		require.Len(t, env.resources().Routers[0].Routes, 1)
		assert.Equal(t, "192.168.7.9", env.resources().Routers[0].Routes[0].NextHop)
	})
	t.Run("routes on the shoot's own router do not keep it from going", func(t *testing.T) {
		env := newEnvironment(t)
		empty := env.resources()
		env.mustReconcile()
		env.updateResource("routers", "router", env.state()["Router"], fake.Attrs{"routes": []any{map[string]any{"destination": "100.96.1.0/24", "nexthop": "10.250.0.7"}}})
		env.mustDelete()
		env.assertUnchanged(empty)
	})
}

func TestRemoveRoutes_GivenSubnet(t *testing.T) {
	route := func(destination, hop string) map[string]any {
		return map[string]any{"destination": destination, "nexthop": hop}
	}
	given := func(t *testing.T) (env *environment, router, subnet string) {
		env = newEnvironment(t)
		router = env.plantRouter("theirs")
		network := env.plant("networks", fake.Attrs{"name": "theirs"})
		subnet = env.plantSubnet(network, "theirs", "10.250.64.0/20")
		env.config.Networks = openstackv1alpha1.Networks{ID: &network, SubnetID: &subnet, Router: &openstackv1alpha1.Router{ID: router}}
		return env, router, subnet
	}
	t.Run("of the user and of another shoot stay on the user's router", func(t *testing.T) {
		env, router, subnet := given(t)
		env.operate("PUT", services.Neutron, "/v2.0/routers/"+router+"/add_router_interface", map[string]any{"subnet_id": subnet})
		users, neighbours := route("172.16.0.0/16", "10.250.64.9"), route("100.128.1.0/24", "10.250.64.8")
		env.updateResource("routers", "router", router, fake.Attrs{"routes": []any{users, neighbours}})
		before := env.resources()
		env.mustReconcile()
		env.updateResource("routers", "router", router, fake.Attrs{"routes": []any{users, neighbours, route("100.96.1.0/24", "10.250.64.7")}})
		env.mustDelete()
		env.assertUnchanged(before)
		require.Len(t, env.resources().Routers[0].Routes, 2)
		assert.Equal(t, before.Routers[0].Routes, env.resources().Routers[0].Routes)
	})
	t.Run("of the user that need the shoot's interface are named, not removed", func(t *testing.T) {
		env, router, _ := given(t)
		env.mustReconcile()
		env.updateResource("routers", "router", router, fake.Attrs{"routes": []any{route("172.16.0.0/16", "10.250.64.9")}})
		require.ErrorContains(t, env.delete(), "router "+router+" still has a route to 172.16.0.0/16 by 10.250.64.9")
		assert.Len(t, env.resources().Routers[0].Routes, 1)
	})
	t.Run("do not keep the shoot's own router from going", func(t *testing.T) {
		env, _, _ := given(t)
		env.config.Networks.Router = nil
		before := env.resources()
		env.mustReconcile()
		env.updateResource("routers", "router", env.state()["Router"], fake.Attrs{"routes": []any{route("172.16.0.0/16", "10.250.64.9")}})
		env.mustDelete()
		env.assertUnchanged(before)
	})
}

func TestFloatingIPsOf_ManyLoadBalancers(t *testing.T) {
	env := newEnvironment(t)
	env.mustReconcile()
	env.createLoadBalancer(technicalID, env.state()["Subnet"])
	session := env.session()
	balancers, err := session.ListLoadBalancers(t.Context(), cloudopenstack.LoadBalancerFilter{VIPNetworkID: env.state()["Network"]})
	require.NoError(t, err)
	for i := range 2 * portsPerQuery {
		balancers = slices.Insert(balancers, 0, cloudopenstack.LoadBalancer{VIPPortID: fmt.Sprintf("00000000-0000-0000-0000-%012d", i)})
	}
	env.takeCalls()
	rec := &reconciliation{recordedShoot: recordedShoot{plan: &plan{clusterNames: []string{technicalID}}}, cloud: session}
	leftovers, err := rec.floatingIPsOf(t.Context(), balancers)
	require.NoError(t, err)
	assert.Len(t, leftovers, 1)
	assert.Equal(t, map[string]int{getFloatingIPs: 3}, env.takeCalls().Count())
}
