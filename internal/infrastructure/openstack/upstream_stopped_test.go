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
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// upstreamCreate is one create of upstream's extension. It returns what upstream records of it afterwards.
type upstreamCreate struct {
	what string
	do   func(w *environment, made map[string]string) map[string]string
}

// upstreamCreates are those of a dual-stack shoot with a share network, in an order in which upstream's extension makes them.
func upstreamCreates() []upstreamCreate {
	subnet := func(key, name string, attrs fake.Attrs) upstreamCreate {
		return upstreamCreate{what: "subnet " + name, do: func(env *environment, made map[string]string) map[string]string {
			create := fake.Attrs{"name": name, "network_id": made["Network"]}
			maps.Copy(create, attrs)
			return map[string]string{key: env.plant("subnets", create)}
		}}
	}
	attach := func(key string) upstreamCreate {
		return upstreamCreate{what: "router interface in " + key, do: func(env *environment, made map[string]string) map[string]string {
			env.operate("PUT", services.Neutron, "/v2.0/routers/"+made["Router"]+"/add_router_interface", map[string]any{"subnet_id": made[key]})
			return nil
		}}
	}
	return []upstreamCreate{
		{"network", func(env *environment, _ map[string]string) map[string]string {
			return map[string]string{"Network": env.plant("networks", fake.Attrs{"name": technicalID}), "NetworkName": technicalID}
		}},
		{"router", func(env *environment, _ map[string]string) map[string]string {
			return map[string]string{"Router": env.plantRouter(technicalID)}
		}},
		subnet("Subnet", technicalID, fake.Attrs{"ip_version": 4, "cidr": "10.250.0.0/19", "dns_nameservers": []string{"1.1.1.1"}}),
		subnet("SubnetIPv6", technicalID+"-ipv6", fake.Attrs{"ip_version": 6, "cidr": "2001:db8:1::/64", "ipv6_ra_mode": "slaac", "ipv6_address_mode": "slaac"}),
		subnet("SubnetIPv6Pod", technicalID+"-ipv6-pod", fake.Attrs{"ip_version": 6, "cidr": "2001:db8:2::/64"}),
		subnet("SubnetIPv6Svc", technicalID+"-ipv6-svc", fake.Attrs{"ip_version": 6, "cidr": "2001:db8:3::/64"}),
		attach("Subnet"),
		attach("SubnetIPv6"),
		{"security group", func(env *environment, _ map[string]string) map[string]string {
			group := env.plant("security-groups", fake.Attrs{"name": technicalID, "description": "Cluster Nodes"})
			return map[string]string{"SecurityGroup": group, "SecurityGroupName": technicalID}
		}},
		{"share network", func(env *environment, made map[string]string) map[string]string {
			share := env.plant("share-networks", fake.Attrs{"name": technicalID, "neutron_net_id": made["Network"], "neutron_subnet_id": made["Subnet"]})
			return map[string]string{"ShareNetwork": share, "ShareNetworkName": technicalID}
		}},
		{"key pair", func(env *environment, _ map[string]string) map[string]string {
			_, err := env.session().CreateKeyPair(env.t.Context(), technicalID, sshKey)
			require.NoError(env.t, err)
			return map[string]string{"KeyPair": technicalID}
		}},
	}
}

func newUpstreamEnvironment(t *testing.T) *environment {
	env := newEnvironment(t)
	env.config.Networks.IPv6 = &openstackv1alpha1.IPv6Config{NodeCIDR: "2001:db8:1::/64", PodCIDR: "2001:db8:2::/64", ServiceCIDR: "2001:db8:3::/64"}
	env.config.Networks.ShareNetwork = &openstackv1alpha1.ShareNetwork{Enabled: true}
	env.shoot.Spec.Networking.IPFamilies = []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv4, gardencorev1beta1.IPFamilyIPv6}
	return env
}

// saveUpstreamState saves data as upstream's extension does.
func (env *environment) saveUpstreamState(data map[string]string) {
	env.t.Helper()
	env.infra.Status.State = env.marshal(map[string]any{
		"apiVersion": openstackv1alpha1.GroupVersion().String(), "kind": "InfrastructureState", "data": data,
	})
}

// stoppedUpstream returns a shoot of which upstream's extension has made so many resources. It has recorded all but the last one, or of all of
// them nothing but its first words.
func stoppedUpstream(t *testing.T, creates int, firstWords map[string]string) *environment {
	env := newUpstreamEnvironment(t)
	made, recorded := map[string]string{}, map[string]string{"FloatingNetwork": env.floatingNetwork(), "FloatingNetworkName": fake.ExternalNetwork}
	for i, create := range upstreamCreates()[:creates] {
		facts := create.do(env, made)
		maps.Copy(made, facts)
		if i < creates-1 {
			maps.Copy(recorded, facts)
		}
	}
	if firstWords != nil {
		recorded = firstWords
	}
	env.saveUpstreamState(recorded)
	env.attempted = true
	env.cloud.ResetLog()
	return env
}

