package conformance

import (
	"github.com/stretchr/testify/assert"
)

func floatingIPs() []Behaviour {
	return []Behaviour{
		behaviour("a floating IP without a port is DOWN and leads nowhere", unassociatedFloatingIP),
		behaviour("a floating IP made for a port is ACTIVE before long and names the router and the address", floatingIPOfPort),
		behaviour("a floating IP comes to a port and leaves it with null", associateFloatingIP),
		behaviour("a port with two addresses wants to be told which of them a floating IP leads to", floatingIPOfSecondAddress),
		behaviour("an address has one floating IP of an external network, and the second one is a conflict", twoFloatingIPs),
		behaviour("a floating IP comes only from an external network", wrongFloatingNetworks),
		behaviour("a floating IP finds no way to a port without a router to its network", unreachablePort),
		behaviour("a floating IP takes no port that is not there, a stranger's, or without an IPv4 address", wrongPortsForFloatingIPs),
		behaviour("a floating IP stays when its port goes, and is DOWN again", floatingIPOutlivesPort),
		behaviour("a floating IP with a port can be deleted, and is not there a second time", deletedFloatingIP),
		behaviour("a gateway that a floating IP needs is neither cut nor deleted with its router", gatewayOfFloatingIP),
		behaviour("floating IPs are found by port, router, network, address and description", filterFloatingIPs),
		behaviour("a change of a floating IP's description leaves its port alone, and a change of nothing takes the port away", describedFloatingIP),
		behaviour("a stranger neither sees, changes nor deletes a floating IP", floatingIPOfOtherProject),
		behaviour("a request about a floating IP that makes no sense is refused with 400", malformedFloatingIPs),
	}
}

const floatingIPsPath = "/v2.0/floatingips"

func floatingIPPath(floating Object) string { return floatingIPsPath + "/" + floating.ID() }

// createFloatingIP makes a floating IP as a part of the behaviour.
func createFloatingIP(c *Case, attributes Body) Object {
	c.Helper()
	attributes["floating_network_id"] = c.External.ID()
	created := c.Member.Post(Network, floatingIPsPath, Body{"floatingip": attributes}).RequireStatus(201)
	c.DeleteAtCleanup(c.Member, Network, floatingIPPath(created))
	return created
}

// FloatingIP makes a floating IP, for a port unless it is nil.
func (c *Case) FloatingIP(port Object) Object {
	c.Helper()
	attributes := Body{"floating_network_id": c.External.ID()}
	if port != nil {
		attributes["port_id"] = port.ID()
	}
	return c.Fixture(Network, floatingIPsPath, Body{"floatingip": attributes})
}

// routedNetwork is a network that a router joins with the external one.
type routedNetwork struct{ router, network, subnet Object }

func (c *Case) routedNetwork(cidr string) routedNetwork {
	c.Helper()
	s := routedNetwork{router: c.RouterWithGateway(), network: c.Network()}
	s.subnet = c.Subnet(s.network, cidr)
	c.Interface(s.router, s.subnet)
	return s
}

// portAt makes a port with an address of the case's choice: those that a cloud chooses differ.
func (s routedNetwork) portAt(c *Case, address string) Object {
	c.Helper()
	return c.Fixture(Network, portsPath, Body{"port": Body{
		"name": "given", "network_id": s.network.ID(), "fixed_ips": []Body{{"subnet_id": s.subnet.ID(), "ip_address": address}},
	}})
}

func unassociatedFloatingIP(c *Case) {
	created := createFloatingIP(c, Body{"description": "described"})
	c.WaitUntil("it is DOWN", func() bool {
		return c.Member.Get(Network, floatingIPPath(created)).RequireStatus(200).Text("status") == "DOWN"
	})
	now := c.Member.Get(Network, floatingIPPath(created)).RequireStatus(200)
	assert.NotEmpty(c, now.Text("floating_ip_address"))
	for _, attribute := range []string{"port_id", "router_id", "fixed_ip_address"} {
		assert.Contains(c, now, attribute)
		assert.Nil(c, now.At(attribute))
	}
	ports := "/v2.0/ports?device_id=" + created.ID()
	assert.Empty(c, c.Member.Get(Network, ports).List("ports"), "its port is the cloud's own")
	assert.Len(c, c.Operator.Get(Network, ports).List("ports"), 1)
}

