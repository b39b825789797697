package conformance

import (
	"maps"

	"github.com/stretchr/testify/assert"
)

func subnets() []Behaviour {
	return append(append(plainSubnets(), subnetSettings()...), ipv6Subnets()...)
}

// postSubnet asks for a subnet in a network. What is made is removed at the end.
func (c *Case) postSubnet(network Object, attributes Body) *Response {
	c.Helper()
	body := Body{"network_id": network.ID(), "ip_version": 4}
	maps.Copy(body, attributes)
	response := c.Member.Post(Network, "/v2.0/subnets", Body{"subnet": body})
	if response.Status < 300 {
		c.DeleteAtCleanup(c.Member, Network, "/v2.0/subnets/"+response.object().ID())
	}
	return response
}

func plainSubnets() []Behaviour {
	return []Behaviour{
		behaviour("a subnet has a gateway, a pool of addresses and DHCP by default, and its network lists it", func(c *Case) {
			network := c.Network()
			subnet := c.postSubnet(network, Body{"name": "nodes", "cidr": "10.1.0.0/24"}).RequireStatus(201)
			assert.Equal(c, "10.1.0.1", subnet.Text("gateway_ip"))
			assert.Equal(c, true, subnet.At("enable_dhcp"))
			assert.Equal(c, []Object{{"start": "10.1.0.2", "end": "10.1.0.254"}}, subnet.Objects("allocation_pools"))
			assert.Empty(c, subnet.Texts("dns_nameservers"))
			c.Member.Get(Network, "/v2.0/subnets/"+subnet.ID()).RequireStatus(200)
			assert.Equal(c, []string{subnet.ID()}, c.Member.Get(Network, "/v2.0/networks/"+network.ID()).RequireStatus(200).Texts("subnets"))
		}),
		behaviour("a subnet that overlaps with another one of its network is refused, and elsewhere it is not", func(c *Case) {
			network := c.Network()
			c.postSubnet(network, Body{"cidr": "10.1.0.0/24"}).RequireStatus(201)
			c.postSubnet(network, Body{"cidr": "10.1.0.0/24"}).AssertError(400, "InvalidInput").AssertMessage("overlaps with another subnet")
			c.postSubnet(network, Body{"cidr": "10.1.0.0/16"}).AssertError(400, "InvalidInput")
			c.postSubnet(network, Body{"cidr": "10.1.1.0/24"}).RequireStatus(201)
			c.postSubnet(c.Network(), Body{"cidr": "10.1.0.0/24"}).RequireStatus(201)
		}),
		behaviour("a subnet's range may be as small as one address, but then has no DHCP", func(c *Case) {
			network := c.Network()
			c.postSubnet(network, Body{"cidr": "10.1.0.0/30"}).RequireStatus(201)
			c.postSubnet(network, Body{"cidr": "10.1.1.0/31"}).AssertError(400, "InvalidInput")
			c.postSubnet(network, Body{"cidr": "10.1.1.0/31", "enable_dhcp": false}).AssertError(409, "IpamValueInvalid")
			c.postSubnet(network, Body{"cidr": "10.1.1.0/31", "enable_dhcp": false, "gateway_ip": nil}).RequireStatus(201)
			c.postSubnet(network, Body{"cidr": "10.1.2.0/32"}).AssertError(400, "InvalidInput")
			c.postSubnet(network, Body{"cidr": "10.1.2.0/32", "enable_dhcp": false}).RequireStatus(201)
		}),
		behaviour("what is no range of addresses is refused with the reason", func(c *Case) {
			network := c.Network()
			for _, cidr := range []string{"10.1.0.0", "10.1.0.0/33", "nonsense", "", "0.0.0.0/0", "0.0.0.0/8", "224.0.0.0/24", "127.0.0.0/24"} {
				c.postSubnet(network, Body{"cidr": cidr}).AssertError(400, "InvalidInput")
			}
			c.postSubnet(network, Body{"cidr": "0.0.0.0/0", "enable_dhcp": false}).AssertError(400, "InvalidInput")
		}),
		behaviour("a range is written with its first address, however it was asked for", func(c *Case) {
			assert.Equal(c, "10.1.0.0/24", c.postSubnet(c.Network(), Body{"cidr": "10.1.0.5/24"}).RequireStatus(201).Text("cidr"))
		}),
		behaviour("a subnet's range must be of its IP version", func(c *Case) {
			network := c.Network()
			c.postSubnet(network, Body{"cidr": "fd00::/64"}).AssertError(400, "InvalidInput")
			c.postSubnet(network, Body{"cidr": "10.1.0.0/24", "ip_version": 6}).AssertError(400, "InvalidInput")
			c.postSubnet(network, Body{"cidr": "10.1.0.0/24", "gateway_ip": "fd00::1"}).AssertError(400, "InvalidInput")
			c.postSubnet(network, Body{"cidr": "10.1.0.0/24", "dns_nameservers": []string{"fd00::53"}}).AssertError(400, "InvalidInput")
			c.postSubnet(network, Body{"cidr": "10.1.0.0/24", "ip_version": 5}).AssertError(400, "HTTPBadRequest")
		}),
		behaviour("a subnet needs a network that is there, a version and a range", func(c *Case) {
			network := c.Network()
			c.Member.Post(Network, "/v2.0/subnets", Body{"subnet": Body{"network_id": zeroUUID, "ip_version": 4, "cidr": "10.1.0.0/24"}}).AssertError(404, "NetworkNotFound")
			c.Member.Post(Network, "/v2.0/subnets", Body{"subnet": Body{"network_id": "nonsense", "ip_version": 4, "cidr": "10.1.0.0/24"}}).AssertError(400, "HTTPBadRequest")
			c.Member.Post(Network, "/v2.0/subnets", Body{"subnet": Body{"ip_version": 4, "cidr": "10.1.0.0/24"}}).AssertError(400, "HTTPBadRequest")
			c.Member.Post(Network, "/v2.0/subnets", Body{"subnet": Body{"network_id": network.ID(), "cidr": "10.1.0.0/24"}}).AssertError(400, "HTTPBadRequest")
			c.postSubnet(network, nil).AssertError(400, "BadRequest")
			c.postSubnet(network, Body{"cidr": "10.1.0.0/24", "colour": "blue"}).AssertError(400, "HTTPBadRequest")
		}),
		behaviour("nobody makes, changes or removes a subnet in a stranger's network", func(c *Case) {
			network := c.Network()
			subnet := c.Subnet(network, "10.1.0.0/24")
			one := "/v2.0/subnets/" + subnet.ID()
			c.OtherMember.Post(Network, "/v2.0/subnets", Body{"subnet": Body{
				"network_id": network.ID(), "ip_version": 4, "cidr": "10.2.0.0/24",
			}}).AssertError(404, "NetworkNotFound")
			c.OtherMember.Get(Network, one).AssertError(404, "SubnetNotFound")
			c.OtherMember.Put(Network, one, Body{"subnet": Body{"name": "mine now"}}).AssertError(404, "SubnetNotFound")
			c.OtherMember.Delete(Network, one).AssertError(404, "SubnetNotFound")
			c.Member.Post(Network, "/v2.0/subnets", Body{"subnet": Body{
				"network_id": c.External.ID(), "ip_version": 4, "cidr": "10.2.0.0/24",
			}}).AssertError(403, "HTTPForbidden")
		}),
		behaviour("a subnet with a port cannot be deleted before the port is, and only once", func(c *Case) {
			network := c.Network()
			subnet := c.Subnet(network, "10.1.0.0/24")
			port := c.Port(network)
			one := "/v2.0/subnets/" + subnet.ID()
			c.Member.Delete(Network, one).AssertError(409, "SubnetInUse").AssertMessage("One or more ports have an IP allocation from this subnet")
			c.Member.Delete(Network, "/v2.0/ports/"+port.ID()).RequireStatus(204)
			c.Member.Delete(Network, one).RequireStatus(204)
			c.Member.Delete(Network, one).AssertError(404, "SubnetNotFound")
			c.Member.Get(Network, one).AssertError(404, "SubnetNotFound")
			c.Member.Put(Network, one, Body{"subnet": Body{"name": "late"}}).AssertError(404, "SubnetNotFound")
			assert.Empty(c, c.Member.Get(Network, "/v2.0/networks/"+network.ID()).RequireStatus(200).Texts("subnets"))
		}),
		behaviour("a subnet with a router's interface cannot be deleted", func(c *Case) {
			subnet := c.Subnet(c.Network(), "10.1.0.0/24")
			c.Interface(c.Router(), subnet)
			c.Member.Delete(Network, "/v2.0/subnets/"+subnet.ID()).AssertError(409, "SubnetInUse")
		}),
	}
}

