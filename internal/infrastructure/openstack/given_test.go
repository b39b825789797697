package openstack

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// floatingNetwork is the ID of the external network.
func (env *environment) floatingNetwork() string {
	return env.cloud.State(fake.AdminProject).Networks[0].ID
}

// plantRouter makes a router with a gateway.
func (env *environment) plantRouter(name string) string {
	return env.plant("routers", fake.Attrs{"name": name, "external_gateway_info": map[string]any{"network_id": env.floatingNetwork()}})
}

func (env *environment) plantSubnet(network, name, cidr string) string {
	return env.plant("subnets", fake.Attrs{"name": name, "network_id": network, "ip_version": 4, "cidr": cidr})
}

// reconcileTwiceAndDelete reconciles twice and deletes, and asserts that nothing of the user's was touched.
func (env *environment) reconcileTwiceAndDelete() {
	env.t.Helper()
	before := env.resources()
	env.mustReconcile()
	_, deleted := fake.Diff(before, env.resources())
	assert.Empty(env.t, deleted)
	env.cloud.ResetLog()
	env.mustReconcile()
	assert.Empty(env.t, env.takeCalls().Where(wire.Call.IsWrite), "the second pass changes nothing")
	env.mustDelete()
	env.assertUnchanged(before)
}

func TestGivenRouter(t *testing.T) {
	t.Run("is used and stays", func(t *testing.T) {
		env := newEnvironment(t)
		id := env.plantRouter("theirs")
		env.config.Networks.Router = &openstackv1alpha1.Router{ID: id}
		env.reconcileTwiceAndDelete()
	})
	t.Run("gives its addresses as egress ranges", func(t *testing.T) {
		env := newEnvironment(t)
		env.config.Networks.Router = &openstackv1alpha1.Router{ID: env.plantRouter("theirs")}
		outcome := env.mustReconcile()
		assert.Equal(t, []string{env.resources().Routers[0].Gateway.ExternalFixedIPs[0].IPAddress + "/32"}, outcome.EgressCIDRs)
	})
	t.Run("that does not exist is a configuration error that names the field", func(t *testing.T) {
		env := newEnvironment(t)
		env.config.Networks.Router = &openstackv1alpha1.Router{ID: "11111111-1111-1111-1111-111111111111"}
		env.attempted = true
		_, err := env.reconcile()
		assert.ErrorContains(t, err, "networks.router.id: there is no router 11111111")
		assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
	})
	t.Run("that does not exist is found out before anything is created, on the first attempt too", func(t *testing.T) {
		env := newEnvironment(t)
		before := env.resources()
		env.config.Networks.Router = &openstackv1alpha1.Router{ID: "11111111-1111-1111-1111-111111111111"}
		_, err := env.reconcile()
		require.Error(t, err)
		env.assertUnchanged(before)
	})
	t.Run("D12: that has no address yet is waited for", func(t *testing.T) {
		env := newEnvironment(t)
		id := env.plant("routers", fake.Attrs{"name": "theirs"})
		env.config.Networks.Router = &openstackv1alpha1.Router{ID: id}
		reads := 0
		env.cloud.SetHook(func(event wire.Event) wire.HookResult {
			if event.Phase == wire.After && event.Call.Name() == "neutron GET /v2.0/routers/{id}" {
				if reads++; reads == 2 {
					env.operate("PUT", services.Neutron, "/v2.0/routers/"+id, map[string]any{
						"router": map[string]any{"external_gateway_info": map[string]any{"network_id": env.floatingNetwork()}},
					})
				}
			}
			return wire.Proceed
		})
		outcome := env.mustReconcile()
		assert.NotEmpty(t, outcome.EgressCIDRs)
		assert.GreaterOrEqual(t, reads, 2)
	})
	t.Run("in another external network is reported", func(t *testing.T) {
		env := newEnvironment(t)
		other, err := env.cloud.CreateResource(fake.AdminProject, "networks", fake.Attrs{"name": "other", "router:external": true})
		require.NoError(t, err)
		_, err = env.cloud.CreateResource(fake.AdminProject, "subnets", fake.Attrs{"network_id": other, "ip_version": 4, "cidr": "203.0.113.0/24"})
		require.NoError(t, err)
		id := env.plant("routers", fake.Attrs{"name": "theirs", "external_gateway_info": map[string]any{"network_id": other}})
		env.config.Networks.Router = &openstackv1alpha1.Router{ID: id}
		outcome := env.mustReconcile()
		require.Len(t, outcome.Findings, 1)
		assert.Contains(t, outcome.Findings[0], "load balancers of the shoot cannot have floating IPs")
	})
}

func TestGivenNetwork(t *testing.T) {
	t.Run("is used and stays", func(t *testing.T) {
		env := newEnvironment(t)
		env.config.Networks.ID = new(env.plant("networks", fake.Attrs{"name": "theirs"}))
		env.reconcileTwiceAndDelete()
	})
	t.Run("that is external is refused", func(t *testing.T) {
		env := newEnvironment(t)
		env.config.Networks.ID = new(env.floatingNetwork())
		_, err := env.reconcile()
		assert.ErrorContains(t, err, "networks.id")
		assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
	})
}

