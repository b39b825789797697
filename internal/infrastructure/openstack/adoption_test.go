package openstack

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// upstreamShoot makes what the upstream extension makes, with the names and the state that it writes.
func upstreamShoot(t *testing.T) (*environment, fake.State) {
	env := newEnvironment(t)
	network := env.plant("networks", fake.Attrs{"name": technicalID})
	subnet := env.plant("subnets", fake.Attrs{"name": technicalID, "network_id": network, "ip_version": 4, "cidr": "10.250.0.0/19", "dns_nameservers": []string{"1.1.1.1"}})
	router := env.plantRouter(technicalID)
	env.operate("PUT", services.Neutron, "/v2.0/routers/"+router+"/add_router_interface", map[string]any{"subnet_id": subnet})
	group := env.plant("security-groups", fake.Attrs{"name": technicalID, "description": "Cluster Nodes"})
	for _, rule := range wantedRules(defaultGroup(), group)[2:] {
		attrs := fake.Attrs{"security_group_id": group, "direction": rule.Direction, "ethertype": rule.EtherType, "description": rule.Description}
		if rule.RemoteGroupID != "" {
			attrs["remote_group_id"] = rule.RemoteGroupID
		} else {
			attrs["protocol"], attrs["port_range_min"], attrs["port_range_max"], attrs["remote_ip_prefix"] = rule.Protocol, rule.PortMin, rule.PortMax, rule.RemoteIPPrefix
		}
		env.plant("security-group-rules", attrs)
	}
	_, err := env.session().CreateKeyPair(t.Context(), technicalID, sshKey)
	require.NoError(t, err)
	env.infra.Status.State = env.marshal(map[string]any{
		"apiVersion": openstackv1alpha1.GroupVersion().String(), "kind": "InfrastructureState", "data": map[string]string{
			"Network": network, "NetworkName": technicalID, "Subnet": subnet, "Router": router, "KeyPair": technicalID,
			"SecurityGroup": group, "SecurityGroupName": technicalID,
			"FloatingNetwork": env.floatingNetwork(), "FloatingNetworkName": fake.ExternalNetwork,
		},
	})
	env.attempted = true
	env.cloud.ResetLog()
	return env, env.resources()
}

func TestDriver_AdoptUpstreamShoot(t *testing.T) {
	t.Run("creates and changes nothing", func(t *testing.T) {
		env, before := upstreamShoot(t)
		outcome := env.mustReconcile()
		assert.Empty(t, env.takeCalls().Where(wire.Call.IsWrite))
		env.assertUnchanged(before)
		assert.Empty(t, outcome.Findings)
		assert.Equal(t, technicalID, outcome.ProviderStatus.(*openstackv1alpha1.InfrastructureStatus).Node.KeyName)
	})
	t.Run("deletes all of it", func(t *testing.T) {
		env, _ := upstreamShoot(t)
		env.mustReconcile()
		env.mustDelete()
		assert.Equal(t, countByKind(newEnvironment(t).resources()), countByKind(env.resources()))
	})
	t.Run("deletes all of it without having reconciled before", func(t *testing.T) {
		env, _ := upstreamShoot(t)
		env.mustDelete()
		assert.Equal(t, countByKind(newEnvironment(t).resources()), countByKind(env.resources()))
	})
	t.Run("goes by the provider status where the state is Terraform's", func(t *testing.T) {
		env, before := upstreamShoot(t)
		outcome := env.mustReconcile()
		env.infra.Status.State = &runtime.RawExtension{Raw: []byte(`{"version":4,"terraform_version":"0.15"}`)}
		env.infra.Status.ProviderStatus = env.marshal(outcome.ProviderStatus)
		env.takeCalls()
		env.mustReconcile()
		assert.Empty(t, env.takeCalls().Where(wire.Call.IsWrite))
		env.assertUnchanged(before)
	})
	t.Run("keeps what the user gave to the upstream extension", func(t *testing.T) {
		env, before := upstreamShoot(t)
		env.config.Networks.Router = &openstackv1alpha1.Router{ID: env.state()["Router"]}
		env.config.Networks.ID = new(env.state()["Network"])
		env.mustDelete()
		assert.Equal(t, before.Routers[0].ID, env.resources().Routers[0].ID)
		assert.Len(t, env.resources().Routers, 1)
		assert.Len(t, env.resources().Networks, 1)
		assert.Empty(t, env.resources().Subnets)
	})
	t.Run("replaces its key pair when the key was rotated", func(t *testing.T) {
		env, _ := upstreamShoot(t)
		env.infra.Spec.SSHPublicKey = []byte(otherKey)
		env.mustReconcile()
		require.Len(t, env.resources().KeyPairs, 1)
		assert.Equal(t, technicalID, env.resources().KeyPairs[0].Name)
	})
}

