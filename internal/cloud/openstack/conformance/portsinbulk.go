package conformance

import (
	"maps"
	"net/http"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// portsInBulk are about many ports in one request. A driver of machines could use that only if each port were as complete as one that is made
// alone, and if a refused request cost nothing.
func portsInBulk() []Behaviour {
	return []Behaviour{
		behaviour("many ports are made in one request, in their order, each as it is asked for", manyPorts),
		behaviour("many ports made in one request lose their address pairs, which a port made alone keeps", pairsOfManyPorts),
		behaviour("of many ports none is made if one of them is refused", allPortsOrNone),
		behaviour("many ports beyond the quota are refused together", manyPortsBeyondQuota),
		behaviour("the addresses of many ports are lost if there are too few for the last of them", addressesOfRefusedPorts),
		behaviour("the addresses of many ports are lost if a later one names a subnet that is not there", addressesOfPortsWithoutSubnet),
		behaviour("the addresses of many ports are free again if a later one is refused for its security group", addressesOfPortsWithoutGroup),
		behaviour("many ports are not deleted in one request", func(c *Case) {
			network := c.Network()
			c.Port(network)
			c.Member.Delete(Network, "/v2.0/ports?network_id="+network.ID()).AssertError(404, "PortNotFound")
			assert.Equal(c, 1, countPorts(c, network))
		}),
	}
}

// postPorts asks for ports in a network in one request. What is made is removed at the end.
func (c *Case) postPorts(network Object, attributes ...Body) *Response {
	c.Helper()
	var bodies []Body
	for _, one := range attributes {
		body := Body{"network_id": network.ID()}
		maps.Copy(body, one)
		bodies = append(bodies, body)
	}
	response := c.Member.Post(Network, "/v2.0/ports", Body{"ports": bodies})
	if response.Status < http.StatusMultipleChoices {
		for _, port := range response.object().Objects("ports") {
			c.DeleteAtCleanup(c.Member, Network, "/v2.0/ports/"+port.ID())
		}
	}
	return response
}

// madePorts asserts that all ports were made, and returns them in their order.
func madePorts(c *Case, response *Response) []Object {
	c.Helper()
	require.Equal(c, http.StatusCreated, response.Status, "%s", response.Raw)
	return response.object().Objects("ports")
}

func countPorts(c *Case, network Object) int {
	c.Helper()
	count := 0
	c.WithoutRecording(func() {
		count = len(c.Member.Get(Network, "/v2.0/ports?network_id="+network.ID()).List("ports"))
	})
	return count
}

func inSubnet(subnet Object) []Body { return []Body{{"subnet_id": subnet.ID()}} }

func manyPorts(c *Case) {
	network, group := c.Network(), c.SecurityGroup()
	subnets := []Object{c.Subnet(network, "10.1.0.0/24"), c.Subnet(network, "10.2.0.0/24")}
	other := c.Network()
	c.Subnet(other, "10.3.0.0/24")
	ports := madePorts(c, c.postPorts(network,
		Body{"name": "a", "description": "of the shoot", "fixed_ips": inSubnet(subnets[1]), "security_groups": []string{group.ID()}},
		Body{"name": "b", "description": "of the shoot", "fixed_ips": inSubnet(subnets[0]), "security_groups": []string{}},
		Body{"name": "c", "network_id": other.ID()},
	))
	require.Equal(c, []string{"a", "b", "c"}, namesOf(ports))
	for _, made := range ports {
		read := c.Member.Get(Network, "/v2.0/ports/"+made.ID()).RequireStatus(http.StatusOK)
		for _, attribute := range []string{"description", "fixed_ips", "security_groups", "network_id", "status", "mac_address"} {
			assert.Equal(c, made.At(attribute), read.At(attribute), attribute)
		}
	}
	assert.Equal(c, []string{"of the shoot", "of the shoot", ""}, []string{ports[0].Text("description"), ports[1].Text("description"), ports[2].Text("description")})
	assert.Equal(c, []string{subnets[1].ID()}, subnetsOf(ports[0]))
	assert.Equal(c, []string{subnets[0].ID()}, subnetsOf(ports[1]))
	assert.Equal(c, []string{group.ID()}, ports[0].Texts("security_groups"))
	assert.Empty(c, ports[1].Texts("security_groups"))
	assert.Len(c, ports[2].Texts("security_groups"), 1)
	assert.Len(c, madePorts(c, c.postPorts(network, Body{"name": "one alone", "fixed_ips": inSubnet(subnets[0])})), 1)
	assert.Equal(c, 3, countPorts(c, network))
}

func pairsOfManyPorts(c *Case) {
	network := c.Network()
	c.Subnet(network, "10.1.0.0/24")
	pairs := []Body{{"ip_address": "100.64.0.0/13"}, {"ip_address": "100.80.0.0/13"}}
	assert.Len(c, c.postPort(network, Body{"allowed_address_pairs": pairs}).RequireStatus(http.StatusCreated).Objects("allowed_address_pairs"), 2)
	for _, made := range madePorts(c, c.postPorts(network, Body{"name": "a", "allowed_address_pairs": pairs}, Body{"name": "b", "allowed_address_pairs": pairs})) {
		read := c.Member.Get(Network, "/v2.0/ports/"+made.ID()).RequireStatus(http.StatusOK)
		assert.Empty(c, read.Objects("allowed_address_pairs"))
		assert.Empty(c, made.Objects("allowed_address_pairs"))
	}
}

func allPortsOrNone(c *Case) {
	network := c.Network()
	c.Subnet(network, "10.1.0.0/24")
	refused := func(status int, kind string, wrong Body) {
		c.Helper()
		c.postPorts(network, Body{"name": "right"}, wrong, Body{"name": "right, too"}).AssertError(status, kind)
		assert.Equal(c, 0, countPorts(c, network))
	}
	refused(400, "HTTPBadRequest", Body{"colour": "blue"})
	refused(404, "SecurityGroupNotFound", Body{"security_groups": []string{zeroUUID}})
	refused(400, "DuplicateAddressPairInRequest", Body{"allowed_address_pairs": []Body{{"ip_address": "100.97.0.0/24"}, {"ip_address": "100.97.0.0/24"}}})
	c.postPorts(network).AssertError(400, "HTTPBadRequest")
	open := c.Fixture(Network, "/v2.0/networks", Body{"network": Body{"name": "open", "port_security_enabled": false}})
	c.Subnet(open, "10.2.0.0/24")
	refused(400, "PortSecurityAndIPRequiredForSecurityGroups", Body{"network_id": open.ID(), "security_groups": []string{c.SecurityGroup().ID()}})
	assert.Equal(c, 0, countPorts(c, open))
	assert.Len(c, madePorts(c, c.postPorts(network, Body{}, Body{})), 2)
}

func manyPortsBeyondQuota(c *Case) {
	network := c.Network()
	c.SetQuota(Network, Body{"port": 2})
	c.postPorts(network, Body{}, Body{}, Body{}).AssertError(409, "OverQuota").AssertMessage("Quota exceeded for resources: ['port'].")
	assert.Equal(c, 0, countPorts(c, network))
	assert.Len(c, madePorts(c, c.postPorts(network, Body{}, Body{})), 2)
}

// smallNetwork makes a network with two free addresses.
func smallNetwork(c *Case) Object {
	c.Helper()
	network := c.Network()
	c.Fixture(Network, "/v2.0/subnets", Body{"subnet": Body{
		"network_id": network.ID(), "ip_version": 4, "cidr": "10.1.0.0/24", "allocation_pools": []Body{{"start": "10.1.0.100", "end": "10.1.0.101"}},
	}})
	return network
}

func addressesOfRefusedPorts(c *Case) {
	network := smallNetwork(c)
	c.postPorts(network, Body{}, Body{}, Body{}).AssertError(409, "IpAddressGenerationFailure")
	assert.Equal(c, 0, countPorts(c, network))
	c.postPort(network, nil).AssertError(409, "IpAddressGenerationFailure")
}

func addressesOfPortsWithoutSubnet(c *Case) {
	network := smallNetwork(c)
	c.postPorts(network, Body{}, Body{}, Body{"fixed_ips": []Body{{"subnet_id": zeroUUID}}}).AssertError(404, "SubnetNotFound")
	assert.Equal(c, 0, countPorts(c, network))
	c.postPort(network, nil).AssertError(409, "IpAddressGenerationFailure")
}

func addressesOfPortsWithoutGroup(c *Case) {
	network := smallNetwork(c)
	c.postPorts(network, Body{}, Body{"security_groups": []string{zeroUUID}}).AssertError(404, "SecurityGroupNotFound")
	assert.Equal(c, 0, countPorts(c, network))
	c.WithoutRecording(func() { assert.Len(c, madePorts(c, c.postPorts(network, Body{}, Body{})), 2) }) // which of them has which is chance
}