func floatingIPOfPort(c *Case) {
	s := c.routedNetwork("10.90.0.0/24")
	port := c.Port(s.network)
	created := createFloatingIP(c, Body{"port_id": port.ID()})
	assert.Equal(c, s.router.ID(), created.Text("router_id"))
	c.WaitUntil("it is ACTIVE", func() bool {
		return c.Member.Get(Network, floatingIPPath(created)).RequireStatus(200).Text("status") == "ACTIVE"
	})
	now := c.Member.Get(Network, floatingIPPath(created)).RequireStatus(200)
	assert.Equal(c, port.ID(), now.Text("port_id"))
	assert.Equal(c, port.Objects("fixed_ips")[0].Text("ip_address"), now.Text("fixed_ip_address"))
}

func associateFloatingIP(c *Case) {
	s := c.routedNetwork("10.90.1.0/24")
	one, two, floating := c.Port(s.network), c.Port(s.network), c.FloatingIP(nil)
	move := func(port any) Object {
		return c.Member.Put(Network, floatingIPPath(floating), Body{"floatingip": Body{"port_id": port}}).RequireStatus(200)
	}
	assert.Equal(c, s.router.ID(), move(one.ID()).Text("router_id"))
	assert.Equal(c, two.ID(), move(two.ID()).Text("port_id"))
	move(two.ID())
	left := move(nil)
	assert.Nil(c, left.At("port_id"))
	assert.Nil(c, left.At("router_id"))
	move(nil)
}

func floatingIPOfSecondAddress(c *Case) {
	s := c.routedNetwork("10.90.2.0/24")
	port := c.Fixture(Network, portsPath, Body{"port": Body{"network_id": s.network.ID(), "fixed_ips": []Body{
		{"subnet_id": s.subnet.ID(), "ip_address": "10.90.2.21"}, {"subnet_id": s.subnet.ID(), "ip_address": "10.90.2.22"},
	}}})
	attributes := func(address string) Body {
		b := Body{"floating_network_id": c.External.ID(), "port_id": port.ID()}
		if address != "" {
			b["fixed_ip_address"] = address
		}
		return Body{"floatingip": b}
	}
	c.TryCreate(Network, floatingIPsPath, attributes("")).AssertError(400, "BadRequest").AssertMessage("multiple fixed IPv4 addresses")
	c.TryCreate(Network, floatingIPsPath, attributes("10.90.2.23")).AssertError(400, "BadRequest").AssertMessage("does not have fixed ip")
	first := createFloatingIP(c, Body{"port_id": port.ID(), "fixed_ip_address": "10.90.2.22"})
	assert.Equal(c, "10.90.2.22", first.Text("fixed_ip_address"))
	second := createFloatingIP(c, Body{"port_id": port.ID(), "fixed_ip_address": "10.90.2.21"})
	assert.Equal(c, "10.90.2.21", second.Text("fixed_ip_address"))
}

func twoFloatingIPs(c *Case) {
	s := c.routedNetwork("10.90.3.0/24")
	port := s.portAt(c, "10.90.3.7")
	c.FloatingIP(port)
	other := c.FloatingIP(nil)
	c.Member.Put(Network, floatingIPPath(other), Body{"floatingip": Body{"port_id": port.ID()}}).AssertError(409, "FloatingIPPortAlreadyAssociated")
	c.TryCreate(Network, floatingIPsPath, Body{"floatingip": Body{"floating_network_id": c.External.ID(), "port_id": port.ID()}}).
		AssertError(409, "FloatingIPPortAlreadyAssociated")
	assert.Len(c, c.Member.Get(Network, floatingIPsPath+"?port_id="+port.ID()).List("floatingips"), 1)
}

func wrongFloatingNetworks(c *Case) {
	internal := c.Network()
	c.Subnet(internal, "10.90.4.0/24")
	refused := func(status int, kind string, attributes Body) *Response {
		return c.TryCreate(Network, floatingIPsPath, Body{"floatingip": attributes}).AssertError(status, kind)
	}
	refused(400, "BadRequest", Body{"floating_network_id": internal.ID()}).AssertMessage("is not a valid external network")
	refused(404, "NetworkNotFound", Body{"floating_network_id": unknownNetworkID})
	refused(400, "HTTPBadRequest", Body{"floating_network_id": "nonsense"})
	refused(400, "HTTPBadRequest", Body{})
}

