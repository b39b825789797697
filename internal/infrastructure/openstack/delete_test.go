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
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

func TestDeleting(t *testing.T) {
	t.Run("what never was needs no cloud, and no credentials that are accepted", func(t *testing.T) {
		w := newWorld(t)
		w.secret["password"] = []byte("wrong")
		for range 2 {
			_, err := w.reconcile()
			require.Equal(t, cloud.Unauthenticated, cloud.KindOf(err))
		}
		w.calls()
		w.mustDelete()
		assert.Empty(t, w.calls())
	})
	t.Run("what was tried needs it, whatever came of it", func(t *testing.T) {
		w := newWorld(t)
		w.secret["password"] = []byte("wrong")
		_, err := w.reconcile()
		require.Error(t, err)
		w.secret["password"] = []byte(fake.DefaultPassword)
		w.cloud.Inject(wire.Fault{Match: wire.Match{WritesOnly: true}, Skip: 1, Times: -1, Status: 500})
		_, err = w.reconcile()
		require.Error(t, err)
		w.secret["password"] = []byte("wrong")
		assert.ErrorContains(t, w.delete(), "logging in to OpenStack")
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
		for _, key := range []string{"Network", "NetworkName", "Subnet", "Router", "SecurityGroup", "SecurityGroupName", "KeyPair", "trellis.workersCIDR", "trellis.ownership", "trellis.intents"} {
			assert.Empty(t, w.state()[key], key)
		}
	})
	t.Run("D2: forgets only what is gone when the cloud fails", func(t *testing.T) {
		w := newWorld(t)
		empty := w.there()
		w.mustReconcile()
		w.cloud.Inject(wire.Fault{Match: wire.Match{Service: wire.Neutron, Method: "DELETE"}, Times: -1, Status: 500})
		require.Error(t, w.delete())
		assert.NotEmpty(t, w.state()["Network"])
		w.cloud.ClearFaults()
		w.mustDelete()
		w.unchanged(empty)
	})
}

func TestDeletingInAdversity(t *testing.T) {
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
	t.Run("finds a share network by its mark, and leaves its namesakes", func(t *testing.T) {
		w := newWorld(t)
		w.config.Networks.ShareNetwork = &openstackv1alpha1.ShareNetwork{Enabled: true}
		w.plant("share-networks", fake.Attrs{"name": technicalID})
		before := w.there()
		w.mustReconcile()
		w.forget()
		w.mustReconcile()
		assert.Len(t, w.there().ShareNetworks, 2, "the second pass found it")
		w.forget()
		w.mustDelete()
		w.unchanged(before)
	})
	t.Run("works without Octavia and Manila", func(t *testing.T) {
		w := newWorld(t, fake.WithoutServices(wire.Octavia, wire.Manila))
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
	t.Run("D8, D10: does not touch shoots whose technical ID begins alike", func(t *testing.T) {
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
	t.Run("a server, by its name", func(t *testing.T) {
		w := newWorld(t)
		w.mustReconcile()
		first := func(service wire.Service, path, key string) any {
			found, ok := w.operate(http.MethodGet, service, path, nil)[key].([]any)
			require.True(t, ok)
			return found[0].(map[string]any)["id"]
		}
		w.plant("servers", fake.Attrs{
			"name": "bastion", "flavorRef": first(wire.Nova, "/v2.1/flavors", "flavors"), "imageRef": first(wire.Glance, "/v2/images", "images"),
			"networks": []any{map[string]any{"uuid": w.state()["Network"]}},
		})
		err := w.delete()
		require.ErrorContains(t, err, " of server bastion is still in subnet "+w.state()["Subnet"])
		assert.Equal(t, cloud.InUse, cloud.KindOf(err))
	})
	t.Run("a load balancer of somebody else's in the shoot's subnet of a shared network", func(t *testing.T) {
		w := newWorld(t)
		w.config.Networks.ID = new(w.plant("networks", fake.Attrs{"name": "shared"}))
		w.mustReconcile()
		id := w.plant("loadbalancers", fake.Attrs{"name": "theirs", "vip_subnet_id": w.state()["Subnet"]})
		require.ErrorContains(t, w.delete(), " of load balancer "+id+" is still in subnet")
		assert.Len(t, w.there().LoadBalancers, 1)
	})
	t.Run("a server that Nova does not know, by its ID", func(t *testing.T) {
		w := newWorld(t)
		w.mustReconcile()
		port := w.plant("ports", fake.Attrs{"name": "p", "network_id": w.state()["Network"], "device_owner": "compute:nova", "device_id": "22222222-2222-2222-2222-222222222222"})
		err := w.delete()
		require.ErrorContains(t, err, "port "+port+" of server 22222222-2222-2222-2222-222222222222 is still in subnet "+w.state()["Subnet"])
		assert.Equal(t, cloud.InUse, cloud.KindOf(err))
	})
	t.Run("five of many, of which no more are asked for", func(t *testing.T) {
		w := newWorld(t)
		w.mustReconcile()
		for range 1500 {
			w.plant("ports", fake.Attrs{"network_id": w.state()["Network"], "device_owner": "compute:nova", "device_id": "22222222-2222-2222-2222-222222222222"})
		}
		w.calls()
		require.ErrorContains(t, w.delete(), "; and 1495 more")
		ofNova := w.calls().Where(func(call wire.Call) bool {
			return call.Service == wire.Nova && strings.Contains(call.Path, "/servers/")
		})
		assert.Len(t, ofNova, 5, ofNova.Summary())
	})
	t.Run("a foreign interface on the router", func(t *testing.T) {
		w := newWorld(t)
		w.mustReconcile()
		subnet := w.plantSubnet(w.plant("networks", fake.Attrs{"name": "other"}), "other", "192.168.7.0/24")
		w.operate("PUT", wire.Neutron, "/v2.0/routers/"+w.state()["Router"]+"/add_router_interface", map[string]any{"subnet_id": subnet})
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
