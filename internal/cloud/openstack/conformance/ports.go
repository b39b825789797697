package conformance

import (
	"maps"
	"slices"

	"github.com/stretchr/testify/assert"
)

// postPort asks for a port in a network. What is made is removed at the end.
func (c *Case) postPort(network Object, attributes Body) *Response {
	c.Helper()
	body := Body{"network_id": network.ID()}
	maps.Copy(body, attributes)
	response := c.Member.Post(Network, "/v2.0/ports", Body{"port": body})
	if response.Status < 300 {
		c.DeleteAtCleanup(c.Member, Network, "/v2.0/ports/"+response.object().ID())
	}
	return response
}

func ports() []Behaviour {
	return slices.Concat(plainPorts(), portAddresses(), portSecurity(), portsInBulk())
}

func plainPorts() []Behaviour {
	return []Behaviour{
		behaviour("a port has an address, the default security group and a hardware address, and is DOWN until something uses it", func(c *Case) {
			network := c.Network()
			subnet := c.Subnet(network, "10.1.0.0/24")
			port := c.postPort(network, Body{"name": "one"}).RequireStatus(201)
			assert.Equal(c, "DOWN", port.Text("status"))
			assert.Equal(c, []string{subnet.ID()}, subnetsOf(port))
			assert.Len(c, port.Texts("security_groups"), 1)
			assert.Empty(c, port.Text("device_owner"))
			c.Member.Get(Network, "/v2.0/ports/"+port.ID()).RequireStatus(200)
		}),
		behaviour("a port in a network without subnets has no address", func(c *Case) {
			port := c.postPort(c.Network(), nil).RequireStatus(201)
			assert.Empty(c, port.Objects("fixed_ips"))
		}),
		behaviour("a port's name, description, state and device change, its network does not", func(c *Case) {
			port := c.postPort(c.Network(), Body{"device_id": "somebody", "device_owner": "compute:nobody"}).RequireStatus(201)
			one := "/v2.0/ports/" + port.ID()
			changed := c.Member.Put(Network, one, Body{"port": Body{
				"name": "renamed", "description": "described", "admin_state_up": false, "device_id": "another", "device_owner": "",
			}}).RequireStatus(200)
			assert.Equal(c, "another", changed.Text("device_id"))
			c.Member.Put(Network, one, Body{"port": Body{"network_id": zeroUUID}}).AssertError(400, "HTTPBadRequest")
			c.Member.Put(Network, one, Body{"port": Body{"status": "ACTIVE"}}).AssertError(400, "HTTPBadRequest")
			c.Member.Put(Network, one, Body{"port": Body{"colour": "blue"}}).AssertError(400, "HTTPBadRequest")
		}),
		behaviour("a port is deleted once", func(c *Case) {
			port := c.Port(c.Network())
			one := "/v2.0/ports/" + port.ID()
			c.Member.Delete(Network, one).RequireStatus(204)
			c.Member.Delete(Network, one).AssertError(404, "PortNotFound")
			c.Member.Get(Network, one).AssertError(404, "PortNotFound")
			c.Member.Put(Network, one, Body{"port": Body{"name": "late"}}).AssertError(404, "PortNotFound")
		}),
		behaviour("a router's interface is a port that its router alone removes", func(c *Case) {
			subnet := c.Subnet(c.Network(), "10.1.0.0/24")
			created := c.Interface(c.Router(), subnet)
			one := "/v2.0/ports/" + created.Text("port_id")
			port := c.Member.Get(Network, one).RequireStatus(200)
			assert.Equal(c, "network:router_interface", port.Text("device_owner"))
			c.Member.Delete(Network, one).AssertError(409, "ServicePortInUse").AssertMessage("has device owner network:router_interface")
		}),
		behaviour("what is no port is refused with the reason", func(c *Case) {
			network := c.Network()
			c.postPort(network, Body{"fixed_ips": []Body{{"ip_address": "10.1.0.9"}}}).AssertError(400, "InvalidInput")
			c.Subnet(network, "10.1.0.0/24")
			c.postPort(network, Body{"fixed_ips": []Body{{"colour": "blue"}}}).AssertError(400, "InvalidInput")
			c.Member.Post(Network, "/v2.0/ports", Body{"port": Body{"network_id": zeroUUID}}).AssertError(404, "NetworkNotFound")
			for _, body := range []Body{
				{"network_id": "nonsense"},
				{"network_id": nil},
				{"colour": "blue"},
				{"status": "ACTIVE"},
				{"mac_address": "nonsense"},
				{"fixed_ips": "nonsense"},
				{"fixed_ips": []Body{{"ip_address": "nonsense"}}},
				{"fixed_ips": []Body{{"subnet_id": "nonsense"}}},
				{"allowed_address_pairs": "nonsense"},
			} {
				c.postPort(network, body).AssertError(400, "HTTPBadRequest")
			}
			c.Member.Post(Network, "/v2.0/ports", Body{"port": Body{"name": "nowhere"}}).AssertError(400, "HTTPBadRequest")
		}),
		behaviour("a stranger's port is not there, nor is a stranger's network to put one into", func(c *Case) {
			network := c.Network()
			one := "/v2.0/ports/" + c.Port(network).ID()
			c.OtherMember.Get(Network, one).AssertError(404, "PortNotFound")
			c.OtherMember.Put(Network, one, Body{"port": Body{"name": "mine now"}}).AssertError(404, "PortNotFound")
			c.OtherMember.Delete(Network, one).AssertError(404, "PortNotFound")
			assert.Empty(c, c.OtherMember.Get(Network, "/v2.0/ports?network_id="+network.ID()).List("ports"))
			c.OtherMember.Post(Network, "/v2.0/ports", Body{"port": Body{"network_id": network.ID()}}).AssertError(404, "NetworkNotFound")
		}),
		behaviour("a plain member has no port in the external network, and binds none to a host", func(c *Case) {
			c.postPort(c.External, nil).AssertError(403, "HTTPForbidden")
			network := c.Network()
			c.postPort(network, Body{"binding:host_id": "a-host"}).AssertError(403, "PolicyNotAuthorized")
			port := c.postPort(network, Body{"binding:vnic_type": "normal"}).RequireStatus(201)
			assert.NotContains(c, port, "binding:host_id")
		}),
		behaviour("a hardware address is chosen by the member, but not twice in a network", func(c *Case) {
			network := c.Network()
			mac := Body{"mac_address": "fa:16:3e:00:00:07"}
			assert.Equal(c, "fa:16:3e:00:00:07", c.postPort(network, mac).RequireStatus(201).Text("mac_address"))
			c.postPort(network, mac).AssertError(409, "MacAddressInUse")
			c.postPort(c.Network(), mac).RequireStatus(201)
		}),
	}
}