func unreachablePort(c *Case) {
	network := c.Network()
	subnet := c.Subnet(network, "10.90.5.0/24")
	port := c.Port(network)
	asked := Body{"floatingip": Body{"floating_network_id": c.External.ID(), "port_id": port.ID()}}
	c.TryCreate(Network, floatingIPsPath, asked).AssertError(404, "ExternalGatewayForFloatingIPNotFound")
	router := c.Router()
	c.Interface(router, subnet)
	c.TryCreate(Network, floatingIPsPath, asked).AssertError(404, "ExternalGatewayForFloatingIPNotFound")
	floating := c.FloatingIP(nil)
	c.Member.Put(Network, floatingIPPath(floating), Body{"floatingip": Body{"port_id": port.ID()}}).
		AssertError(404, "ExternalGatewayForFloatingIPNotFound").AssertMessage("is not reachable from subnet")
}

func wrongPortsForFloatingIPs(c *Case) {
	s := c.routedNetwork("10.90.6.0/24")
	refused := func(status int, kind string, port string) *Response {
		return c.TryCreate(Network, floatingIPsPath, Body{"floatingip": Body{"floating_network_id": c.External.ID(), "port_id": port}}).AssertError(status, kind)
	}
	refused(404, "PortNotFound", unknownNetworkID)
	refused(400, "HTTPBadRequest", "nonsense")
	bare := c.Fixture(Network, portsPath, Body{"port": Body{"network_id": s.network.ID(), "fixed_ips": []Body{}}})
	refused(400, "BadRequest", bare.ID()).AssertMessage("no fixed IPv4 addresses")
	otherNetwork := c.FixtureAs(c.OtherMember, Network, networksPath, Body{"network": Body{"name": "given"}})
	c.FixtureAs(c.OtherMember, Network, subnetsPath, Body{"subnet": Body{"network_id": otherNetwork.ID(), "cidr": "10.90.7.0/24", "ip_version": 4}})
	theirs := c.FixtureAs(c.OtherMember, Network, portsPath, Body{"port": Body{"network_id": otherNetwork.ID()}})
	refused(404, "PortNotFound", theirs.ID())
	c.TryCreate(Network, floatingIPsPath, Body{"floatingip": Body{
		"floating_network_id": c.External.ID(), "fixed_ip_address": "10.90.6.9",
	}}).AssertError(400, "BadRequest")
}

func floatingIPOutlivesPort(c *Case) {
	s := c.routedNetwork("10.90.8.0/24")
	port := c.Port(s.network)
	floating := c.FloatingIP(port)
	c.Member.Delete(Network, portsPath+"/"+port.ID()).RequireStatus(204)
	c.WaitUntil("it is DOWN", func() bool {
		return c.Member.Get(Network, floatingIPPath(floating)).RequireStatus(200).Text("status") == "DOWN"
	})
	now := c.Member.Get(Network, floatingIPPath(floating)).RequireStatus(200)
	assert.Equal(c, floating.Text("floating_ip_address"), now.Text("floating_ip_address"))
	assert.Nil(c, now.At("port_id"))
	assert.Nil(c, now.At("router_id"))
	assert.Nil(c, now.At("fixed_ip_address"))
}

func deletedFloatingIP(c *Case) {
	s := c.routedNetwork("10.90.9.0/24")
	port := c.Port(s.network)
	floating := c.FloatingIP(port)
	c.Member.Delete(Network, floatingIPPath(floating)).RequireStatus(204)
	c.Member.Get(Network, floatingIPPath(floating)).AssertError(404, "FloatingIPNotFound")
	c.Member.Delete(Network, floatingIPPath(floating)).AssertError(404, "FloatingIPNotFound")
	c.Member.Put(Network, floatingIPPath(floating), Body{"floatingip": Body{"port_id": nil}}).AssertError(404, "FloatingIPNotFound")
	assert.Empty(c, c.Operator.Get(Network, "/v2.0/ports?device_id="+floating.ID()).List("ports"))
	c.Member.Get(Network, portsPath+"/"+port.ID()).RequireStatus(200)
}

