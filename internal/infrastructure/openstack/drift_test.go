package openstack

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// change edits a Neutron resource behind the driver's back.
func (w *world) change(collection, key, id string, attrs fake.Attrs) {
	w.t.Helper()
	w.operate("PUT", wire.Neutron, "/v2.0/"+collection+"/"+id, map[string]any{key: attrs})
}

func TestSafeDriftIsRepaired(t *testing.T) {
	for name, drift := range map[string]struct {
		cause    func(w *world)
		repaired func(w *world) bool
	}{
		"a network that was switched off": {
			func(w *world) {
				w.change("networks", "network", w.state()["Network"], fake.Attrs{"admin_state_up": false})
			},
			func(w *world) bool { return w.there().Networks[0].AdminStateUp },
		},
		"a router that was switched off": {
			func(w *world) {
				w.change("routers", "router", w.state()["Router"], fake.Attrs{"admin_state_up": false})
			},
			func(w *world) bool { return w.there().Routers[0].AdminStateUp },
		},
		"D12: a router that lost its gateway": {
			func(w *world) {
				w.change("routers", "router", w.state()["Router"], fake.Attrs{"external_gateway_info": nil})
			},
			func(w *world) bool { return w.there().Routers[0].Gateway != nil },
		},
		"DNS servers that were replaced": {
			func(w *world) {
				w.change("subnets", "subnet", w.state()["Subnet"], fake.Attrs{"dns_nameservers": []string{"9.9.9.9"}})
			},
			func(w *world) bool { return strings.Join(w.there().Subnets[0].DNSNameservers, " ") == "1.1.1.1" },
		},
		"DHCP that was switched off": {
			func(w *world) { w.change("subnets", "subnet", w.state()["Subnet"], fake.Attrs{"enable_dhcp": false}) },
			func(w *world) bool { return w.there().Subnets[0].EnableDHCP },
		},
		"an interface that was removed": {
			func(w *world) {
				w.operate("PUT", wire.Neutron, "/v2.0/routers/"+w.state()["Router"]+"/remove_router_interface", map[string]any{"subnet_id": w.state()["Subnet"]})
			},
			func(w *world) bool {
				return strings.Contains(strings.Join(w.there().List(), "\n"), "network:router_interface")
			},
		},
		"a rule that was removed": {
			func(w *world) {
				for _, group := range w.there().SecurityGroups {
					for _, rule := range group.Rules {
						if group.ID == w.state()["SecurityGroup"] && rule.Protocol == "tcp" {
							require.NoError(w.t, w.session().DeleteSecurityGroupRule(w.t.Context(), rule.ID))
						}
					}
				}
			},
			func(w *world) bool { return len(w.there().SecurityGroups[1].Rules) == 5 },
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.mustReconcile()
			drift.cause(w)
			require.False(t, drift.repaired(w), "the test itself causes no drift")
			w.calls()
			outcome := w.mustReconcile()
			assert.True(t, drift.repaired(w))
			assert.Len(t, w.calls().Where(wire.Call.Writes), 1, "one write repairs it")
			assert.Empty(t, outcome.Findings)
			w.mustReconcile()
		})
	}
}

func TestSourceNATIsRepairedWhereTheCloudProfileDecides(t *testing.T) {
	w := newWorld(t, fake.WithPolicy(fake.Policy{SetGatewaySubnet: true, SetGatewayAddress: true, SetSNAT: true}))
	w.profile.UseSNAT = new(true)
	before := w.mustReconcile().EgressCIDRs
	w.change("routers", "router", w.state()["Router"], fake.Attrs{"external_gateway_info": map[string]any{
		"network_id": w.floatingNetwork(), "enable_snat": false,
		"external_fixed_ips": w.there().Routers[0].Gateway.ExternalFixedIPs,
	}})
	after := w.mustReconcile().EgressCIDRs
	assert.True(t, w.there().Routers[0].Gateway.EnableSNAT)
	assert.Equal(t, before, after, "the address stays")

	w.profile.UseSNAT = new(false)
	assert.Empty(t, w.mustReconcile().EgressCIDRs, "without translation the router's address is none of egress")
}

func TestSourceNATIsNotMentionedUnlessTheCloudProfileDoes(t *testing.T) {
	w := newWorld(t) // a plain member who mentions it is refused
	w.mustReconcile()
	assert.Len(t, w.there().Routers, 1)
}

