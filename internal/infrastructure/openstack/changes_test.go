package openstack

import (
	"testing"

	"github.com/stretchr/testify/assert"

	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

func TestNetworkChange(t *testing.T) {
	up := cloudopenstack.Network{ID: "n", AdminStateUp: true, MTU: 1450}
	update, findings := networkChange(networkSpec{mtu: 1450}, up)
	assert.Nil(t, update)
	assert.Empty(t, findings)

	update, _ = networkChange(networkSpec{}, cloudopenstack.Network{ID: "n", MTU: 1450})
	assert.Equal(t, &cloudopenstack.NetworkUpdate{AdminStateUp: new(true)}, update, "a network that was switched off is switched on")

	update, _ = networkChange(networkSpec{mtu: 9000}, up)
	assert.Equal(t, &cloudopenstack.NetworkUpdate{MTU: new(9000)}, update)

	update, findings = networkChange(networkSpec{mtu: 1400}, up)
	assert.Nil(t, update, "an MTU is never lowered under running nodes")
	assert.Len(t, findings, 1)
}

func TestSubnetChange(t *testing.T) {
	wanted := subnetSpec{cidr: "10.250.0.0/19", version: 4, dnsServers: []string{"1.1.1.1", "8.8.8.8"}}
	good := cloudopenstack.Subnet{ID: "s", CIDR: "10.250.0.0/19", DHCP: true, DNSServers: []string{"1.1.1.1", "8.8.8.8"}}
	update, findings := subnetChange(wanted, good)
	assert.Nil(t, update)
	assert.Empty(t, findings)

	drifted := good
	drifted.DHCP, drifted.DNSServers = false, []string{"9.9.9.9"}
	update, _ = subnetChange(wanted, drifted)
	assert.Equal(t, &cloudopenstack.SubnetUpdate{DHCP: new(true), DNSServers: new([]string{"1.1.1.1", "8.8.8.8"})}, update)

	wanted.dnsServers = nil
	update, _ = subnetChange(wanted, good)
	assert.Equal(t, &cloudopenstack.SubnetUpdate{DNSServers: new([]string{})}, update, "servers are removed by an empty list, not by none")

	wanted.dnsServers, wanted.cidr = good.DNSServers, "10.251.0.0/19"
	update, findings = subnetChange(wanted, good)
	assert.Nil(t, update)
	assert.Len(t, findings, 1, "another range is reported")
}

func TestRouterChange(t *testing.T) {
	const public = "public"
	connected := cloudopenstack.Router{ID: "r", AdminStateUp: true, Gateway: &cloudopenstack.ExternalGateway{
		NetworkID: public, EnableSNAT: new(true), FixedIPs: []cloudopenstack.ExternalFixedIP{{SubnetID: "a", IPAddress: "172.24.4.5"}},
	}}
	update, findings := routerChange(routerSpec{}, public, "a", connected)
	assert.Nil(t, update)
	assert.Empty(t, findings)

	update, _ = routerChange(routerSpec{snat: new(false)}, public, "", connected)
	assert.Equal(t, &cloudopenstack.RouterUpdate{Gateway: &cloudopenstack.ExternalGateway{
		NetworkID: public, EnableSNAT: new(false),
	}}, update, "SNAT is repaired without a word about the address, which stays and would need another right")

	update, _ = routerChange(routerSpec{}, public, "", cloudopenstack.Router{ID: "r", AdminStateUp: true})
	assert.Equal(t, &cloudopenstack.RouterUpdate{}, update, "D12: a router without gateway gets one")

	update, findings = routerChange(routerSpec{}, "other", "", connected)
	assert.Nil(t, update)
	assert.Len(t, findings, 1, "a gateway in another network is reported")

	_, findings = routerChange(routerSpec{}, public, "b", connected)
	assert.Len(t, findings, 1, "D12: an address in another subnet is reported")

	hidden := connected
	hidden.Gateway = &cloudopenstack.ExternalGateway{NetworkID: public, FixedIPs: connected.Gateway.FixedIPs}
	update, _ = routerChange(routerSpec{snat: new(true)}, public, "", hidden)
	assert.Nil(t, update, "what a cloud hides from its users is not written again and again")

	off := connected
	off.AdminStateUp = false
	update, _ = routerChange(routerSpec{}, public, "", off)
	assert.Equal(t, &cloudopenstack.RouterUpdate{AdminStateUp: new(true)}, update)
}

func TestNodeRoutes_OwnSubnet(t *testing.T) {
	routes := []cloudopenstack.Route{
		{Destination: "100.96.0.0/24", NextHop: "10.250.0.7"},
		{Destination: "10.0.0.0/8", NextHop: "192.168.0.1"},
		{Destination: "2001:db8:1::/64", NextHop: "2001:db8::7"},
		{Destination: "100.96.1.0/24", NextHop: "10.251.0.7"},
	}
	kept := nodeRoutes{own: []string{"10.250.0.0/16", "2001:db8::/64"}}.others(routes)
	assert.Equal(t, []cloudopenstack.Route{routes[1], routes[3]}, kept)
	assert.Equal(t, routes, nodeRoutes{}.others(routes))
	assert.Empty(t, nodeRoutes{own: []string{"10.250.0.0/16"}}.others(nil))
}

func TestNodeRoutes_GivenSubnet(t *testing.T) {
	routes := []cloudopenstack.Route{
		{Destination: "100.96.0.0/24", NextHop: "10.250.0.7"},
		{Destination: "100.128.0.0/24", NextHop: "10.250.0.8"}, // pods of another shoot
		{Destination: "0.0.0.0/0", NextHop: "10.250.0.9"},      // holds the pods, and more
		{Destination: "100.96.1.0/24", NextHop: "192.168.0.1"},
	}
	given := nodeRoutes{given: []string{"10.250.0.0/16"}, pods: []string{"100.96.0.0/11"}}
	assert.Equal(t, routes[1:], given.others(routes))
	given.pods = nil
	assert.Equal(t, routes, given.others(routes), "without pod ranges nothing tells whose they are")
}

func TestEffectiveRange(t *testing.T) {
	assert.Equal(t, "2001:db8::/112", effectiveRange(kindSubnetServices, "2001:db8::/64"))
	assert.Equal(t, "2001:db8::/112", effectiveRange(kindSubnetServices, "2001:db8::/120"))
	assert.Equal(t, "2001:db8::/64", effectiveRange(kindSubnetPods, "2001:db8::/64"))
}
