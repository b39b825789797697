package conformance

import (
	"github.com/stretchr/testify/assert"
)

func leftovers() []Behaviour {
	return []Behaviour{
		behaviour("a refused deletion of a network leaves its subnets and ports as they are", refusedNetwork),
		behaviour("a network takes its subnets along when no port is left", networkWithSubnets),
		behaviour("a floating IP that lost its port takes another one", reusedFloatingIP),
		behaviour("a floating IP outlives router, subnet and network", lastFloatingIP),
		behaviour("a security group outlives the port that had it", groupAfterPort),
		behaviour("a route stays behind the port to which it led", routeAfterPort),
		behaviour("an address pair and a security group rule stay behind the subnet that they were about", rulesAfterSubnet),
		behaviour("the port of somebody else's service keeps subnet and network, and says whose it is", servicePort),
		behaviour("a port without addresses keeps the network but not the subnet", servicePortWithoutAddress),
		behaviour("an operator removes what a member left, interfaces and default group included", cleanupByOperator),
	}
}

func refusedNetwork(c *Case) {
	network := c.Network()
	subnet := c.Subnet(network, "10.100.0.0/24")
	port := c.Port(network)
	c.SetPlaceholder(port.ID(), "port")
	c.Member.Delete(Network, networksPath+"/"+network.ID()).AssertError(409, "NetworkInUse").AssertMessage("one or more ports still in use")
	c.Member.Delete(Network, subnetsPath+"/"+subnet.ID()).AssertError(409, "SubnetInUse")
	assert.Equal(c, []string{subnet.ID()}, c.Member.Get(Network, networksPath+"/"+network.ID()).RequireStatus(200).Texts("subnets"))
	c.Member.Get(Network, subnetsPath+"/"+subnet.ID()).RequireStatus(200)
	assert.Len(c, c.Member.Get(Network, portsPath+"/"+port.ID()).RequireStatus(200).Objects("fixed_ips"), 1)
}

func networkWithSubnets(c *Case) {
	network := c.Network()
	one, two := c.Subnet(network, "10.100.1.0/24"), c.Subnet(network, "10.100.2.0/24")
	c.Member.Delete(Network, networksPath+"/"+network.ID()).RequireStatus(204)
	for _, subnet := range []Object{one, two} {
		c.Member.Get(Network, subnetsPath+"/"+subnet.ID()).AssertError(404, "SubnetNotFound")
	}
	assert.Empty(c, c.Member.Get(Network, subnetsPath+"?network_id="+network.ID()).List("subnets"))
}

func reusedFloatingIP(c *Case) {
	s := c.routedNetwork("10.100.3.0/24")
	one, two := c.Port(s.network), c.Port(s.network)
	floating := c.FloatingIP(one)
	c.WithoutRecording(func() { c.Member.Delete(Network, portsPath+"/"+one.ID()).RequireStatus(204) })
	now := c.Member.Put(Network, floatingIPPath(floating), Body{"floatingip": Body{"port_id": two.ID()}}).RequireStatus(200)
	assert.Equal(c, two.ID(), now.Text("port_id"))
	assert.Equal(c, floating.Text("floating_ip_address"), now.Text("floating_ip_address"))
}

func lastFloatingIP(c *Case) {
	s := c.routedNetwork("10.100.4.0/24")
	port := c.Port(s.network)
	floating := c.FloatingIP(port)
	c.Member.Delete(Network, portsPath+"/"+port.ID()).RequireStatus(204)
	disconnect(c, s.router, bySubnet(s.subnet)).RequireStatus(200)
	c.Member.Delete(Network, routerPath(s.router)).RequireStatus(204)
	c.Member.Delete(Network, subnetsPath+"/"+s.subnet.ID()).RequireStatus(204)
	c.Member.Delete(Network, networksPath+"/"+s.network.ID()).RequireStatus(204)
	assert.Nil(c, c.Member.Get(Network, floatingIPPath(floating)).RequireStatus(200).At("router_id"))
}

func groupAfterPort(c *Case) {
	group, network := c.SecurityGroup(), c.Network()
	port := c.Fixture(Network, portsPath, Body{"port": Body{"network_id": network.ID(), "security_groups": []string{group.ID()}}})
	c.Member.Delete(Network, portsPath+"/"+port.ID()).RequireStatus(204)
	c.Member.Get(Network, securityGroupPath(group)).RequireStatus(200)
	c.Member.Delete(Network, securityGroupPath(group)).RequireStatus(204)
}