func TestUpstreamStopped_AfterEachCreate(t *testing.T) {
	reference, empty := newUpstreamEnvironment(t), countByKind(newUpstreamEnvironment(t).resources())
	reference.mustReconcile()
	whole := countByKind(reference.resources())
	for records, firstWords := range map[string]map[string]string{
		"all but the last one recorded": nil, "its marker alone recorded": {openstackv1alpha1.StateKeyResourcesExist: "true"},
	} {
		for i, create := range upstreamCreates() {
			name := "the " + create.what + ", " + records
			t.Run(name+": a reconcile makes nothing twice, a deletion leaves nothing", func(t *testing.T) {
				env := stoppedUpstream(t, i+1, firstWords)
				before := env.resources()
				env.mustReconcile()
				assert.Equal(t, whole, countByKind(env.resources()))
				_, deleted := fake.Diff(before, env.resources())
				assert.Empty(t, deleted)
				env.mustDelete()
				assert.Equal(t, empty, countByKind(env.resources()))
			})
			t.Run(name+": a deletion at once leaves nothing", func(t *testing.T) {
				env := stoppedUpstream(t, i+1, firstWords)
				env.mustDelete()
				assert.Equal(t, empty, countByKind(env.resources()))
			})
		}
	}
}

// The second attempt has to know as much as the first one, whatever the first has recorded or removed.
func TestUpstreamStopped_FailedAttempts(t *testing.T) {
	all := len(upstreamCreates())
	empty := countByKind(newUpstreamEnvironment(t).resources())
	fail := func(env *environment, match wire.Match) {
		env.cloud.Inject(wire.Fault{Match: match, Times: -1, Status: 500})
	}
	t.Run("a deletion that removed all but the router", func(t *testing.T) {
		env := stoppedUpstream(t, all, nil)
		made := env.state()
		env.saveUpstreamState(map[string]string{"Network": made["Network"], "NetworkName": technicalID})
		fail(env, wire.Match{Service: services.Neutron, Method: "DELETE", Path: "/v2.0/routers/{id}"})
		require.Error(t, env.delete())
		require.Empty(t, env.state()["Network"], "forgotten, since it is gone")
		env.restart()
		env.mustDelete()
		assert.Equal(t, empty, countByKind(env.resources()))
	})
	t.Run("a deletion that found load balancers", func(t *testing.T) {
		env := stoppedUpstream(t, all, map[string]string{openstackv1alpha1.StateKeyResourcesExist: "true"})
		balancer := env.plant("loadbalancers", fake.Attrs{"name": "kube_service_" + technicalID + "_default_web", "vip_subnet_id": env.resources().Subnets[0].ID})
		port := env.operate("GET", services.Octavia, "/v2.0/lbaas/loadbalancers/"+balancer, nil)["loadbalancer"].(map[string]any)["vip_port_id"]
		env.plant("floatingips", fake.Attrs{
			"floating_network_id": env.floatingNetwork(), "port_id": port,
			"description": "Floating IP for Kubernetes external service default/web from cluster " + technicalID,
		})
		fail(env, wire.Match{Service: services.Octavia, Method: "DELETE"})
		require.Error(t, env.delete())
		env.restart()
		env.mustDelete()
		assert.Equal(t, empty, countByKind(env.resources()))
	})
	for name, recorded := range map[string]bool{"recorded": true, "taken": false} {
		t.Run("a deletion does not take another's network for the "+name+" one that it removed before", func(t *testing.T) {
			env := stoppedUpstream(t, all, nil)
			state := map[string]string{openstackv1alpha1.StateKeyResourcesExist: "true"}
			if recorded {
				state["Network"] = env.state()["Network"]
			}
			env.saveUpstreamState(state)
			network := env.resources().Networks[0].ID
			fail(env, wire.Match{Service: services.Neutron, Method: "DELETE", Path: "/v2.0/routers/{id}"})
			require.Error(t, env.delete())
			env.restart()
			another := env.plant("networks", fake.Attrs{"name": technicalID})
			env.mustDelete()
			require.Len(t, env.resources().Networks, 1)
			assert.Equal(t, another, env.resources().Networks[0].ID)
			assert.NotEqual(t, network, another)
		})
	}
	t.Run("reconciles that cannot make what is missing", func(t *testing.T) {
		env := stoppedUpstream(t, 2, map[string]string{openstackv1alpha1.StateKeyResourcesExist: "true"})
		before := env.resources()
		for _, path := range []string{"/v2.0/networks", "/v2.0/routers", "/v2.0/subnets", "/v2.0/security-groups"} {
			fail(env, wire.Match{Service: services.Neutron, Method: "POST", Path: path})
		}
		_, err := env.reconcile()
		require.Error(t, err)
		env.restart()
		env.mustReconcile()
		_, deleted := fake.Diff(before, env.resources())
		assert.Empty(t, deleted)
		assert.Len(t, env.resources().Routers, 1)
		assert.Len(t, env.resources().Networks, 1)
		env.mustDelete()
		assert.Equal(t, empty, countByKind(env.resources()))
	})
}