// upstreamShootInSubnet is a shoot of the upstream extension in a given subnet, which upstream connected to a router of its own. Of that interface
// upstream's state says nothing.
func upstreamShootInSubnet(t *testing.T) *environment {
	env := newEnvironment(t)
	network := env.plant("networks", fake.Attrs{"name": "theirs"})
	subnet := env.plantSubnet(network, "theirs", "10.250.64.0/20")
	env.config.Networks = openstackv1alpha1.Networks{ID: &network, SubnetID: &subnet}
	router := env.plantRouter(technicalID)
	env.operate("PUT", services.Neutron, "/v2.0/routers/"+router+"/add_router_interface", map[string]any{"subnet_id": subnet})
	group := env.plant("security-groups", fake.Attrs{"name": technicalID, "description": "Cluster Nodes"})
	env.saveUpstreamState(map[string]string{
		"Network": network, "NetworkName": "theirs", "Subnet": subnet, "Router": router, "SecurityGroup": group, "SecurityGroupName": technicalID,
		"FloatingNetwork": env.floatingNetwork(), "FloatingNetworkName": fake.ExternalNetwork,
	})
	env.attempted = true
	return env
}

func TestDelete_UpstreamRouterInGivenSubnet(t *testing.T) {
	for name, prepare := range map[string]func(env *environment){
		"without having reconciled before": func(*environment) {},
		"after a reconcile":                func(env *environment) { env.mustReconcile() },
		"with routes to nodes, whose range is not recorded": func(env *environment) {
			env.operate("PUT", services.Neutron, "/v2.0/routers/"+env.state()["Router"], map[string]any{"router": map[string]any{
				"routes": []any{map[string]any{"destination": "100.96.1.0/24", "nexthop": "10.250.64.9"}},
			}})
		},
		"whose state upstream did not come to save": func(env *environment) {
			env.saveUpstreamState(map[string]string{openstackv1alpha1.StateKeyResourcesExist: "true"})
		},
	} {
		t.Run("deletes the router and leaves the subnet, "+name, func(t *testing.T) {
			env := upstreamShootInSubnet(t)
			network, subnet := *env.config.Networks.ID, *env.config.Networks.SubnetID
			prepare(env)
			env.mustDelete()
			resources := env.resources()
			assert.Empty(t, resources.Routers)
			assert.Empty(t, resources.SecurityGroups[1:], "but for the project's default group")
			require.Len(t, resources.Subnets, 1)
			assert.Equal(t, subnet, resources.Subnets[0].ID)
			require.Len(t, resources.Networks, 1)
			assert.Equal(t, network, resources.Networks[0].ID)
		})
	}
	t.Run("leaves the interface of a given router", func(t *testing.T) {
		env := upstreamShootInSubnet(t)
		env.config.Networks.Router = &openstackv1alpha1.Router{ID: env.state()["Router"]}
		env.mustDelete()
		require.Len(t, env.resources().Routers, 1)
		assert.Equal(t, 2, countByKind(env.resources())["port"], "the gateway and the interface")
	})
}