func subnetSettings() []Behaviour {
	return []Behaviour{
		behaviour("a gateway can be chosen, left out and put back, but is no address that a host cannot have", func(c *Case) {
			network := c.Network()
			subnet := c.postSubnet(network, Body{"cidr": "10.1.0.0/24", "gateway_ip": "10.1.0.77"}).RequireStatus(201)
			assert.Equal(c, "10.1.0.77", subnet.Text("gateway_ip"))
			assert.Len(c, subnet.Objects("allocation_pools"), 2)
			without := c.postSubnet(network, Body{"cidr": "10.2.0.0/24", "gateway_ip": nil}).RequireStatus(201)
			assert.Nil(c, without.At("gateway_ip"))
			one := "/v2.0/subnets/" + without.ID()
			c.Member.Put(Network, one, Body{"subnet": Body{"gateway_ip": "10.2.0.9"}}).AssertError(409, "GatewayConflictWithAllocationPools")
			c.Member.Put(Network, one, Body{"subnet": Body{
				"gateway_ip": "10.2.0.9", "allocation_pools": []Body{{"start": "10.2.0.10", "end": "10.2.0.20"}},
			}}).RequireStatus(200)
			c.Member.Put(Network, one, Body{"subnet": Body{"gateway_ip": nil}}).RequireStatus(200)
			c.Member.Put(Network, one, Body{"subnet": Body{"gateway_ip": "10.2.0.0"}}).AssertError(400, "InvalidInput")
			c.postSubnet(network, Body{"cidr": "10.3.0.0/24", "gateway_ip": "10.3.0.0"}).AssertError(400, "InvalidInput")
			c.postSubnet(network, Body{"cidr": "10.3.0.0/24", "gateway_ip": "10.3.0.255"}).AssertError(400, "InvalidInput")
			c.postSubnet(network, Body{"cidr": "10.3.0.0/24", "gateway_ip": "nonsense"}).AssertError(400, "HTTPBadRequest")
		}),
		behaviour("a gateway may lie outside of the range", func(c *Case) {
			subnet := c.postSubnet(c.Network(), Body{"cidr": "10.1.0.0/24", "gateway_ip": "10.2.0.1"}).RequireStatus(201)
			assert.Equal(c, []Object{{"start": "10.1.0.1", "end": "10.1.0.254"}}, subnet.Objects("allocation_pools"))
			c.Member.Put(Network, "/v2.0/subnets/"+subnet.ID(), Body{"subnet": Body{"gateway_ip": "10.3.0.1"}}).RequireStatus(200)
		}),
		behaviour("a gateway that a router has taken is exchanged for none, but for no other", func(c *Case) {
			subnet := c.Subnet(c.Network(), "10.1.0.0/24")
			c.Interface(c.Router(), subnet)
			one := "/v2.0/subnets/" + subnet.ID()
			c.Member.Put(Network, one, Body{"subnet": Body{"gateway_ip": "10.1.0.99"}}).AssertError(409, "GatewayIpInUse")
			c.Member.Put(Network, one, Body{"subnet": Body{"gateway_ip": "10.1.0.1"}}).RequireStatus(200)
			c.Member.Put(Network, one, Body{"subnet": Body{"gateway_ip": nil}}).RequireStatus(200)
			c.Member.Put(Network, one, Body{"subnet": Body{"name": "renamed"}}).RequireStatus(200)
		}),
		behaviour("name servers keep their order, are replaced and are taken away", func(c *Case) {
			network := c.Network()
			subnet := c.postSubnet(network, Body{"cidr": "10.1.0.0/24", "dns_nameservers": []string{"9.9.9.9", "1.1.1.1"}}).RequireStatus(201)
			assert.Equal(c, []string{"9.9.9.9", "1.1.1.1"}, subnet.Texts("dns_nameservers"))
			one := "/v2.0/subnets/" + subnet.ID()
			changed := c.Member.Put(Network, one, Body{"subnet": Body{"dns_nameservers": []string{"8.8.8.8", "9.9.9.9", "1.1.1.1"}}}).RequireStatus(200)
			assert.Equal(c, []string{"8.8.8.8", "9.9.9.9", "1.1.1.1"}, changed.Texts("dns_nameservers"))
			assert.Equal(c, []string{"8.8.8.8", "9.9.9.9", "1.1.1.1"}, c.Member.Get(Network, one).RequireStatus(200).Texts("dns_nameservers"))
			assert.Empty(c, c.Member.Put(Network, one, Body{"subnet": Body{"dns_nameservers": []string{}}}).RequireStatus(200).Texts("dns_nameservers"))
			c.Member.Put(Network, one, Body{"subnet": Body{"dns_nameservers": nil}}).RequireStatus(200)
			c.Member.Put(Network, one, Body{"subnet": Body{"dns_nameservers": []string{"9.9.9.9", "9.9.9.9"}}}).AssertError(400, "HTTPBadRequest")
			c.Member.Put(Network, one, Body{"subnet": Body{"dns_nameservers": []string{"dns.example.com"}}}).AssertError(400, "HTTPBadRequest")
			c.Member.Put(Network, one, Body{"subnet": Body{
				"dns_nameservers": []string{"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6"},
			}}).AssertError(400, "DNSNameServersExhausted")
			c.postSubnet(network, Body{"cidr": "10.2.0.0/24", "dns_nameservers": "9.9.9.9"}).AssertError(400, "HTTPBadRequest")
		}),
		behaviour("host routes are given, replaced and taken away", func(c *Case) {
			route := Body{"destination": "192.168.0.0/24", "nexthop": "10.1.0.9"}
			subnet := c.postSubnet(c.Network(), Body{"cidr": "10.1.0.0/24", "host_routes": []Body{route}}).RequireStatus(201)
			one := "/v2.0/subnets/" + subnet.ID()
			other := Body{"destination": "192.168.1.0/24", "nexthop": "10.1.0.10"}
			c.Member.Put(Network, one, Body{"subnet": Body{"host_routes": []Body{route, other}}}).RequireStatus(200)
			c.Member.Put(Network, one, Body{"subnet": Body{"host_routes": []Body{other}}}).RequireStatus(200)
			c.Member.Put(Network, one, Body{"subnet": Body{"host_routes": []Body{}}}).RequireStatus(200)
			c.Member.Put(Network, one, Body{"subnet": Body{"host_routes": []Body{{"destination": "nonsense", "nexthop": "10.1.0.9"}}}}).AssertError(400, "HTTPBadRequest")
			c.Member.Put(Network, one, Body{"subnet": Body{"host_routes": []Body{route, route}}}).AssertError(400, "HTTPBadRequest")
		}),
		behaviour("pools of addresses are chosen within the range and apart from the gateway and from each other", func(c *Case) {
			network := c.Network()
			pools := func(fromTo ...string) Body {
				list := []Body{}
				for i := 0; i < len(fromTo); i += 2 {
					list = append(list, Body{"start": fromTo[i], "end": fromTo[i+1]})
				}
				return Body{"cidr": "10.1.0.0/24", "allocation_pools": list}
			}
			subnet := c.postSubnet(network, pools("10.1.0.100", "10.1.0.199")).RequireStatus(201)
			c.Port(network)
			one := "/v2.0/subnets/" + subnet.ID()
			c.Member.Put(Network, one, Body{"subnet": Body{"allocation_pools": []Body{{"start": "10.1.0.20", "end": "10.1.0.30"}}}}).RequireStatus(200)
			other := c.Network()
			c.postSubnet(other, pools("10.1.0.1", "10.1.0.9")).AssertError(409, "GatewayConflictWithAllocationPools")
			c.postSubnet(other, pools("10.1.0.100", "10.1.1.9")).AssertError(400, "OutOfBoundsAllocationPool")
			c.postSubnet(other, pools("10.1.0.10", "10.1.0.20", "10.1.0.20", "10.1.0.30")).AssertError(409, "OverlappingAllocationPools")
			c.postSubnet(other, pools("10.1.0.20", "10.1.0.10")).AssertError(400, "InvalidAllocationPool")
			c.postSubnet(other, pools("nonsense", "10.1.0.10")).AssertError(400, "HTTPBadRequest")
			c.postSubnet(other, pools("fd00::1", "fd00::2")).AssertError(400, "InvalidAllocationPool")
		}),
		behaviour("a subnet's name, description and DHCP change, its range and its network do not", func(c *Case) {
			subnet := c.Subnet(c.Network(), "10.1.0.0/24")
			one := "/v2.0/subnets/" + subnet.ID()
			changed := c.Member.Put(Network, one, Body{"subnet": Body{"name": "renamed", "description": "described", "enable_dhcp": false}}).RequireStatus(200)
			assert.Equal(c, false, changed.At("enable_dhcp"))
			c.Member.Put(Network, one, Body{"subnet": Body{"enable_dhcp": true}}).RequireStatus(200)
			c.Member.Put(Network, one, Body{"subnet": Body{"cidr": "10.2.0.0/24"}}).AssertError(400, "HTTPBadRequest")
			c.Member.Put(Network, one, Body{"subnet": Body{"network_id": zeroUUID}}).AssertError(400, "HTTPBadRequest")
			c.Member.Put(Network, one, Body{"subnet": Body{"ip_version": 6}}).AssertError(400, "HTTPBadRequest")
			c.Member.Put(Network, one, Body{"subnet": Body{"ipv6_ra_mode": "slaac"}}).AssertError(400, "HTTPBadRequest")
			c.Member.Put(Network, one, Body{"subnet": Body{"colour": "blue"}}).AssertError(400, "HTTPBadRequest")
		}),
	}
}