func TestUpstreamStopped_NamesakesElsewhere(t *testing.T) {
	marker := map[string]string{openstackv1alpha1.StateKeyResourcesExist: "true"}
	t.Run("a network that another project shares is not the shoot's", func(t *testing.T) {
		env := stoppedUpstream(t, 0, marker)
		shared, err := env.cloud.CreateResource(fake.AdminProject, "networks", fake.Attrs{"name": technicalID, "shared": true})
		require.NoError(t, err)
		env.mustReconcile()
		assert.NotEqual(t, shared, env.state()["Network"])
		env.mustDelete()
		assert.Equal(t, countByKind(newUpstreamEnvironment(t).resources()), countByKind(env.resources()))
	})
	t.Run("a deletion succeeds beside a network that another project shares", func(t *testing.T) {
		env := stoppedUpstream(t, 0, marker)
		_, err := env.cloud.CreateResource(fake.AdminProject, "networks", fake.Attrs{"name": technicalID, "shared": true})
		require.NoError(t, err)
		env.mustDelete()
	})
	t.Run("a share network over another network is not the shoot's", func(t *testing.T) {
		env := stoppedUpstream(t, 1, nil)
		network := env.plant("networks", fake.Attrs{"name": "theirs"})
		share := env.plant("share-networks", fake.Attrs{
			"name": technicalID, "neutron_net_id": network, "neutron_subnet_id": env.plantSubnet(network, "theirs", "10.9.0.0/24"),
		})
		env.mustReconcile()
		assert.NotEqual(t, share, env.state()["ShareNetwork"])
		env.mustDelete()
		require.Len(t, env.resources().ShareNetworks, 1)
		assert.Equal(t, share, env.resources().ShareNetworks[0].ID)
	})
	t.Run("a subnet of the name in another network is not the shoot's", func(t *testing.T) {
		env := stoppedUpstream(t, 1, nil)
		subnet := env.plantSubnet(env.plant("networks", fake.Attrs{"name": "theirs"}), technicalID, "10.250.0.0/19")
		env.mustReconcile()
		assert.NotEqual(t, subnet, env.state()["Subnet"])
		env.mustDelete()
		require.Len(t, env.resources().Subnets, 1)
		assert.Equal(t, subnet, env.resources().Subnets[0].ID)
	})
	t.Run("a key pair of the name with another key is not the shoot's", func(t *testing.T) {
		env := stoppedUpstream(t, 1, nil)
		_, err := env.session().CreateKeyPair(t.Context(), technicalID, otherKey)
		require.NoError(t, err)
		env.mustReconcile()
		assert.Equal(t, keyPairName(technicalID, shootUID), env.state()["KeyPair"])
		env.mustDelete()
		require.Len(t, env.resources().KeyPairs, 1)
		assert.True(t, samePublicKey(otherKey, env.resources().KeyPairs[0].PublicKey))
	})
	t.Run("a deletion names a key pair of the name with another key, and deletes all else", func(t *testing.T) {
		for name, key := range map[string]string{"SSH access is off": "", "the key was rotated": otherKey} {
			env := stoppedUpstream(t, len(upstreamCreates()), nil) // which did not come to record the key pair
			env.infra.Spec.SSHPublicKey = []byte(key)
			for range 2 {
				err := env.delete()
				require.ErrorContains(t, err, "key pair "+technicalID, name)
				assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
			}
			require.Len(t, env.resources().KeyPairs, 1)
			assert.Empty(t, env.resources().Routers)
			require.NoError(t, env.session().DeleteKeyPair(t.Context(), technicalID))
			env.mustDelete()
			assert.Equal(t, countByKind(newUpstreamEnvironment(t).resources()), countByKind(env.resources()))
		}
	})
}