func TestUnsafeDriftIsReportedWithNames(t *testing.T) {
	t.Run("a foreign interface on the router", func(t *testing.T) {
		w := newWorld(t)
		w.mustReconcile()
		subnet := w.plantSubnet(w.plant("networks", fake.Attrs{"name": "other"}), "other", "192.168.7.0/24")
		w.operate("PUT", wire.Neutron, "/v2.0/routers/"+w.state()["Router"]+"/add_router_interface", map[string]any{"subnet_id": subnet})
		outcome := w.mustReconcile()
		require.Len(t, outcome.Findings, 1)
		assert.Contains(t, outcome.Findings[0], "subnet "+subnet+", which is not the shoot's")
	})
	t.Run("a foreign rule, which stays", func(t *testing.T) {
		w := newWorld(t)
		w.mustReconcile()
		rule := w.plant("security-group-rules", fake.Attrs{"security_group_id": w.state()["SecurityGroup"], "direction": "ingress", "ethertype": "IPv4", "protocol": "tcp", "port_range_min": 22, "port_range_max": 22})
		outcome := w.mustReconcile()
		require.Len(t, outcome.Findings, 1)
		assert.Contains(t, outcome.Findings[0], "ingress IPv4 tcp 22-22 any ("+rule+")")
		assert.Contains(t, strings.Join(w.there().List(), "\n"), rule)
	})
	t.Run("an MTU that was lowered in the configuration", func(t *testing.T) {
		w := newWorld(t)
		w.mustReconcile()
		w.config.Networks.MTU = new(1400)
		outcome := w.mustReconcile()
		require.Len(t, outcome.Findings, 1)
		assert.Equal(t, 1450, w.there().Networks[0].MTU)
	})
}

func TestNodePortsAreClosedWhenSourcesAreRestricted(t *testing.T) {
	w := newWorld(t)
	w.mustReconcile()
	w.config.Networks.NodePortSourceRanges = []string{"10.0.0.0/8"}
	outcome := w.mustReconcile()
	assert.Empty(t, outcome.Findings)
	deleted := w.cloud.Log().Where(func(call wire.Call) bool { return call.Method == http.MethodDelete })
	assert.Equal(t, map[string]int{"neutron DELETE /v2.0/security-group-rules/{id}": 2}, deleted.Count(), "D4: rules are deleted as rules")
	for _, rule := range w.there().SecurityGroups[1].Rules {
		if rule.Protocol != "" {
			assert.Equal(t, "10.0.0.0/8", string(rule.RemoteIPPrefix))
		}
	}
}

func TestD13ARuleThatSomebodyElseAddedMeanwhileIsNoError(t *testing.T) {
	w := newWorld(t)
	raced := false
	w.cloud.SetHook(func(event wire.Event) wire.Verdict {
		if event.Phase == wire.Before && event.Call.Name() == postRules && !raced {
			raced = true
			group := w.there().SecurityGroups[1].ID
			w.plant("security-group-rules", fake.Attrs{"security_group_id": group, "direction": "ingress", "ethertype": "IPv4", "remote_group_id": group})
		}
		return wire.Proceed
	})
	w.mustReconcile()
	assert.True(t, raced)
	assert.Len(t, w.there().SecurityGroups[1].Rules, 5)
}

func TestOptionsOfWhatIsCreated(t *testing.T) {
	w := newWorld(t)
	w.config.Networks.MTU = new(1400)
	w.config.Networks.AvailabilityZoneHints = &openstackv1alpha1.AvailabilityZoneHints{Network: []string{"zone-a"}, Router: []string{"zone-b"}}
	w.config.Networks.ShareNetwork = &openstackv1alpha1.ShareNetwork{Enabled: true}
	empty := w.there()
	outcome := w.mustReconcile()
	there := w.there()
	assert.Equal(t, 1400, there.Networks[0].MTU)
	assert.Equal(t, []string{"zone-a"}, there.Networks[0].AvailabilityZoneHints)
	assert.Equal(t, []string{"zone-b"}, there.Routers[0].AvailabilityZoneHints)
	require.Len(t, there.ShareNetworks, 1)
	assert.Equal(t, there.Subnets[0].ID, there.ShareNetworks[0].NeutronSubnetID)
	assert.Equal(t, there.ShareNetworks[0].ID, outcome.ProviderStatus.(*openstackv1alpha1.InfrastructureStatus).Networks.ShareNetwork.ID)
	w.calls()
	w.mustReconcile()
	assert.Empty(t, w.calls().Where(wire.Call.Writes))
	w.mustDelete()
	w.unchanged(empty)
}
