package openstack

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
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
	assert.Empty(w.t, w.calls().Where(fake.Call.Writes), "the second pass changes nothing")
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
		w.cloud.SetHook(func(event fake.Event) fake.Verdict {
			if event.Phase == fake.After && event.Call.Name() == "neutron GET /v2.0/routers/{id}" {
				if reads++; reads == 2 {
					w.operate("PUT", fake.Neutron, "/v2.0/routers/"+id, map[string]any{
						"router": map[string]any{"external_gateway_info": map[string]any{"network_id": w.floatingNetwork()}},
					})
				}
			}
			return fake.Proceed
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
		w.operate("PUT", fake.Neutron, "/v2.0/routers/"+router+"/add_router_interface", map[string]any{"subnet_id": subnet})
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
		w.cloud.Inject(fake.Fault{Match: fake.Match{Path: "/v2.0/routers/{id}/add_router_interface"}, Drop: fake.DropAfter})
		_, err := w.reconcile()
		require.Error(t, err)
		w.restart()
		w.mustReconcile()
		w.mustDelete()
		w.unchanged(before)
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

// upstreamShoot makes what the upstream extension makes, with the names and the state that it writes.
func upstreamShoot(t *testing.T) (*world, fake.State) {
	w := newWorld(t)
	network := w.plant("networks", fake.Attrs{"name": technicalID})
	subnet := w.plant("subnets", fake.Attrs{"name": technicalID, "network_id": network, "ip_version": 4, "cidr": "10.250.0.0/19", "dns_nameservers": []string{"1.1.1.1"}})
	router := w.plantRouter(technicalID)
	w.operate("PUT", fake.Neutron, "/v2.0/routers/"+router+"/add_router_interface", map[string]any{"subnet_id": subnet})
	group := w.plant("security-groups", fake.Attrs{"name": technicalID, "description": "Cluster Nodes"})
	for _, rule := range wantedRules(defaultGroup(), group)[2:] {
		attrs := fake.Attrs{"security_group_id": group, "direction": rule.Direction, "ethertype": rule.EtherType, "description": rule.Description}
		if rule.RemoteGroupID != "" {
			attrs["remote_group_id"] = rule.RemoteGroupID
		} else {
			attrs["protocol"], attrs["port_range_min"], attrs["port_range_max"], attrs["remote_ip_prefix"] = rule.Protocol, rule.PortMin, rule.PortMax, rule.RemoteIPPrefix
		}
		w.plant("security-group-rules", attrs)
	}
	_, err := w.session().CreateKeyPair(t.Context(), technicalID, sshKey)
	require.NoError(t, err)
	w.infra.Status.State = w.marshal(map[string]any{
		"apiVersion": openstackv1alpha1.GroupVersion().String(), "kind": "InfrastructureState", "data": map[string]string{
			"Network": network, "NetworkName": technicalID, "Subnet": subnet, "Router": router, "KeyPair": technicalID,
			"SecurityGroup": group, "SecurityGroupName": technicalID,
			"FloatingNetwork": w.floatingNetwork(), "FloatingNetworkName": fake.ExternalNetwork,
		},
	})
	w.attempted = true
	w.cloud.ResetLog()
	return w, w.there()
}

func TestAdoptingAShootOfTheUpstreamExtension(t *testing.T) {
	t.Run("creates and changes nothing", func(t *testing.T) {
		w, before := upstreamShoot(t)
		outcome := w.mustReconcile()
		assert.Empty(t, w.calls().Where(fake.Call.Writes))
		w.unchanged(before)
		assert.Empty(t, outcome.Findings)
		assert.Equal(t, technicalID, outcome.ProviderStatus.(*openstackv1alpha1.InfrastructureStatus).Node.KeyName)
	})
	t.Run("deletes all of it", func(t *testing.T) {
		w, _ := upstreamShoot(t)
		w.mustReconcile()
		w.mustDelete()
		assert.Equal(t, kinds(newWorld(t).there()), kinds(w.there()))
	})
	t.Run("deletes all of it without having reconciled before", func(t *testing.T) {
		w, _ := upstreamShoot(t)
		w.mustDelete()
		assert.Equal(t, kinds(newWorld(t).there()), kinds(w.there()))
	})
	t.Run("goes by the provider status where the state is Terraform's", func(t *testing.T) {
		w, before := upstreamShoot(t)
		outcome := w.mustReconcile()
		w.infra.Status.State = &runtime.RawExtension{Raw: []byte(`{"version":4,"terraform_version":"0.15"}`)}
		w.infra.Status.ProviderStatus = w.marshal(outcome.ProviderStatus)
		w.calls()
		w.mustReconcile()
		assert.Empty(t, w.calls().Where(fake.Call.Writes))
		w.unchanged(before)
	})
	t.Run("keeps what the user gave to the upstream extension", func(t *testing.T) {
		w, before := upstreamShoot(t)
		w.config.Networks.Router = &openstackv1alpha1.Router{ID: w.state()["Router"]}
		w.config.Networks.ID = new(w.state()["Network"])
		w.mustDelete()
		assert.Equal(t, before.Routers[0].ID, w.there().Routers[0].ID)
		assert.Len(t, w.there().Routers, 1)
		assert.Len(t, w.there().Networks, 1)
		assert.Empty(t, w.there().Subnets)
	})
	t.Run("replaces its key pair when the key was rotated", func(t *testing.T) {
		w, _ := upstreamShoot(t)
		w.infra.Spec.SSHPublicKey = []byte(otherKey)
		w.mustReconcile()
		require.Len(t, w.there().KeyPairs, 1)
		assert.Equal(t, technicalID, w.there().KeyPairs[0].Name)
	})
}

func TestDualStack(t *testing.T) {
	dual := func(t *testing.T, ipv6 openstackv1alpha1.IPv6Config) *world {
		w := newWorld(t)
		w.config.Networks.IPv6 = &ipv6
		w.shoot.Spec.Networking.IPFamilies = []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv4, gardencorev1beta1.IPFamilyIPv6}
		return w
	}
	t.Run("with given ranges", func(t *testing.T) {
		w := dual(t, openstackv1alpha1.IPv6Config{NodeCIDR: "2001:db8:1::/64", PodCIDR: "2001:db8:2::/64", ServiceCIDR: "2001:db8:3::/64"})
		outcome := w.mustReconcile()
		var names []string
		for _, subnet := range w.there().Subnets {
			names = append(names, subnet.Name)
		}
		assert.ElementsMatch(t, []string{technicalID, technicalID + "-ipv6", technicalID + "-ipv6-pod", technicalID + "-ipv6-svc"}, names)
		assert.Equal(t, []string{"10.250.0.0/16", "2001:db8:1::/64"}, outcome.Nodes)
		assert.Equal(t, []string{"100.96.0.0/11", "2001:db8:2::/64"}, outcome.Pods)
		assert.Equal(t, []string{"100.64.0.0/13", "2001:db8:3::/112"}, outcome.Services)
		assert.Len(t, outcome.ProviderStatus.(*openstackv1alpha1.InfrastructureStatus).Networks.Subnets, 4)
	})
	t.Run("from a pool, with pods that are routed natively", func(t *testing.T) {
		w := dual(t, openstackv1alpha1.IPv6Config{})
		pool := w.plant("subnetpools", fake.Attrs{"name": "v6", "prefixes": []string{"2001:db8::/48"}, "default_prefixlen": 64})
		w.config.Networks.IPv6.SubnetPoolID = &pool
		w.shoot.Spec.Networking.Type = new("calico")
		w.shoot.Spec.Networking.ProviderConfig = &runtime.RawExtension{Raw: []byte(`{"apiVersion":"calico.networking.extensions.gardener.cloud/v1alpha1","kind":"NetworkConfig","overlay":{"enabled":false},"ipv4":{"mode":"Never"}}`)}
		outcome := w.mustReconcile()
		require.Len(t, outcome.Pods, 2)
		state := w.there()
		var podRules []string
		for _, rule := range state.SecurityGroups[len(state.SecurityGroups)-1].Rules {
			if writtenByGardener(rule.Description) && rule.RemoteIPPrefix != "" && rule.Protocol == "" {
				podRules = append(podRules, string(rule.RemoteIPPrefix))
			}
		}
		assert.ElementsMatch(t, outcome.Pods, podRules, "#1404: the pod ranges of both families are let in")
	})
	t.Run("is stable, costs no more reads, and is deleted", func(t *testing.T) {
		w := dual(t, openstackv1alpha1.IPv6Config{NodeCIDR: "2001:db8:1::/64", PodCIDR: "2001:db8:2::/64", ServiceCIDR: "2001:db8:3::/112"})
		w.fullCycle()
		w.mustReconcile()
		w.calls()
		w.mustReconcile()
		assert.Len(t, w.calls(), 6)
	})
	t.Run("can be switched on later", func(t *testing.T) {
		w, _ := upstreamShoot(t)
		w.config.Networks.IPv6 = &openstackv1alpha1.IPv6Config{NodeCIDR: "2001:db8:1::/64", PodCIDR: "2001:db8:2::/64", ServiceCIDR: "2001:db8:3::/112"}
		w.shoot.Spec.Networking.IPFamilies = append(w.shoot.Spec.Networking.IPFamilies, gardencorev1beta1.IPFamilyIPv6)
		w.mustReconcile()
		assert.Len(t, w.there().Subnets, 4)
		w.mustDelete()
		assert.Equal(t, kinds(newWorld(t).there()), kinds(w.there()))
	})
}

func TestSubnetPool(t *testing.T) {
	w := newWorld(t)
	pool := w.plant("subnetpools", fake.Attrs{"name": "v4", "prefixes": []string{"10.128.0.0/12"}, "default_prefixlen": 24})
	w.config.Networks = openstackv1alpha1.Networks{SubnetPool: &openstackv1alpha1.SubnetPool{ID: pool, PrefixLength: new(22)}}
	outcome := w.mustReconcile()
	require.NotNil(t, outcome.NodesCIDR)
	assert.Contains(t, *outcome.NodesCIDR, "/22")
	assert.Equal(t, []string{*outcome.NodesCIDR}, outcome.Nodes)
	assert.Equal(t, *outcome.NodesCIDR, w.state()["WorkersCIDR"])
	w.mustDelete()
	assert.Empty(t, w.there().Subnets)
}