func gatewayOfFloatingIP(c *Case) {
	s := c.routedNetwork("10.91.0.0/24")
	floating := c.FloatingIP(c.Port(s.network))
	cut := func() *Response {
		return c.Member.Put(Network, routerPath(s.router), Body{"router": Body{"external_gateway_info": nil}})
	}
	cut().AssertError(409, "RouterExternalGatewayInUseByFloatingIp")
	c.Member.Put(Network, routerPath(s.router), Body{"router": Body{"external_gateway_info": toExternal(c)}}).RequireStatus(200)
	c.Member.Put(Network, floatingIPPath(floating), Body{"floatingip": Body{"port_id": nil}}).RequireStatus(200)
	cut().RequireStatus(200)
}

func filterFloatingIPs(c *Case) {
	s := c.routedNetwork("10.91.1.0/24")
	port := s.portAt(c, "10.91.1.7")
	used := c.FloatingIP(port)
	idle := c.Fixture(Network, floatingIPsPath, Body{"floatingip": Body{"floating_network_id": c.External.ID(), "description": "idle"}})
	list := func(query string) []Object {
		return c.Member.Get(Network, floatingIPsPath+"?fields=id&fields=description&project_id="+c.Member.ProjectID+query).List("floatingips")
	}
	assert.Len(c, list(""), 2)
	assert.Len(c, list("&port_id="+port.ID()), 1)
	assert.Len(c, list("&port_id="+port.ID()+"&port_id="+unknownNetworkID), 1)
	assert.Len(c, list("&router_id="+s.router.ID()), 1)
	assert.Len(c, list("&floating_network_id="+c.External.ID()), 2)
	assert.Len(c, list("&fixed_ip_address="+used.Text("fixed_ip_address")), 1)
	assert.Len(c, list("&description=idle"), 1)
	assert.Len(c, list("&id="+idle.ID()), 1)
	assert.Len(c, list("&status=ACTIVE"), 1)
	assert.Empty(c, list("&router_id="+unknownNetworkID))
}

func describedFloatingIP(c *Case) {
	s := c.routedNetwork("10.91.2.0/24")
	port := c.Port(s.network)
	floating := c.FloatingIP(port)
	change := func(change Body) Object {
		return c.Member.Put(Network, floatingIPPath(floating), Body{"floatingip": change}).RequireStatus(200)
	}
	assert.Equal(c, port.ID(), change(Body{"description": "described"}).Text("port_id"))
	assert.Nil(c, change(Body{}).At("port_id"))
}

func floatingIPOfOtherProject(c *Case) {
	floating := c.FloatingIP(nil)
	c.OtherMember.Get(Network, floatingIPPath(floating)).AssertError(404, "FloatingIPNotFound")
	c.OtherMember.Put(Network, floatingIPPath(floating), Body{"floatingip": Body{"description": "mine"}}).AssertError(404, "FloatingIPNotFound")
	c.OtherMember.Delete(Network, floatingIPPath(floating)).AssertError(404, "FloatingIPNotFound")
	assert.Empty(c, c.OtherMember.Get(Network, floatingIPsPath+"?id="+floating.ID()).List("floatingips"))
}

func malformedFloatingIPs(c *Case) {
	refused := func(kind string, attributes Body) {
		attributes["floating_network_id"] = c.External.ID()
		c.TryCreate(Network, floatingIPsPath, Body{"floatingip": attributes}).AssertError(400, kind)
	}
	refused("HTTPBadRequest", Body{"colour": "green"})
	refused("HTTPBadRequest", Body{"status": "ACTIVE"})
	refused("HTTPBadRequest", Body{"subnet_id": "nonsense"})
	floating := c.FloatingIP(nil)
	c.Member.Put(Network, floatingIPPath(floating), Body{"floatingip": Body{"floating_network_id": unknownNetworkID}}).AssertError(400, "HTTPBadRequest")
	c.Member.Put(Network, floatingIPPath(floating), Body{"floatingip": Body{"floating_ip_address": "198.18.0.9"}}).AssertError(400, "HTTPBadRequest")
	c.Member.Put(Network, floatingIPPath(floating), Body{"floatingip": Body{"fixed_ip_address": "10.91.3.9"}}).AssertError(400, "BadRequest")
}
