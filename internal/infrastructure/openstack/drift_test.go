package openstack

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// updateResource edits a Neutron resource behind the driver's back.
func (env *environment) updateResource(collection, key, id string, attrs fake.Attrs) {
	env.t.Helper()
	env.operate("PUT", services.Neutron, "/v2.0/"+collection+"/"+id, map[string]any{key: attrs})
}

func TestDrift_Repaired(t *testing.T) {
	for name, drift := range map[string]struct {
		cause    func(env *environment)
		repaired func(env *environment) bool
	}{
		"a network that was switched off": {
			func(env *environment) {
				env.updateResource("networks", "network", env.state()["Network"], fake.Attrs{"admin_state_up": false})
			},
			func(env *environment) bool { return env.resources().Networks[0].AdminStateUp },
		},
		"a router that was switched off": {
			func(env *environment) {
				env.updateResource("routers", "router", env.state()["Router"], fake.Attrs{"admin_state_up": false})
			},
			func(env *environment) bool { return env.resources().Routers[0].AdminStateUp },
		},
		"D12: a router that lost its gateway": {
			func(env *environment) {
				env.updateResource("routers", "router", env.state()["Router"], fake.Attrs{"external_gateway_info": nil})
			},
			func(env *environment) bool { return env.resources().Routers[0].Gateway != nil },
		},
		"DNS servers that were replaced": {
			func(env *environment) {
				env.updateResource("subnets", "subnet", env.state()["Subnet"], fake.Attrs{"dns_nameservers": []string{"9.9.9.9"}})
			},
			func(env *environment) bool {
				return strings.Join(env.resources().Subnets[0].DNSNameservers, " ") == "1.1.1.1"
			},
		},
		"DHCP that was switched off": {
			func(env *environment) {
				env.updateResource("subnets", "subnet", env.state()["Subnet"], fake.Attrs{"enable_dhcp": false})
			},
			func(env *environment) bool { return env.resources().Subnets[0].EnableDHCP },
		},
		"an interface that was removed": {
			func(env *environment) {
				env.operate("PUT", services.Neutron, "/v2.0/routers/"+env.state()["Router"]+"/remove_router_interface", map[string]any{"subnet_id": env.state()["Subnet"]})
			},
			func(env *environment) bool {
				return strings.Contains(strings.Join(env.resources().List(), "\n"), "network:router_interface")
			},
		},
		"a rule that was removed": {
			func(env *environment) {
				for _, group := range env.resources().SecurityGroups {
					for _, rule := range group.Rules {
						if group.ID == env.state()["SecurityGroup"] && rule.Protocol == "tcp" {
							require.NoError(env.t, env.session().DeleteSecurityGroupRule(env.t.Context(), rule.ID))
						}
					}
				}
			},
			func(env *environment) bool { return len(env.resources().SecurityGroups[1].Rules) == 5 },
		},
	} {
		t.Run(name, func(t *testing.T) {
			env := newEnvironment(t)
			env.mustReconcile()
			drift.cause(env)
			require.False(t, drift.repaired(env), "the test itself causes no drift")
			env.takeCalls()
			outcome := env.mustReconcile()
			assert.True(t, drift.repaired(env))
			assert.Len(t, env.takeCalls().Where(wire.Call.IsWrite), 1, "one write repairs it")
			assert.Empty(t, outcome.Findings)
			env.mustReconcile()
		})
	}
}

func TestDrift_SourceNATRepaired(t *testing.T) {
	env := newEnvironment(t, fake.WithPolicy(fake.Policy{SetGatewaySubnet: true, SetGatewayAddress: true, SetSNAT: true}))
	env.profile.UseSNAT = new(true)
	before := env.mustReconcile().EgressCIDRs
	env.updateResource("routers", "router", env.state()["Router"], fake.Attrs{"external_gateway_info": map[string]any{
		"network_id": env.floatingNetwork(), "enable_snat": false,
		"external_fixed_ips": env.resources().Routers[0].Gateway.ExternalFixedIPs,
	}})
	after := env.mustReconcile().EgressCIDRs
	assert.True(t, env.resources().Routers[0].Gateway.EnableSNAT)
	assert.Equal(t, before, after, "the address stays")

	env.profile.UseSNAT = new(false)
	assert.Empty(t, env.mustReconcile().EgressCIDRs, "without translation the router's address is none of egress")
}

func TestCreateRouter_WithoutSourceNAT(t *testing.T) {
	env := newEnvironment(t) // a plain member who mentions it is refused
	env.mustReconcile()
	assert.Len(t, env.resources().Routers, 1)
}

