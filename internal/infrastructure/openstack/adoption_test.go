package openstack

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// upstreamShoot makes what the upstream extension makes, with the names and the state that it writes.
func upstreamShoot(t *testing.T) (*world, fake.State) {
	w := newWorld(t)
	network := w.plant("networks", fake.Attrs{"name": technicalID})
	subnet := w.plant("subnets", fake.Attrs{"name": technicalID, "network_id": network, "ip_version": 4, "cidr": "10.250.0.0/19", "dns_nameservers": []string{"1.1.1.1"}})
	router := w.plantRouter(technicalID)
	w.operate("PUT", wire.Neutron, "/v2.0/routers/"+router+"/add_router_interface", map[string]any{"subnet_id": subnet})
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
		assert.Empty(t, w.calls().Where(wire.Call.Writes))
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
		assert.Empty(t, w.calls().Where(wire.Call.Writes))
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

// upstreamShootInSubnet is a shoot of the upstream extension in a given subnet, which upstream connected to a router of its own. Of that interface
// upstream's state says nothing.
func upstreamShootInSubnet(t *testing.T) *world {
	w := newWorld(t)
	network := w.plant("networks", fake.Attrs{"name": "theirs"})
	subnet := w.plantSubnet(network, "theirs", "10.250.64.0/20")
	w.config.Networks = openstackv1alpha1.Networks{ID: &network, SubnetID: &subnet}
	router := w.plantRouter(technicalID)
	w.operate("PUT", wire.Neutron, "/v2.0/routers/"+router+"/add_router_interface", map[string]any{"subnet_id": subnet})
	group := w.plant("security-groups", fake.Attrs{"name": technicalID, "description": "Cluster Nodes"})
	w.saveUpstreamState(map[string]string{
		"Network": network, "NetworkName": "theirs", "Subnet": subnet, "Router": router, "SecurityGroup": group, "SecurityGroupName": technicalID,
		"FloatingNetwork": w.floatingNetwork(), "FloatingNetworkName": fake.ExternalNetwork,
	})
	w.attempted = true
	return w
}

func TestDelete_UpstreamRouterInGivenSubnet(t *testing.T) {
	for name, prepare := range map[string]func(w *world){
		"without having reconciled before": func(*world) {},
		"after a reconcile":                func(w *world) { w.mustReconcile() },
		"with routes to nodes, whose range is not recorded": func(w *world) {
			w.operate("PUT", wire.Neutron, "/v2.0/routers/"+w.state()["Router"], map[string]any{"router": map[string]any{
				"routes": []any{map[string]any{"destination": "100.96.1.0/24", "nexthop": "10.250.64.9"}},
			}})
		},
		"whose state upstream did not come to save": func(w *world) {
			w.saveUpstreamState(map[string]string{openstackv1alpha1.StateKeyResourcesExist: "true"})
		},
	} {
		t.Run("deletes the router and leaves the subnet, "+name, func(t *testing.T) {
			w := upstreamShootInSubnet(t)
			network, subnet := *w.config.Networks.ID, *w.config.Networks.SubnetID
			prepare(w)
			w.mustDelete()
			there := w.there()
			assert.Empty(t, there.Routers)
			assert.Empty(t, there.SecurityGroups[1:], "but for the project's default group")
			require.Len(t, there.Subnets, 1)
			assert.Equal(t, subnet, there.Subnets[0].ID)
			require.Len(t, there.Networks, 1)
			assert.Equal(t, network, there.Networks[0].ID)
		})
	}
	t.Run("leaves the interface of a given router", func(t *testing.T) {
		w := upstreamShootInSubnet(t)
		w.config.Networks.Router = &openstackv1alpha1.Router{ID: w.state()["Router"]}
		w.mustDelete()
		require.Len(t, w.there().Routers, 1)
		assert.Equal(t, 2, kinds(w.there())["port"], "the gateway and the interface")
	})
}
