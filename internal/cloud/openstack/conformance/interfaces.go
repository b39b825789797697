package conformance

import (
	"net/http"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func routerInterfaces() []Behaviour {
	return []Behaviour{
		behaviour("an interface has the subnet's gateway address and a port of the project, which is ACTIVE before long", newInterface),
		behaviour("the port of an interface is found by its router, by its subnet and by its owner", filterInterfaces),
		behaviour("a router has one interface in a subnet, and the second one is a BadRequest", sameInterfaceTwice),
		behaviour("a router has no interfaces in ranges that overlap, not even with its gateway's", overlappingInterfaces),
		behaviour("a subnet without a gateway address takes no interface, unless by a port", interfaceWithoutGateway),
		behaviour("an interface needs the gateway address for itself", takenGatewayAddress),
		behaviour("a second router enters a subnet only by a port with another address", secondRouter),
		behaviour("a port becomes an interface, and goes with it", interfaceByPort),
		behaviour("a port that has a device, no address or another owner becomes no interface", wrongPorts),
		behaviour("an interface is asked for by a subnet or a port, and not by both, neither or nonsense", malformedInterfaces),
		behaviour("an interface is removed by its subnet, and is not there a second time", interfaceRemoved),
		behaviour("an interface is not removed by a port or a subnet that are not its own", interfaceRemovedWrongly),
		behaviour("an interface that a floating IP needs is kept, and the error is RouterInterfaceInUseByFloatingIP", interfaceOfFloatingIP),
		behaviour("an interface that a route leads through is kept, whatever the error is called", interfaceOfRoute),
		behaviour("the IPv6 subnets of a network share one interface port, and IPv4 has its own", dualStackInterfaces),
		behaviour("neither subnet, network nor port go before the interface, and all of them after it", deletionOrder),
		behaviour("a stranger's subnet takes no interface, and a stranger's router gives none", interfaceOfOtherProject),
	}
}

const (
	networksPath = "/v2.0/networks"
	subnetsPath  = "/v2.0/subnets"
	portsPath    = "/v2.0/ports"
)

// connect asks for an interface, as a part of the behaviour, and removes it at the end.
func connect(c *Case, router Object, by Body) *Response {
	c.Helper()
	response := c.Member.Put(Network, routerPath(router)+"/add_router_interface", by)
	if response.Status == http.StatusOK {
		c.RequestAtCleanup(c.Member, http.MethodPut, Network, routerPath(router)+"/remove_router_interface", Body{"port_id": response.object().Text("port_id")})
	}
	return response
}

func disconnect(c *Case, router Object, by Body) *Response {
	c.Helper()
	return c.Member.Put(Network, routerPath(router)+"/remove_router_interface", by)
}

func bySubnet(subnet Object) Body { return Body{"subnet_id": subnet.ID()} }

// untilActive waits for a port.
func untilActive(c *Case, portID string) {
	c.Helper()
	c.WaitUntil("the port is ACTIVE", func() bool {
		return c.Member.Get(Network, portsPath+"/"+portID).RequireStatus(200).Text("status") == "ACTIVE"
	})
}

func newInterface(c *Case) {
	router, network := c.Router(), c.Network()
	subnet := c.Subnet(network, "10.70.0.0/24")
	routerInterface := connect(c, router, bySubnet(subnet)).RequireStatus(200)
	c.SetPlaceholder(routerInterface.Text("port_id"), "interface")
	assert.Equal(c, router.ID(), routerInterface.ID())
	assert.Equal(c, subnet.ID(), routerInterface.Text("subnet_id"))
	assert.Equal(c, []string{subnet.ID()}, routerInterface.Texts("subnet_ids"))
	assert.Equal(c, network.ID(), routerInterface.Text("network_id"))
	untilActive(c, routerInterface.Text("port_id"))
	port := c.Member.Get(Network, portsPath+"/"+routerInterface.Text("port_id")).RequireStatus(200)
	assert.Equal(c, "network:router_interface", port.Text("device_owner"))
	assert.Equal(c, router.ID(), port.Text("device_id"))
	assert.Equal(c, c.Member.ProjectID, port.Text("project_id"))
	assert.Equal(c, "10.70.0.1", port.Objects("fixed_ips")[0].Text("ip_address"))
	assert.Empty(c, port.Texts("security_groups"))
}

func filterInterfaces(c *Case) {
	router, network := c.Router(), c.Network()
	subnet := c.Subnet(network, "10.70.1.0/24")
	c.SetPlaceholder(c.Interface(router, subnet).Text("port_id"), "interface")
	c.Port(network)
	for _, query := range []string{
		"?device_id=" + router.ID(),
		"?network_id=" + network.ID() + "&device_owner=network:router_interface",
		"?device_id=" + router.ID() + "&fixed_ips=subnet_id%3D" + subnet.ID(),
		"?network_id=" + network.ID() + "&fixed_ips=ip_address%3D10.70.1.1",
	} {
		assert.Len(c, c.Member.Get(Network, portsPath+query+"&fields=id&fields=device_owner&fields=fixed_ips").List("ports"), 1)
	}
	assert.Len(c, c.Member.Get(Network, portsPath+"?fields=device_owner&fixed_ips=subnet_id%3D"+subnet.ID()).List("ports"), 2)
}

func sameInterfaceTwice(c *Case) {
	router := c.Router()
	subnet := c.Subnet(c.Network(), "10.70.2.0/24")
	c.Interface(router, subnet)
	connect(c, router, bySubnet(subnet)).AssertError(400, "BadRequest").AssertMessage("Router already has a port on subnet %s", subnet.ID())
}

func overlappingInterfaces(c *Case) {
	router := c.RouterWithGateway()
	c.Interface(router, c.Subnet(c.Network(), "10.71.0.0/16"))
	inner := c.Subnet(c.Network(), "10.71.7.0/24")
	connect(c, router, bySubnet(inner)).AssertError(400, "BadRequest").AssertMessage("overlaps with")
	for _, external := range c.External.Texts("subnets") {
		c.SetPlaceholder(external, "external subnet")
	}
	outer := c.Subnet(c.Network(), "198.18.7.0/24")
	connect(c, router, bySubnet(outer)).AssertError(400, "BadRequest").AssertMessage("overlaps with")
}

func interfaceWithoutGateway(c *Case) {
	router, network := c.Router(), c.Network()
	subnet := c.Fixture(Network, subnetsPath, Body{"subnet": Body{
		"network_id": network.ID(), "cidr": "10.72.0.0/24", "ip_version": 4, "gateway_ip": nil,
	}})
	connect(c, router, bySubnet(subnet)).AssertError(400, "BadRequest").AssertMessage("must have a gateway IP")
	port := c.Port(network)
	connect(c, router, Body{"port_id": port.ID()}).RequireStatus(200)
}

func takenGatewayAddress(c *Case) {
	router, network := c.Router(), c.Network()
	subnet := c.Subnet(network, "10.73.0.0/24")
	c.Fixture(Network, portsPath, Body{"port": Body{
		"network_id": network.ID(), "fixed_ips": []Body{{"subnet_id": subnet.ID(), "ip_address": "10.73.0.1"}},
	}})
	connect(c, router, bySubnet(subnet)).AssertError(409, "IpAddressAlreadyAllocated").AssertMessage("10.73.0.1")
	assert.Empty(c, c.Member.Get(Network, portsPath+"?device_id="+router.ID()).List("ports"))
}

func secondRouter(c *Case) {
	one, two, network := c.Router(), c.Router(), c.Network()
	subnet := c.Subnet(network, "10.74.0.0/24")
	c.Interface(one, subnet)
	connect(c, two, bySubnet(subnet)).AssertError(409, "IpAddressAlreadyAllocated")
	connect(c, two, Body{"port_id": c.Port(network).ID()}).RequireStatus(200)
	assert.Len(c, c.Member.Get(Network, portsPath+"?fields=network_id&network_id="+network.ID()).List("ports"), 2)
}

func interfaceByPort(c *Case) {
	router, network := c.Router(), c.Network()
	c.Subnet(network, "10.75.0.0/24")
	port := c.Port(network)
	routerInterface := connect(c, router, Body{"port_id": port.ID()}).RequireStatus(200)
	assert.Equal(c, port.ID(), routerInterface.Text("port_id"))
	untilActive(c, port.ID())
	now := c.Member.Get(Network, portsPath+"/"+port.ID()).RequireStatus(200)
	assert.Equal(c, "network:router_interface", now.Text("device_owner"))
	disconnect(c, router, Body{"port_id": port.ID()}).RequireStatus(200)
	c.Member.Get(Network, portsPath+"/"+port.ID()).AssertError(404, "PortNotFound")
}

func wrongPorts(c *Case) {
	router, network := c.Router(), c.Network()
	subnet := c.Subnet(network, "10.76.0.0/24")
	other := c.Router()
	routerInterface := c.Interface(other, subnet)
	c.SetPlaceholder(routerInterface.Text("port_id"), "interface")
	by := func(port string) *Response { return connect(c, router, Body{"port_id": port}) }
	by(routerInterface.Text("port_id")).AssertError(409, "PortInUse")
	used := c.Fixture(Network, portsPath, Body{"port": Body{"network_id": network.ID(), "device_id": "somebody's"}})
	by(used.ID()).AssertError(409, "PortInUse")
	bare := c.Fixture(Network, portsPath, Body{"port": Body{"network_id": network.ID(), "fixed_ips": []Body{}}})
	by(bare.ID()).AssertError(400, "BadRequest").AssertMessage("at least one fixed IP")
	by(unknownNetworkID).AssertError(404, "PortNotFound")
	otherNetwork := c.FixtureAs(c.OtherMember, Network, networksPath, Body{"network": Body{"name": "given"}})
	c.FixtureAs(c.OtherMember, Network, subnetsPath, Body{"subnet": Body{"network_id": otherNetwork.ID(), "cidr": "10.77.0.0/24", "ip_version": 4}})
	theirs := c.FixtureAs(c.OtherMember, Network, portsPath, Body{"port": Body{"network_id": otherNetwork.ID()}})
	by(theirs.ID()).AssertError(404, "PortNotFound")
}

func malformedInterfaces(c *Case) {
	router, network := c.Router(), c.Network()
	subnet := c.Subnet(network, "10.78.0.0/24")
	port := c.Port(network)
	connect(c, router, Body{"subnet_id": subnet.ID(), "port_id": port.ID()}).AssertError(400, "BadRequest").AssertMessage("Cannot specify both")
	connect(c, router, Body{}).AssertError(400, "BadRequest").AssertMessage("Either subnet_id or port_id must be specified")
	connect(c, router, Body{"subnet_id": unknownNetworkID}).AssertError(404, "SubnetNotFound")
	connect(c, router, Body{"subnet_id": "nonsense"}).AssertError(400, "BadRequest")
	connect(c, router, Body{"port_id": "nonsense"}).AssertError(400, "BadRequest")
	connect(c, Object{"id": unknownNetworkID}, bySubnet(subnet)).AssertError(404, "RouterNotFound")
	disconnect(c, router, Body{}).AssertError(400, "BadRequest")
	disconnect(c, router, Body{"subnet_id": unknownNetworkID}).AssertError(404, "SubnetNotFound")
	disconnect(c, router, Body{"port_id": unknownNetworkID}).AssertError(404, "RouterInterfaceNotFound")
	disconnect(c, router, Body{"subnet_id": "nonsense"}).AssertError(400, "BadRequest")
}

func interfaceRemoved(c *Case) {
	router, network := c.Router(), c.Network()
	subnet := c.Subnet(network, "10.79.0.0/24")
	routerInterface := c.Interface(router, subnet)
	c.SetPlaceholder(routerInterface.Text("port_id"), "interface")
	gone := disconnect(c, router, bySubnet(subnet)).RequireStatus(200)
	assert.Equal(c, routerInterface.Text("port_id"), gone.Text("port_id"))
	c.Member.Get(Network, portsPath+"/"+routerInterface.Text("port_id")).AssertError(404, "PortNotFound")
	disconnect(c, router, bySubnet(subnet)).AssertError(404, "RouterInterfaceNotFoundForSubnet")
	c.Interface(router, subnet)
}

func interfaceRemovedWrongly(c *Case) {
	router, other, network := c.Router(), c.Router(), c.Network()
	subnet, elsewhere := c.Subnet(network, "10.80.0.0/24"), c.Subnet(network, "10.80.1.0/24")
	routerInterface := c.Interface(router, subnet).Text("port_id")
	c.SetPlaceholder(routerInterface, "interface")
	disconnect(c, router, bySubnet(elsewhere)).AssertError(404, "RouterInterfaceNotFoundForSubnet")
	disconnect(c, other, bySubnet(subnet)).AssertError(404, "RouterInterfaceNotFoundForSubnet")
	disconnect(c, other, Body{"port_id": routerInterface}).AssertError(404, "RouterInterfaceNotFound")
	disconnect(c, router, Body{"port_id": c.Port(network).ID()}).AssertError(404, "RouterInterfaceNotFound")
	disconnect(c, router, Body{"port_id": routerInterface, "subnet_id": elsewhere.ID()}).AssertError(400, "SubnetMismatchForPort")
	disconnect(c, router, Body{"port_id": routerInterface, "subnet_id": subnet.ID()}).RequireStatus(200)
}

func interfaceOfFloatingIP(c *Case) {
	router, network := c.RouterWithGateway(), c.Network()
	subnet := c.Subnet(network, "10.81.0.0/24")
	routerInterface := c.Interface(router, subnet)
	c.SetPlaceholder(routerInterface.Text("port_id"), "interface")
	port := c.Port(network)
	floating := c.Fixture(Network, floatingIPsPath, Body{"floatingip": Body{"floating_network_id": c.External.ID(), "port_id": port.ID()}})
	disconnect(c, router, bySubnet(subnet)).AssertError(409, "RouterInterfaceInUseByFloatingIP")
	disconnect(c, router, Body{"port_id": routerInterface.Text("port_id")}).AssertError(409, "RouterInterfaceInUseByFloatingIP")
	c.WithoutRecording(func() { c.Member.Delete(Network, floatingIPsPath+"/"+floating.ID()).RequireStatus(204) })
	disconnect(c, router, bySubnet(subnet)).RequireStatus(200)
}

func interfaceOfRoute(c *Case) {
	router := c.Router()
	subnet := c.Subnet(c.Network(), "10.82.0.0/24")
	routerInterface := c.Interface(router, subnet)
	c.SetPlaceholder(routerInterface.Text("port_id"), "interface")
	c.givenRoutes(router, Body{"destination": "100.64.0.0/24", "nexthop": "10.82.0.9"})
	disconnect(c, router, bySubnet(subnet)).AssertError(409, "RouterInterfaceInUseByRoute")
	disconnect(c, router, Body{"port_id": routerInterface.Text("port_id")}).AssertError(409, "RouterInterfaceInUseByRoute")
	c.WithoutRecording(func() {
		c.Member.Put(Network, routerPath(router), Body{"router": Body{"routes": []Body{}}}).RequireStatus(200)
	})
	disconnect(c, router, bySubnet(subnet)).RequireStatus(200)
}

func dualStackInterfaces(c *Case) {
	router, network := c.Router(), c.Network()
	four := c.Subnet(network, "10.83.0.0/24")
	ipv6 := func(cidr string) Object {
		return c.Fixture(Network, subnetsPath, Body{"subnet": Body{
			"network_id": network.ID(), "cidr": cidr, "ip_version": 6, "ipv6_ra_mode": "slaac", "ipv6_address_mode": "slaac",
		}})
	}
	six, more := ipv6("fd00:83::/64"), ipv6("fd00:84::/64")
	portOf := func(subnet Object, word string) string {
		id := connect(c, router, bySubnet(subnet)).RequireStatus(200).Text("port_id")
		c.SetPlaceholder(id, word)
		return id
	}
	of4, of6 := portOf(four, "IPv4 interface"), portOf(six, "IPv6 interface")
	assert.NotEqual(c, of4, of6)
	require.Equal(c, of6, portOf(more, "IPv6 interface"))
	assert.Len(c, c.Member.Get(Network, portsPath+"/"+of6).RequireStatus(200).Objects("fixed_ips"), 2)
	assert.Len(c, c.Member.Get(Network, portsPath+"?fields=device_id&device_id="+router.ID()).List("ports"), 2)
	disconnect(c, router, bySubnet(six)).RequireStatus(200)
	left := c.Member.Get(Network, portsPath+"/"+of6).RequireStatus(200).Objects("fixed_ips")
	assert.Len(c, left, 1, "the port stays for the other subnet")
	disconnect(c, router, bySubnet(more)).RequireStatus(200)
	c.Member.Get(Network, portsPath+"/"+of6).AssertError(404, "PortNotFound")
}

func deletionOrder(c *Case) {
	router, network := c.Router(), c.Network()
	subnet := c.Subnet(network, "10.84.0.0/24")
	routerInterface := c.Interface(router, subnet).Text("port_id")
	c.SetPlaceholder(routerInterface, "interface")
	c.Member.Delete(Network, subnetsPath+"/"+subnet.ID()).AssertError(409, "SubnetInUse")
	c.Member.Delete(Network, networksPath+"/"+network.ID()).AssertError(409, "NetworkInUse")
	c.Member.Delete(Network, portsPath+"/"+routerInterface).AssertError(409, "ServicePortInUse").AssertMessage("has device owner network:router_interface")
	c.Member.Delete(Network, routerPath(router)).AssertError(409, "RouterInUse")
	disconnect(c, router, bySubnet(subnet)).RequireStatus(200)
	c.Member.Delete(Network, routerPath(router)).RequireStatus(204)
	c.Member.Delete(Network, subnetsPath+"/"+subnet.ID()).RequireStatus(204)
	c.Member.Delete(Network, networksPath+"/"+network.ID()).RequireStatus(204)
}

func interfaceOfOtherProject(c *Case) {
	router := c.Router()
	subnet := c.Subnet(c.Network(), "10.85.0.0/24")
	path := routerPath(router) + "/add_router_interface"
	c.OtherMember.Put(Network, path, bySubnet(subnet)).AssertError(404, "RouterNotFound")
	otherNetwork := c.FixtureAs(c.OtherMember, Network, networksPath, Body{"network": Body{"name": "given"}})
	theirs := c.FixtureAs(c.OtherMember, Network, subnetsPath, Body{"subnet": Body{"network_id": otherNetwork.ID(), "cidr": "10.86.0.0/24", "ip_version": 4}})
	connect(c, router, bySubnet(theirs)).AssertError(404, "SubnetNotFound")
	c.Interface(router, subnet)
	c.OtherMember.Put(Network, routerPath(router)+"/remove_router_interface", bySubnet(subnet)).AssertError(404, "RouterNotFound")
}