func TestDrift_Reported(t *testing.T) {
	t.Run("a foreign interface on the router", func(t *testing.T) {
		env := newEnvironment(t)
		env.mustReconcile()
		subnet := env.plantSubnet(env.plant("networks", fake.Attrs{"name": "other"}), "other", "192.168.7.0/24")
		env.operate("PUT", services.Neutron, "/v2.0/routers/"+env.state()["Router"]+"/add_router_interface", map[string]any{"subnet_id": subnet})
		outcome := env.mustReconcile()
		require.Len(t, outcome.Findings, 1)
		assert.Contains(t, outcome.Findings[0], "subnet "+subnet+", which is not the shoot's")
	})
	t.Run("a foreign rule, which stays", func(t *testing.T) {
		env := newEnvironment(t)
		env.mustReconcile()
		rule := env.plant("security-group-rules", fake.Attrs{"security_group_id": env.state()["SecurityGroup"], "direction": "ingress", "ethertype": "IPv4", "protocol": "tcp", "port_range_min": 22, "port_range_max": 22})
		outcome := env.mustReconcile()
		require.Len(t, outcome.Findings, 1)
		assert.Contains(t, outcome.Findings[0], "ingress IPv4 tcp 22-22 any ("+rule+")")
		assert.Contains(t, strings.Join(env.resources().List(), "\n"), rule)
	})
	t.Run("an MTU that was lowered in the configuration", func(t *testing.T) {
		env := newEnvironment(t)
		env.mustReconcile()
		env.config.Networks.MTU = new(1400)
		outcome := env.mustReconcile()
		require.Len(t, outcome.Findings, 1)
		assert.Equal(t, 1450, env.resources().Networks[0].MTU)
	})
}

func TestEnsureRules_NodePortSourcesRestricted(t *testing.T) {
	env := newEnvironment(t)
	env.mustReconcile()
	env.config.Networks.NodePortSourceRanges = []string{"10.0.0.0/8"}
	outcome := env.mustReconcile()
	assert.Empty(t, outcome.Findings)
	deleted := env.cloud.Log().Where(func(call wire.Call) bool { return call.Method == http.MethodDelete })
	assert.Equal(t, map[string]int{"neutron DELETE /v2.0/security-group-rules/{id}": 2}, deleted.Count(), "D4: rules are deleted as rules")
	for _, rule := range env.resources().SecurityGroups[1].Rules {
		if rule.Protocol != "" {
			assert.Equal(t, "10.0.0.0/8", string(rule.RemoteIPPrefix))
		}
	}
}

func TestEnsureRules_RuleAddedConcurrently(t *testing.T) {
	env := newEnvironment(t)
	raced := false
	env.cloud.SetHook(func(event wire.Event) wire.HookResult {
		if event.Phase == wire.Before && event.Call.Name() == postRules && !raced {
			raced = true
			group := env.resources().SecurityGroups[1].ID
			env.plant("security-group-rules", fake.Attrs{"security_group_id": group, "direction": "ingress", "ethertype": "IPv4", "remote_group_id": group})
		}
		return wire.Proceed
	})
	env.mustReconcile()
	assert.True(t, raced)
	assert.Len(t, env.resources().SecurityGroups[1].Rules, 5)
}

func TestDriver_CreateOptions(t *testing.T) {
	env := newEnvironment(t)
	env.config.Networks.MTU = new(1400)
	env.config.Networks.AvailabilityZoneHints = &openstackv1alpha1.AvailabilityZoneHints{Network: []string{"zone-a"}, Router: []string{"zone-b"}}
	env.config.Networks.ShareNetwork = &openstackv1alpha1.ShareNetwork{Enabled: true}
	empty := env.resources()
	outcome := env.mustReconcile()
	resources := env.resources()
	assert.Equal(t, 1400, resources.Networks[0].MTU)
	assert.Equal(t, []string{"zone-a"}, resources.Networks[0].AvailabilityZoneHints)
	assert.Equal(t, []string{"zone-b"}, resources.Routers[0].AvailabilityZoneHints)
	require.Len(t, resources.ShareNetworks, 1)
	assert.Equal(t, resources.Subnets[0].ID, resources.ShareNetworks[0].NeutronSubnetID)
	assert.Equal(t, resources.ShareNetworks[0].ID, outcome.ProviderStatus.(*openstackv1alpha1.InfrastructureStatus).Networks.ShareNetwork.ID)
	env.takeCalls()
	env.mustReconcile()
	assert.Empty(t, env.takeCalls().Where(wire.Call.IsWrite))
	env.mustDelete()
	env.assertUnchanged(empty)
}
