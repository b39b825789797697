package openstack

import (
	"maps"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// upstreamCreate is one create of upstream's extension. It returns what upstream records of it afterwards.
type upstreamCreate struct {
	what string
	do   func(w *world, made map[string]string) map[string]string
}

// upstreamCreates are those of a dual-stack shoot with a share network, in an order in which upstream's extension makes them.
func upstreamCreates() []upstreamCreate {
	subnet := func(key, name string, attrs fake.Attrs) upstreamCreate {
		return upstreamCreate{what: "subnet " + name, do: func(w *world, made map[string]string) map[string]string {
			create := fake.Attrs{"name": name, "network_id": made["Network"]}
			maps.Copy(create, attrs)
			return map[string]string{key: w.plant("subnets", create)}
		}}
	}
	attach := func(key string) upstreamCreate {
		return upstreamCreate{what: "router interface in " + key, do: func(w *world, made map[string]string) map[string]string {
			w.operate("PUT", wire.Neutron, "/v2.0/routers/"+made["Router"]+"/add_router_interface", map[string]any{"subnet_id": made[key]})
			return nil
		}}
	}
	return []upstreamCreate{
		{"network", func(w *world, _ map[string]string) map[string]string {
			return map[string]string{"Network": w.plant("networks", fake.Attrs{"name": technicalID}), "NetworkName": technicalID}
		}},
		{"router", func(w *world, _ map[string]string) map[string]string {
			return map[string]string{"Router": w.plantRouter(technicalID)}
		}},
		subnet("Subnet", technicalID, fake.Attrs{"ip_version": 4, "cidr": "10.250.0.0/19", "dns_nameservers": []string{"1.1.1.1"}}),
		subnet("SubnetIPv6", technicalID+"-ipv6", fake.Attrs{"ip_version": 6, "cidr": "2001:db8:1::/64", "ipv6_ra_mode": "slaac", "ipv6_address_mode": "slaac"}),
		subnet("SubnetIPv6Pod", technicalID+"-ipv6-pod", fake.Attrs{"ip_version": 6, "cidr": "2001:db8:2::/64"}),
		subnet("SubnetIPv6Svc", technicalID+"-ipv6-svc", fake.Attrs{"ip_version": 6, "cidr": "2001:db8:3::/64"}),
		attach("Subnet"),
		attach("SubnetIPv6"),
		{"security group", func(w *world, _ map[string]string) map[string]string {
			group := w.plant("security-groups", fake.Attrs{"name": technicalID, "description": "Cluster Nodes"})
			return map[string]string{"SecurityGroup": group, "SecurityGroupName": technicalID}
		}},
		{"share network", func(w *world, made map[string]string) map[string]string {
			share := w.plant("share-networks", fake.Attrs{"name": technicalID, "neutron_net_id": made["Network"], "neutron_subnet_id": made["Subnet"]})
			return map[string]string{"ShareNetwork": share, "ShareNetworkName": technicalID}
		}},
		{"key pair", func(w *world, _ map[string]string) map[string]string {
			_, err := w.session().CreateKeyPair(w.t.Context(), technicalID, sshKey)
			require.NoError(w.t, err)
			return map[string]string{"KeyPair": technicalID}
		}},
	}
}

func newUpstreamWorld(t *testing.T) *world {
	w := newWorld(t)
	w.config.Networks.IPv6 = &openstackv1alpha1.IPv6Config{NodeCIDR: "2001:db8:1::/64", PodCIDR: "2001:db8:2::/64", ServiceCIDR: "2001:db8:3::/64"}
	w.config.Networks.ShareNetwork = &openstackv1alpha1.ShareNetwork{Enabled: true}
	w.shoot.Spec.Networking.IPFamilies = []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv4, gardencorev1beta1.IPFamilyIPv6}
	return w
}

// saveUpstreamState saves data as upstream's extension does.
func (w *world) saveUpstreamState(data map[string]string) {
	w.t.Helper()
	w.infra.Status.State = w.marshal(map[string]any{
		"apiVersion": openstackv1alpha1.GroupVersion().String(), "kind": "InfrastructureState", "data": data,
	})
}

// stoppedUpstream returns a shoot of which upstream's extension has made so many resources. It has recorded all but the last one, or of all of
// them nothing but its first words.
func stoppedUpstream(t *testing.T, creates int, firstWords map[string]string) *world {
	w := newUpstreamWorld(t)
	made, recorded := map[string]string{}, map[string]string{"FloatingNetwork": w.floatingNetwork(), "FloatingNetworkName": fake.ExternalNetwork}
	for i, create := range upstreamCreates()[:creates] {
		facts := create.do(w, made)
		maps.Copy(made, facts)
		if i < creates-1 {
			maps.Copy(recorded, facts)
		}
	}
	if firstWords != nil {
		recorded = firstWords
	}
	w.saveUpstreamState(recorded)
	w.attempted = true
	w.cloud.ResetLog()
	return w
}