func routeAfterPort(c *Case) {
	s := routedNetwork{router: c.Router(), network: c.Network()}
	s.subnet = c.Subnet(s.network, "10.100.5.0/24")
	c.Interface(s.router, s.subnet)
	port := s.portAt(c, "10.100.5.7")
	c.givenRoutes(s.router, Body{"destination": "100.64.0.0/24", "nexthop": "10.100.5.7"})
	c.Member.Delete(Network, portsPath+"/"+port.ID()).RequireStatus(204)
	assert.Len(c, c.Member.Get(Network, routerPath(s.router)).RequireStatus(200).Objects("routes"), 1)
	disconnect(c, s.router, bySubnet(s.subnet)).AssertError(409, "RouterInterfaceInUseByRoute")
}

func rulesAfterSubnet(c *Case) {
	network, group := c.Network(), c.SecurityGroup()
	subnet := c.Subnet(network, "10.100.6.0/24")
	c.Rule(group, Body{"direction": "ingress", "remote_ip_prefix": "10.100.6.0/24"})
	port := c.Fixture(Network, portsPath, Body{"port": Body{
		"network_id": network.ID(), "fixed_ips": []Body{}, "allowed_address_pairs": []Body{{"ip_address": "10.100.6.0/24"}},
	}})
	c.Member.Delete(Network, subnetsPath+"/"+subnet.ID()).RequireStatus(204)
	assert.Len(c, c.Member.Get(Network, portsPath+"/"+port.ID()).RequireStatus(200).Objects("allowed_address_pairs"), 1)
	assert.Len(c, c.Member.Get(Network, securityGroupPath(group)).RequireStatus(200).Objects("security_group_rules"), 3)
}

func servicePort(c *Case) {
	network := c.Network()
	subnet := c.Subnet(network, "10.100.7.0/24")
	c.Fixture(Network, portsPath, Body{"port": Body{
		"name": "octavia-lb-77", "network_id": network.ID(), "device_owner": "Octavia", "device_id": "lb-77",
	}})
	c.Member.Delete(Network, networksPath+"/"+network.ID()).AssertError(409, "NetworkInUse")
	c.Member.Delete(Network, subnetsPath+"/"+subnet.ID()).AssertError(409, "SubnetInUse")
	query := portsPath + "?fields=name&fields=device_owner&fields=device_id&network_id=" + network.ID()
	left := c.Member.Get(Network, query).List("ports")
	if assert.Len(c, left, 1) {
		assert.Equal(c, "Octavia", left[0].Text("device_owner"))
	}
}

func servicePortWithoutAddress(c *Case) {
	network := c.Network()
	subnet := c.Subnet(network, "10.100.8.0/24")
	port := c.Fixture(Network, portsPath, Body{"port": Body{"network_id": network.ID(), "fixed_ips": []Body{}}})
	c.SetPlaceholder(port.ID(), "port")
	c.Member.Delete(Network, subnetsPath+"/"+subnet.ID()).RequireStatus(204)
	c.Member.Delete(Network, networksPath+"/"+network.ID()).AssertError(409, "NetworkInUse")
}

func cleanupByOperator(c *Case) {
	s := c.routedNetwork("10.100.9.0/24")
	floating := c.FloatingIP(c.Port(s.network))
	path := routerPath(s.router)
	c.Operator.Delete(Network, path).AssertError(409, "RouterInUse")
	c.Operator.Delete(Network, floatingIPPath(floating)).RequireStatus(204)
	c.Operator.Put(Network, path+"/remove_router_interface", bySubnet(s.subnet)).RequireStatus(200)
	c.Operator.Delete(Network, path).RequireStatus(204)
	c.Member.Get(Network, path).AssertError(404, "RouterNotFound")
	group := defaultGroup(c)
	c.WithoutRecording(func() {
		for _, port := range c.Operator.Get(Network, portsPath+"?network_id="+s.network.ID()).List("ports") {
			c.Operator.Delete(Network, portsPath+"/"+port.ID()).RequireStatus(204)
		}
	})
	c.Operator.Delete(Network, securityGroupPath(group)).RequireStatus(204)
	assert.NotEqual(c, group.ID(), defaultGroup(c).ID(), "the cloud makes a new one")
}