func portAddresses() []Behaviour {
	wanted := func(ips ...Body) Body { return Body{"fixed_ips": ips} }
	return []Behaviour{
		behaviour("a port has the addresses that are asked for, by subnet, by address or by both", func(c *Case) {
			network := c.Network()
			var subnets []Object
			for _, cidr := range []string{"10.1.0.0/24", "10.2.0.0/24", "10.3.0.0/24"} {
				subnets = append(subnets, c.Subnet(network, cidr))
			}
			assert.Equal(c, []string{subnets[1].ID()}, subnetsOf(c.postPort(network, wanted(Body{"subnet_id": subnets[1].ID()})).RequireStatus(201)))
			// Gateways' own addresses are the only ones that the cloud chooses for no port.
			assert.Equal(c, []string{"10.1.0.1"}, addressesOf(c.postPort(network, wanted(Body{"ip_address": "10.1.0.1"})).RequireStatus(201)))
			c.postPort(network, wanted(Body{"subnet_id": subnets[1].ID(), "ip_address": "10.2.0.1"})).RequireStatus(201)
			both := c.postPort(network, wanted(Body{"subnet_id": subnets[0].ID()}, Body{"subnet_id": subnets[2].ID(), "ip_address": "10.3.0.1"})).RequireStatus(201)
			assert.Len(c, both.Objects("fixed_ips"), 2)
			assert.Empty(c, c.postPort(network, Body{"fixed_ips": []Body{}}).RequireStatus(201).Objects("fixed_ips"))
		}),
		behaviour("an address is given once, and only where it belongs", func(c *Case) {
			network := c.Network()
			subnet, other := c.Subnet(network, "10.1.0.0/24"), c.Subnet(network, "10.2.0.0/24")
			c.postPort(network, wanted(Body{"ip_address": "10.1.0.50"})).RequireStatus(201)
			c.postPort(network, wanted(Body{"ip_address": "10.1.0.50"})).AssertError(409, "IpAddressAlreadyAllocated")
			c.postPort(network, wanted(Body{"subnet_id": subnet.ID(), "ip_address": "10.1.0.50"})).AssertError(409, "IpAddressAlreadyAllocated")
			c.postPort(network, wanted(Body{"ip_address": "10.99.0.5"})).AssertError(400, "InvalidIpForNetwork")
			c.postPort(network, wanted(Body{"subnet_id": other.ID(), "ip_address": "10.1.0.60"})).AssertError(400, "InvalidIpForSubnet")
			c.postPort(network, wanted(Body{"subnet_id": subnet.ID(), "ip_address": "10.1.0.255"})).AssertError(400, "InvalidIpForSubnet")
			c.postPort(network, wanted(Body{"subnet_id": zeroUUID})).AssertError(404, "SubnetNotFound")
			elsewhere := c.Subnet(c.Network(), "10.3.0.0/24")
			c.postPort(network, wanted(Body{"subnet_id": elsewhere.ID()})).AssertError(400, "InvalidInput")
		}),
		behaviour("an address outside the pools and the gateway's own can be asked for", func(c *Case) {
			network := c.Network()
			c.Fixture(Network, "/v2.0/subnets", Body{"subnet": Body{
				"network_id": network.ID(), "ip_version": 4, "cidr": "10.1.0.0/24", "allocation_pools": []Body{{"start": "10.1.0.100", "end": "10.1.0.199"}},
			}})
			c.postPort(network, wanted(Body{"ip_address": "10.1.0.5"})).RequireStatus(201)
			c.postPort(network, wanted(Body{"ip_address": "10.1.0.1"})).RequireStatus(201)
		}),
		behaviour("a subnet without a free address gives none, and again one when a port has gone", func(c *Case) {
			network := c.Network()
			subnet := c.Subnet(network, "10.1.0.0/30")
			last := c.postPort(network, nil).RequireStatus(201)
			assert.Equal(c, []string{"10.1.0.2"}, addressesOf(last))
			c.postPort(network, nil).AssertError(409, "IpAddressGenerationFailure").AssertMessage("No more IP addresses available")
			c.postPort(network, wanted(Body{"subnet_id": subnet.ID()})).AssertError(409, "IpAddressGenerationFailure")
			c.Member.Delete(Network, "/v2.0/ports/"+last.ID()).RequireStatus(204)
			c.postPort(network, nil).RequireStatus(201)
			c.Subnet(network, "10.2.0.0/30")
			c.postPort(network, nil).RequireStatus(201)
			c.postPort(network, nil).AssertError(409, "IpAddressGenerationFailure")
		}),
		behaviour("the addresses of a port are exchanged as a whole, or not at all", func(c *Case) {
			network := c.Network()
			subnet, other := c.Subnet(network, "10.1.0.0/24"), c.Subnet(network, "10.2.0.0/24")
			c.postPort(network, wanted(Body{"ip_address": "10.1.0.50"})).RequireStatus(201)
			port := c.postPort(network, wanted(Body{"ip_address": "10.1.0.60"})).RequireStatus(201)
			one := "/v2.0/ports/" + port.ID()
			c.Member.Put(Network, one, Body{"port": wanted(Body{"ip_address": "10.1.0.61"})}).RequireStatus(200)
			c.Member.Put(Network, one, Body{"port": wanted(Body{"ip_address": "10.1.0.61"}, Body{"subnet_id": other.ID(), "ip_address": "10.2.0.62"})}).RequireStatus(200)
			c.Member.Put(Network, one, Body{"port": wanted(Body{"ip_address": "10.1.0.50"})}).AssertError(409, "IpAddressAlreadyAllocated")
			assert.Len(c, c.Member.Get(Network, one).RequireStatus(200).Objects("fixed_ips"), 2)
			kept := c.Member.Put(Network, one, Body{"port": wanted(Body{"subnet_id": subnet.ID()})}).RequireStatus(200)
			assert.Equal(c, []string{"10.1.0.61"}, addressesOf(kept))
			assert.Empty(c, c.Member.Put(Network, one, Body{"port": Body{"fixed_ips": []Body{}}}).RequireStatus(200).Objects("fixed_ips"))
			c.postPort(network, wanted(Body{"ip_address": "10.1.0.61"})).RequireStatus(201)
		}),
	}
}