func TestUpstreamStopped_AfterEachOfItsCreates(t *testing.T) {
	reference, empty := newUpstreamWorld(t), kinds(newUpstreamWorld(t).there())
	reference.mustReconcile()
	whole := kinds(reference.there())
	for records, firstWords := range map[string]map[string]string{
		"all but the last one recorded": nil, "its marker alone recorded": {openstackv1alpha1.StateKeyResourcesExist: "true"},
	} {
		for i, create := range upstreamCreates() {
			name := "the " + create.what + ", " + records
			t.Run(name+": a reconcile makes nothing twice, a deletion leaves nothing", func(t *testing.T) {
				w := stoppedUpstream(t, i+1, firstWords)
				before := w.there()
				w.mustReconcile()
				assert.Equal(t, whole, kinds(w.there()))
				_, went := fake.Diff(before, w.there())
				assert.Empty(t, went)
				w.mustDelete()
				assert.Equal(t, empty, kinds(w.there()))
			})
			t.Run(name+": a deletion at once leaves nothing", func(t *testing.T) {
				w := stoppedUpstream(t, i+1, firstWords)
				w.mustDelete()
				assert.Equal(t, empty, kinds(w.there()))
			})
		}
	}
}

// The second attempt has to know as much as the first one, whatever the first has recorded or removed.
func TestUpstreamStopped_AttemptsThatFail(t *testing.T) {
	all := len(upstreamCreates())
	empty := kinds(newUpstreamWorld(t).there())
	fail := func(w *world, match wire.Match) {
		w.cloud.Inject(wire.Fault{Match: match, Times: -1, Status: 500})
	}
	t.Run("a deletion that removed all but the router", func(t *testing.T) {
		w := stoppedUpstream(t, all, nil)
		made := w.state()
		w.saveUpstreamState(map[string]string{"Network": made["Network"], "NetworkName": technicalID})
		fail(w, wire.Match{Service: wire.Neutron, Method: "DELETE", Path: "/v2.0/routers/{id}"})
		require.Error(t, w.delete())
		require.Empty(t, w.state()["Network"], "forgotten, since it is gone")
		w.restart()
		w.mustDelete()
		assert.Equal(t, empty, kinds(w.there()))
	})
	t.Run("a deletion that found load balancers", func(t *testing.T) {
		w := stoppedUpstream(t, all, map[string]string{openstackv1alpha1.StateKeyResourcesExist: "true"})
		balancer := w.plant("loadbalancers", fake.Attrs{"name": "kube_service_" + technicalID + "_default_web", "vip_subnet_id": w.there().Subnets[0].ID})
		port := w.operate("GET", wire.Octavia, "/v2.0/lbaas/loadbalancers/"+balancer, nil)["loadbalancer"].(map[string]any)["vip_port_id"]
		w.plant("floatingips", fake.Attrs{
			"floating_network_id": w.floatingNetwork(), "port_id": port,
			"description": "Floating IP for Kubernetes external service default/web from cluster " + technicalID,
		})
		fail(w, wire.Match{Service: wire.Octavia, Method: "DELETE"})
		require.Error(t, w.delete())
		w.restart()
		w.mustDelete()
		assert.Equal(t, empty, kinds(w.there()))
	})
	for name, recorded := range map[string]bool{"recorded": true, "taken": false} {
		t.Run("a deletion does not take another's network for the "+name+" one that it removed before", func(t *testing.T) {
			w := stoppedUpstream(t, all, nil)
			state := map[string]string{openstackv1alpha1.StateKeyResourcesExist: "true"}
			if recorded {
				state["Network"] = w.state()["Network"]
			}
			w.saveUpstreamState(state)
			network := w.there().Networks[0].ID
			fail(w, wire.Match{Service: wire.Neutron, Method: "DELETE", Path: "/v2.0/routers/{id}"})
			require.Error(t, w.delete())
			w.restart()
			another := w.plant("networks", fake.Attrs{"name": technicalID})
			w.mustDelete()
			require.Len(t, w.there().Networks, 1)
			assert.Equal(t, another, w.there().Networks[0].ID)
			assert.NotEqual(t, network, another)
		})
	}
	t.Run("reconciles that cannot make what is missing", func(t *testing.T) {
		w := stoppedUpstream(t, 2, map[string]string{openstackv1alpha1.StateKeyResourcesExist: "true"})
		before := w.there()
		for _, path := range []string{"/v2.0/networks", "/v2.0/routers", "/v2.0/subnets", "/v2.0/security-groups"} {
			fail(w, wire.Match{Service: wire.Neutron, Method: "POST", Path: path})
		}
		_, err := w.reconcile()
		require.Error(t, err)
		w.restart()
		w.mustReconcile()
		_, went := fake.Diff(before, w.there())
		assert.Empty(t, went)
		assert.Len(t, w.there().Routers, 1)
		assert.Len(t, w.there().Networks, 1)
		w.mustDelete()
		assert.Equal(t, empty, kinds(w.there()))
	})
}