func TestGivenSubnet(t *testing.T) {
	given := func(t *testing.T) (*environment, string) {
		env := newEnvironment(t)
		network := env.plant("networks", fake.Attrs{"name": "theirs"})
		subnet := env.plantSubnet(network, "theirs", "10.250.64.0/20")
		env.config.Networks = openstackv1alpha1.Networks{ID: &network, SubnetID: &subnet}
		return env, subnet
	}
	t.Run("is used and stays; the interface goes", func(t *testing.T) {
		env, _ := given(t)
		env.reconcileTwiceAndDelete()
	})
	t.Run("decides the range of the nodes", func(t *testing.T) {
		env, _ := given(t)
		outcome := env.mustReconcile()
		assert.Equal(t, new("10.250.64.0/20"), outcome.NodesCIDR)
		assert.Equal(t, []string{"10.250.64.0/20"}, outcome.Nodes)
	})
	t.Run("on a given router that is connected already keeps its interface", func(t *testing.T) {
		env, subnet := given(t)
		router := env.plantRouter("theirs")
		env.operate("PUT", services.Neutron, "/v2.0/routers/"+router+"/add_router_interface", map[string]any{"subnet_id": subnet})
		env.config.Networks.Router = &openstackv1alpha1.Router{ID: router}
		env.reconcileTwiceAndDelete()
	})
	t.Run("on a given router that is not connected yet loses what the driver added", func(t *testing.T) {
		env, _ := given(t)
		env.config.Networks.Router = &openstackv1alpha1.Router{ID: env.plantRouter("theirs")}
		env.reconcileTwiceAndDelete()
	})
	t.Run("loses an interface whose creation nobody saw end", func(t *testing.T) {
		env, _ := given(t)
		env.config.Networks.Router = &openstackv1alpha1.Router{ID: env.plantRouter("theirs")}
		before := env.resources()
		env.cloud.Inject(wire.Fault{Match: wire.Match{Path: "/v2.0/routers/{id}/add_router_interface"}, Drop: wire.DropAfter})
		_, err := env.reconcile()
		require.Error(t, err)
		env.restart()
		env.mustReconcile()
		env.mustDelete()
		env.assertUnchanged(before)
	})
	t.Run("that is connected to another router names that router", func(t *testing.T) {
		for name, router := range map[string]func(env *environment) *openstackv1alpha1.Router{
			"when none is given": func(*environment) *openstackv1alpha1.Router { return nil },
			"when another is given": func(env *environment) *openstackv1alpha1.Router {
				return &openstackv1alpha1.Router{ID: env.plantRouter("spare")}
			},
		} {
			env, subnet := given(t)
			theirs := env.plantRouter("theirs")
			env.operate("PUT", services.Neutron, "/v2.0/routers/"+theirs+"/add_router_interface", map[string]any{"subnet_id": subnet})
			env.config.Networks.Router = router(env)
			_, err := env.reconcile()
			require.ErrorContains(t, err, "networks.router.id: subnet "+subnet+" is connected to router "+theirs+" already; give that router", name)
			assert.Equal(t, cloud.Configuration, cloud.KindOf(err))

			env.config.Networks.Router = &openstackv1alpha1.Router{ID: theirs}
			env.mustReconcile() // which removes the router that the shoot made for itself
			assert.Len(t, env.resources().Routers, map[string]int{"when none is given": 1, "when another is given": 2}[name])
		}
	})
	t.Run("whose gateway address something else has names it", func(t *testing.T) {
		env, subnet := given(t)
		port := env.plant("ports", fake.Attrs{"network_id": *env.config.Networks.ID, "name": "squatter", "fixed_ips": []any{
			map[string]any{"subnet_id": subnet, "ip_address": "10.250.64.1"},
		}})
		_, err := env.reconcile()
		require.ErrorContains(t, err, "networks.subnetId: the gateway address 10.250.64.1 of subnet "+subnet+" is taken by port "+port+" (squatter)")
		assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
	})
	t.Run("in another network is refused", func(t *testing.T) {
		env, _ := given(t)
		env.config.Networks.ID = new(env.plant("networks", fake.Attrs{"name": "another"}))
		_, err := env.reconcile()
		assert.ErrorContains(t, err, "networks.subnetId")
		assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
	})
	t.Run("of the wrong family is refused", func(t *testing.T) {
		env, _ := given(t)
		env.config.Networks.SubnetID = new(env.plant("subnets", fake.Attrs{"network_id": *env.config.Networks.ID, "ip_version": 6, "cidr": "2001:db8::/64"}))
		_, err := env.reconcile()
		assert.ErrorContains(t, err, "is an IPv6 subnet; give an IPv4 subnet")
	})
}

func TestGivenSecurityGroup(t *testing.T) {
	env := newEnvironment(t)
	env.config.Networks.SecurityGroupID = new(env.plant("security-groups", fake.Attrs{"name": "theirs"}))
	env.reconcileTwiceAndDelete()
	outcome := env.mustReconcile()
	assert.Len(t, outcome.Findings, 1, "what nodes need and the group lacks is reported: %v", outcome.Findings)
}