func portSecurity() []Behaviour {
	return []Behaviour{
		behaviour("the security groups of a port are named, exchanged and taken away, and must be there", func(c *Case) {
			network, group := c.Network(), c.SecurityGroup()
			c.Subnet(network, "10.1.0.0/24")
			port := c.postPort(network, Body{"security_groups": []string{group.ID()}}).RequireStatus(201)
			assert.Equal(c, []string{group.ID()}, port.Texts("security_groups"))
			one := "/v2.0/ports/" + port.ID()
			assert.Empty(c, c.Member.Put(Network, one, Body{"port": Body{"security_groups": []string{}}}).RequireStatus(200).Texts("security_groups"))
			c.Member.Put(Network, one, Body{"port": Body{"security_groups": []string{group.ID()}}}).RequireStatus(200)
			c.Member.Put(Network, one, Body{"port": Body{"security_groups": []string{zeroUUID}}}).AssertError(404, "SecurityGroupNotFound")
			c.postPort(network, Body{"security_groups": []string{zeroUUID}}).AssertError(404, "SecurityGroupNotFound")
			c.postPort(network, Body{"security_groups": []string{"nonsense"}}).AssertError(400, "HTTPBadRequest")
			theirs := c.FixtureAs(c.OtherMember, Network, "/v2.0/security-groups", Body{"security_group": Body{"name": "theirs"}})
			c.postPort(network, Body{"security_groups": []string{theirs.ID()}}).AssertError(404, "SecurityGroupNotFound")
		}),
		behaviour("a port without port security has no security groups and no other addresses", func(c *Case) {
			network := c.Network()
			c.Subnet(network, "10.1.0.0/24")
			group := c.SecurityGroup()
			off := Body{"port_security_enabled": false}
			port := c.postPort(network, off).RequireStatus(201)
			assert.Empty(c, port.Texts("security_groups"))
			one := "/v2.0/ports/" + port.ID()
			c.Member.Put(Network, one, Body{"port": Body{"security_groups": []string{group.ID()}}}).AssertError(400, "PortSecurityAndIPRequiredForSecurityGroups")
			c.postPort(network, Body{"port_security_enabled": false, "security_groups": []string{group.ID()}}).AssertError(400, "PortSecurityAndIPRequiredForSecurityGroups")
			pairs := []Body{{"ip_address": "100.96.0.0/24"}}
			c.postPort(network, Body{"port_security_enabled": false, "allowed_address_pairs": pairs}).AssertError(409, "AddressPairAndPortSecurityRequired")
			c.Member.Put(Network, one, Body{"port": Body{"allowed_address_pairs": pairs}}).AssertError(409, "AddressPairAndPortSecurityRequired")
			c.Member.Put(Network, one, Body{"port": Body{"port_security_enabled": true, "security_groups": []string{group.ID()}, "allowed_address_pairs": pairs}}).RequireStatus(200)
			c.Member.Put(Network, one, Body{"port": off}).AssertError(409, "AddressPairAndPortSecurityRequired")
			c.Member.Put(Network, one, Body{"port": Body{"port_security_enabled": false, "allowed_address_pairs": []Body{}}}).AssertError(409, "PortSecurityPortHasSecurityGroup")
			c.Member.Put(Network, one, Body{"port": Body{"port_security_enabled": false, "security_groups": []string{}, "allowed_address_pairs": []Body{}}}).RequireStatus(200)
		}),
		behaviour("a port may send from other addresses when they are allowed", func(c *Case) {
			network := c.Network()
			c.Subnet(network, "10.1.0.0/24")
			port := c.postPort(network, Body{
				"mac_address":           "fa:16:3e:00:00:08",
				"allowed_address_pairs": []Body{{"ip_address": "100.96.0.0/24"}, {"ip_address": "100.98.0.1", "mac_address": "fa:16:3e:00:00:09"}},
			}).RequireStatus(201)
			assert.Len(c, port.Objects("allowed_address_pairs"), 2)
			one := "/v2.0/ports/" + port.ID()
			c.Member.Put(Network, one, Body{"port": Body{"allowed_address_pairs": []Body{{"ip_address": "100.97.0.0/24"}}}}).RequireStatus(200)
			c.Member.Put(Network, one, Body{"port": Body{"name": "renamed"}}).RequireStatus(200)
			c.Member.Put(Network, one, Body{"port": Body{"allowed_address_pairs": []Body{{"ip_address": "100.97.0.0/24"}, {"ip_address": "100.97.0.0/24"}}}}).AssertError(400, "DuplicateAddressPairInRequest")
			c.Member.Put(Network, one, Body{"port": Body{"allowed_address_pairs": []Body{{"ip_address": "nonsense"}}}}).AssertError(400, "HTTPBadRequest")
			assert.Empty(c, c.Member.Put(Network, one, Body{"port": Body{"allowed_address_pairs": []Body{}}}).RequireStatus(200).Objects("allowed_address_pairs"))
		}),
		behaviour("the ports of a network without port security have no security groups", func(c *Case) {
			network := c.Fixture(Network, "/v2.0/networks", Body{"network": Body{"name": "open", "port_security_enabled": false}})
			c.Subnet(network, "10.1.0.0/24")
			port := c.postPort(network, nil).RequireStatus(201)
			assert.Empty(c, port.Texts("security_groups"))
			assert.Equal(c, false, port.At("port_security_enabled"))
		}),
	}
}
