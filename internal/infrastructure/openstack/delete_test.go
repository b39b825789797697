package openstack

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

func TestDriver_Delete(t *testing.T) {
	t.Run("what never was needs no cloud, and no credentials that are accepted", func(t *testing.T) {
		env := newEnvironment(t)
		env.secret["password"] = []byte("wrong")
		for range 2 {
			_, err := env.reconcile()
			require.Equal(t, cloud.Unauthenticated, cloud.KindOf(err))
		}
		env.takeCalls()
		env.mustDelete()
		assert.Empty(t, env.takeCalls())
	})
	t.Run("what was tried needs it, whatever came of it", func(t *testing.T) {
		env := newEnvironment(t)
		env.secret["password"] = []byte("wrong")
		_, err := env.reconcile()
		require.Error(t, err)
		env.secret["password"] = []byte(fake.DefaultPassword)
		env.cloud.Inject(wire.Fault{Match: wire.Match{WritesOnly: true}, Skip: 1, Times: -1, Status: 500})
		_, err = env.reconcile()
		require.Error(t, err)
		env.secret["password"] = []byte("wrong")
		assert.ErrorContains(t, env.delete(), "logging in to OpenStack")
	})
	t.Run("twice is fine", func(t *testing.T) {
		env := newEnvironment(t)
		empty := env.resources()
		env.mustReconcile()
		env.mustDelete()
		env.mustDelete()
		env.assertUnchanged(empty)
	})
	t.Run("D3: with an empty state finds everything by its mark", func(t *testing.T) {
		env := newEnvironment(t)
		empty := env.resources()
		env.mustReconcile()
		env.clearStatus()
		env.mustDelete()
		env.assertUnchanged(empty)
	})
	t.Run("D22: leaves nothing of what is gone in the state", func(t *testing.T) {
		env := newEnvironment(t)
		env.mustReconcile()
		env.mustDelete()
		for _, key := range []string{"Network", "NetworkName", "Subnet", "Router", "SecurityGroup", "SecurityGroupName", "KeyPair", "trellis.workersCIDR", "trellis.ownership", "trellis.intents"} {
			assert.Empty(t, env.state()[key], key)
		}
	})
	t.Run("D2: forgets only what is gone when the cloud fails", func(t *testing.T) {
		env := newEnvironment(t)
		empty := env.resources()
		env.mustReconcile()
		env.cloud.Inject(wire.Fault{Match: wire.Match{Service: services.Neutron, Method: "DELETE"}, Times: -1, Status: 500})
		require.Error(t, env.delete())
		assert.NotEmpty(t, env.state()["Network"])
		env.cloud.ClearFaults()
		env.mustDelete()
		env.assertUnchanged(empty)
	})
}

func TestDriver_DeleteWithMissingInputs(t *testing.T) {
	t.Run("works although somebody removed parts by hand", func(t *testing.T) {
		env := newEnvironment(t)
		empty := env.resources()
		env.mustReconcile()
		require.NoError(t, env.session().RemoveRouterInterface(t.Context(), env.state()["Router"], env.state()["Subnet"]))
		require.NoError(t, env.session().DeleteRouter(t.Context(), env.state()["Router"]))
		require.NoError(t, env.session().DeleteKeyPair(t.Context(), env.state()["KeyPair"]))
		env.mustDelete()
		env.assertUnchanged(empty)
	})
	t.Run("finds a share network by its mark, and leaves its namesakes", func(t *testing.T) {
		env := newEnvironment(t)
		env.config.Networks.ShareNetwork = &openstackv1alpha1.ShareNetwork{Enabled: true}
		env.plant("share-networks", fake.Attrs{"name": technicalID})
		before := env.resources()
		env.mustReconcile()
		env.clearStatus()
		env.mustReconcile()
		assert.Len(t, env.resources().ShareNetworks, 2, "the second pass found it")
		env.clearStatus()
		env.mustDelete()
		env.assertUnchanged(before)
	})
	t.Run("works without Octavia and Manila", func(t *testing.T) {
		env := newEnvironment(t, fake.WithoutServices(services.Octavia, services.Manila))
		empty := env.resources()
		env.mustReconcile()
		env.mustDelete()
		env.assertUnchanged(empty)
	})
	t.Run("works with a configuration that cannot be read any more", func(t *testing.T) {
		env := newEnvironment(t)
		empty := env.resources()
		env.mustReconcile()
		shoot := env.input()
		shoot.Infrastructure.Spec.ProviderConfig.Raw = []byte(`{"kind":"Nonsense"}`)
		require.NoError(t, env.driver.Delete(t.Context(), shoot, &savingRecorder{env: env}))
		env.assertUnchanged(empty)
	})
	t.Run("with lost credentials says so and forgets nothing", func(t *testing.T) {
		env := newEnvironment(t)
		env.mustReconcile()
		state := env.state()
		env.secret["password"] = []byte("wrong")
		err := env.delete()
		require.ErrorContains(t, err, "logging in to OpenStack")
		assert.Equal(t, cloud.Unauthenticated, cloud.KindOf(err))
		assert.Equal(t, state, env.state())
	})
	t.Run("D8, D10: does not touch shoots whose technical ID begins alike", func(t *testing.T) {
		env := newEnvironment(t)
		for _, name := range []string{technicalID + "-b", "shoot--dev--on"} {
			network := env.plant("networks", fake.Attrs{"name": name, "description": formatMark(name, "uid-"+name)})
			env.plant("loadbalancers", fake.Attrs{"name": "kube_service_" + name + "_default_web", "vip_subnet_id": env.plantSubnet(network, name, "10.3.0.0/24")})
		}
		before := env.resources()
		env.mustReconcile()
		env.clearStatus()
		env.mustDelete()
		env.assertUnchanged(before)
	})
}