func ipv6Subnets() []Behaviour {
	v6 := func(cidr string, more Body) Body {
		body := Body{"cidr": cidr, "ip_version": 6}
		maps.Copy(body, more)
		return body
	}
	modes := func(ra, address string) Body {
		body := Body{}
		if ra != "" {
			body["ipv6_ra_mode"] = ra
		}
		if address != "" {
			body["ipv6_address_mode"] = address
		}
		return body
	}
	return []Behaviour{
		behaviour("an IPv6 subnet has a gateway and a pool of all its other addresses", func(c *Case) {
			network := c.Network()
			subnet := c.postSubnet(network, v6("fd00:1::/64", nil)).RequireStatus(201)
			assert.Equal(c, "fd00:1::", subnet.Text("gateway_ip"))
			assert.Nil(c, subnet.At("ipv6_ra_mode"))
			c.postSubnet(network, v6("fd00:2::/120", Body{"enable_dhcp": false})).RequireStatus(201)
			c.postSubnet(network, v6("fd00:3::/64", Body{"gateway_ip": nil})).RequireStatus(201)
			c.postSubnet(network, v6("fd00:4::/127", nil)).AssertError(400, "InvalidInput")
			c.postSubnet(network, v6("fd00:4::/127", Body{"enable_dhcp": false})).RequireStatus(201)
			c.postSubnet(network, v6("FD00:0005::/64", Body{"dns_nameservers": []string{"fd00::53"}})).RequireStatus(201)
		}),
		behaviour("the modes of an IPv6 subnet may be given together, or one of them alone", func(c *Case) {
			network := c.Network()
			c.postSubnet(network, v6("fd00:1::/64", modes("dhcpv6-stateful", "dhcpv6-stateful"))).RequireStatus(201)
			c.postSubnet(network, v6("fd00:2::/64", modes("dhcpv6-stateless", "dhcpv6-stateless"))).RequireStatus(201)
			c.postSubnet(network, v6("fd00:3::/64", modes("slaac", "slaac"))).RequireStatus(201)
			c.postSubnet(network, v6("fd00:4::/64", modes("slaac", ""))).RequireStatus(201)
			c.postSubnet(network, v6("fd00:5::/64", modes("", "slaac"))).RequireStatus(201)
		}),
		behaviour("modes of IPv6 that do not fit are refused with the reason", func(c *Case) {
			network := c.Network()
			c.postSubnet(network, v6("fd00:1::/64", modes("slaac", "dhcpv6-stateful"))).AssertError(400, "InvalidInput")
			c.postSubnet(network, v6("fd00:1::/64", modes("nonsense", ""))).AssertError(400, "HTTPBadRequest")
			c.postSubnet(network, v6("fd00:1::/64", modes("", "nonsense"))).AssertError(400, "HTTPBadRequest")
			c.postSubnet(network, v6("fd00:1::/80", modes("slaac", "slaac"))).AssertError(400, "InvalidInput")
			c.postSubnet(network, v6("fd00:1::/64", Body{"ipv6_ra_mode": "slaac", "enable_dhcp": false})).AssertError(400, "InvalidInput")
			c.postSubnet(network, Body{"cidr": "10.1.0.0/24", "ipv6_ra_mode": "slaac"}).AssertError(400, "InvalidInput")
			c.postSubnet(network, Body{"cidr": "10.1.0.0/24", "ipv6_address_mode": "slaac"}).AssertError(400, "InvalidInput")
		}),
		behaviour("a port in a network of both versions has an address of each", func(c *Case) {
			network := c.Network()
			four := c.postSubnet(network, Body{"cidr": "10.1.0.0/24"}).RequireStatus(201)
			six := c.postSubnet(network, v6("fd00:1::/64", modes("dhcpv6-stateful", "dhcpv6-stateful"))).RequireStatus(201)
			port := c.Member.Post(Network, "/v2.0/ports", Body{"port": Body{"network_id": network.ID()}}).RequireStatus(201)
			c.DeleteAtCleanup(c.Member, Network, "/v2.0/ports/"+port.ID())
			assert.ElementsMatch(c, []string{four.ID(), six.ID()}, subnetsOf(port))
			c.Member.Delete(Network, "/v2.0/subnets/"+six.ID()).AssertError(409, "SubnetInUse")
		}),
		behaviour("a subnet with automatic addresses gives every port the one that belongs to its hardware address, and goes although ports have one", func(c *Case) {
			network := c.Network()
			c.postSubnet(network, Body{"cidr": "10.1.0.0/24"}).RequireStatus(201)
			early := c.Port(network)
			six := c.postSubnet(network, v6("fd00:1::/64", modes("slaac", "slaac"))).RequireStatus(201)
			assert.Len(c, c.Member.Get(Network, "/v2.0/ports/"+early.ID()).RequireStatus(200).Objects("fixed_ips"), 2)
			late := c.Member.Post(Network, "/v2.0/ports", Body{"port": Body{"network_id": network.ID(), "mac_address": "fa:16:3e:00:00:01"}}).RequireStatus(201)
			c.DeleteAtCleanup(c.Member, Network, "/v2.0/ports/"+late.ID())
			assert.Contains(c, addressesOf(late), "fd00:1::f816:3eff:fe00:1")
			c.Member.Post(Network, "/v2.0/ports", Body{"port": Body{
				"network_id": network.ID(), "fixed_ips": []Body{{"subnet_id": six.ID(), "ip_address": "fd00:1::5"}},
			}}).AssertError(400, "AllocationOnAutoAddressSubnet")
			c.Member.Delete(Network, "/v2.0/subnets/"+six.ID()).RequireStatus(204)
			assert.Len(c, c.Member.Get(Network, "/v2.0/ports/"+late.ID()).RequireStatus(200).Objects("fixed_ips"), 1)
		}),
	}
}

func subnetsOf(port Object) []string {
	var ids []string
	for _, ip := range port.Objects("fixed_ips") {
		ids = append(ids, ip.Text("subnet_id"))
	}
	return ids
}

func addressesOf(port Object) []string {
	var addresses []string
	for _, ip := range port.Objects("fixed_ips") {
		addresses = append(addresses, ip.Text("ip_address"))
	}
	return addresses
}
