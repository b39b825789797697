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