func TestDriver_DeleteBlocked(t *testing.T) {
	t.Run("a server, by its name", func(t *testing.T) {
		env := newEnvironment(t)
		env.mustReconcile()
		first := func(service wire.Service, path, key string) any {
			found, ok := env.operate(http.MethodGet, service, path, nil)[key].([]any)
			require.True(t, ok)
			return found[0].(map[string]any)["id"]
		}
		env.plant("servers", fake.Attrs{
			"name": "bastion", "flavorRef": first(services.Nova, "/v2.1/flavors", "flavors"), "imageRef": first(services.Glance, "/v2/images", "images"),
			"networks": []any{map[string]any{"uuid": env.state()["Network"]}},
		})
		err := env.delete()
		require.ErrorContains(t, err, " of server bastion is still in network "+env.state()["Network"])
		assert.Equal(t, cloud.InUse, cloud.KindOf(err))
	})
	t.Run("a load balancer of somebody else's in the shoot's subnet of a shared network", func(t *testing.T) {
		env := newEnvironment(t)
		env.config.Networks.ID = new(env.plant("networks", fake.Attrs{"name": "shared"}))
		env.mustReconcile()
		id := env.plant("loadbalancers", fake.Attrs{"name": "theirs", "vip_subnet_id": env.state()["Subnet"]})
		require.ErrorContains(t, env.delete(), " of load balancer "+id+" is still in subnet")
		assert.Len(t, env.resources().LoadBalancers, 1)
	})
	t.Run("a server that Nova does not know, by its ID", func(t *testing.T) {
		env := newEnvironment(t)
		env.mustReconcile()
		port := env.plant("ports", fake.Attrs{"name": "p", "network_id": env.state()["Network"], "device_owner": "compute:nova", "device_id": "22222222-2222-2222-2222-222222222222"})
		err := env.delete()
		require.ErrorContains(t, err, "port "+port+" of server 22222222-2222-2222-2222-222222222222 is still in network "+env.state()["Network"])
		assert.Equal(t, cloud.InUse, cloud.KindOf(err))
	})
	t.Run("five of many, of which no more are asked for", func(t *testing.T) {
		env := newEnvironment(t)
		env.mustReconcile()
		for range 1500 {
			env.plant("ports", fake.Attrs{"network_id": env.state()["Network"], "device_owner": "compute:nova", "device_id": "22222222-2222-2222-2222-222222222222"})
		}
		env.takeCalls()
		require.ErrorContains(t, env.delete(), "; and 1495 more")
		ofNova := env.takeCalls().Where(func(call wire.Call) bool {
			return call.Service == services.Nova && strings.Contains(call.Path, "/servers/")
		})
		assert.Len(t, ofNova, 5, ofNova.Summary())
	})
	t.Run("a foreign interface on the router", func(t *testing.T) {
		env := newEnvironment(t)
		env.mustReconcile()
		subnet := env.plantSubnet(env.plant("networks", fake.Attrs{"name": "other"}), "other", "192.168.7.0/24")
		env.operate("PUT", services.Neutron, "/v2.0/routers/"+env.state()["Router"]+"/add_router_interface", map[string]any{"subnet_id": subnet})
		err := env.delete()
		require.ErrorContains(t, err, "is still connected to subnet "+subnet)
		assert.Equal(t, cloud.InUse, cloud.KindOf(err))
		assert.Empty(t, env.state()["Network"], "everything else is gone")
	})
	t.Run("a port with the security group", func(t *testing.T) {
		env := newEnvironment(t)
		env.mustReconcile()
		port := env.plant("ports", fake.Attrs{"name": "leftover", "network_id": env.state()["Network"], "security_groups": []string{env.state()["SecurityGroup"]}})
		assert.ErrorContains(t, env.delete(), "port "+port+" (leftover) still has security group")
	})
	t.Run("a floating IP that somebody attached", func(t *testing.T) {
		env := newEnvironment(t)
		env.mustReconcile()
		port := env.plant("ports", fake.Attrs{"name": "vm", "network_id": env.state()["Network"]})
		ip := env.plant("floatingips", fake.Attrs{"floating_network_id": env.floatingNetwork(), "port_id": port, "description": "mine"})
		assert.ErrorContains(t, env.delete(), "("+ip+") still leads to port "+port)
		assert.Len(t, env.resources().FloatingIPs, 1)
	})
}