func TestUpstreamStopped_NamesakesInOtherPlaces(t *testing.T) {
	marker := map[string]string{openstackv1alpha1.StateKeyResourcesExist: "true"}
	t.Run("a network that another project shares is not the shoot's", func(t *testing.T) {
		w := stoppedUpstream(t, 0, marker)
		shared, err := w.cloud.Plant(fake.AdminProject, "networks", fake.Attrs{"name": technicalID, "shared": true})
		require.NoError(t, err)
		w.mustReconcile()
		assert.NotEqual(t, shared, w.state()["Network"])
		w.mustDelete()
		assert.Equal(t, kinds(newUpstreamWorld(t).there()), kinds(w.there()))
	})
	t.Run("a deletion succeeds beside a network that another project shares", func(t *testing.T) {
		w := stoppedUpstream(t, 0, marker)
		_, err := w.cloud.Plant(fake.AdminProject, "networks", fake.Attrs{"name": technicalID, "shared": true})
		require.NoError(t, err)
		w.mustDelete()
	})
	t.Run("a share network over another network is not the shoot's", func(t *testing.T) {
		w := stoppedUpstream(t, 1, nil)
		network := w.plant("networks", fake.Attrs{"name": "theirs"})
		share := w.plant("share-networks", fake.Attrs{
			"name": technicalID, "neutron_net_id": network, "neutron_subnet_id": w.plantSubnet(network, "theirs", "10.9.0.0/24"),
		})
		w.mustReconcile()
		assert.NotEqual(t, share, w.state()["ShareNetwork"])
		w.mustDelete()
		require.Len(t, w.there().ShareNetworks, 1)
		assert.Equal(t, share, w.there().ShareNetworks[0].ID)
	})
	t.Run("a subnet of the name in another network is not the shoot's", func(t *testing.T) {
		w := stoppedUpstream(t, 1, nil)
		subnet := w.plantSubnet(w.plant("networks", fake.Attrs{"name": "theirs"}), technicalID, "10.250.0.0/19")
		w.mustReconcile()
		assert.NotEqual(t, subnet, w.state()["Subnet"])
		w.mustDelete()
		require.Len(t, w.there().Subnets, 1)
		assert.Equal(t, subnet, w.there().Subnets[0].ID)
	})
	t.Run("a key pair of the name with another key is not the shoot's", func(t *testing.T) {
		w := stoppedUpstream(t, 1, nil)
		_, err := w.session().CreateKeyPair(t.Context(), technicalID, otherKey)
		require.NoError(t, err)
		w.mustReconcile()
		assert.Equal(t, keyPairName(technicalID, shootUID), w.state()["KeyPair"])
		w.mustDelete()
		require.Len(t, w.there().KeyPairs, 1)
		assert.True(t, samePublicKey(otherKey, w.there().KeyPairs[0].PublicKey))
	})
	t.Run("a deletion names a key pair of the name with another key, and deletes all else", func(t *testing.T) {
		for name, key := range map[string]string{"SSH access is off": "", "the key was rotated": otherKey} {
			w := stoppedUpstream(t, len(upstreamCreates()), nil) // which did not come to record the key pair
			w.infra.Spec.SSHPublicKey = []byte(key)
			for range 2 {
				err := w.delete()
				require.ErrorContains(t, err, "key pair "+technicalID, name)
				assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
			}
			require.Len(t, w.there().KeyPairs, 1)
			assert.Empty(t, w.there().Routers)
			require.NoError(t, w.session().DeleteKeyPair(t.Context(), technicalID))
			w.mustDelete()
			assert.Equal(t, kinds(newUpstreamWorld(t).there()), kinds(w.there()))
		}
	})
}
