package conformance

import (
	"net/http"

	"github.com/stretchr/testify/require"
)

// What a behaviour needs before it begins. All of it is made quietly by the member and removed at the end of the case.

// Given makes a resource: the body's only key is its kind. Other attributes go under that key.
func (c *Case) Given(s Service, path string, body Body) Object {
	c.Helper()
	return c.GivenBy(c.Member, s, path, body)
}

// GivenBy is Given for another caller.
func (c *Case) GivenBy(who *Caller, s Service, path string, body Body) Object {
	c.Helper()
	var made Object
	c.Quietly(func() {
		answer := who.Post(s, path, body)
		require.Lessf(c, answer.Status, 300, "%s: %s", answer.request, answer.Raw)
		made = answer.object()
	})
	c.Remove(who, s, path+"/"+firstOf(made.ID(), made.Text("name")))
	return made
}

// Network makes a network.
func (c *Case) Network() Object {
	c.Helper()
	return c.Given(Network, "/v2.0/networks", Body{"network": Body{"name": "given"}})
}

// Subnet makes an IPv4 subnet.
func (c *Case) Subnet(network Object, cidr string) Object {
	c.Helper()
	return c.Given(Network, "/v2.0/subnets", Body{"subnet": Body{"network_id": network.ID(), "cidr": cidr, "ip_version": 4, "name": "given"}})
}

// Router makes a router without a gateway.
func (c *Case) Router() Object {
	c.Helper()
	return c.Given(Network, "/v2.0/routers", Body{"router": Body{"name": "given"}})
}

// RouterWithGateway makes a router to the external network.
func (c *Case) RouterWithGateway() Object {
	c.Helper()
	return c.Given(Network, "/v2.0/routers", Body{"router": Body{
		"name": "given", "external_gateway_info": Body{"network_id": c.External.ID()},
	}})
}

// Interface puts a router into a subnet.
func (c *Case) Interface(router, subnet Object) Object {
	c.Helper()
	var made Object
	path := "/v2.0/routers/" + router.ID()
	c.Quietly(func() {
		made = c.Member.Put(Network, path+"/add_router_interface", Body{"subnet_id": subnet.ID()}).Succeeds(200)
	})
	c.AtEnd(c.Member, http.MethodPut, Network, path+"/remove_router_interface", Body{"subnet_id": subnet.ID()})
	return made
}

// Port makes a port in a network that has a subnet.
func (c *Case) Port(network Object) Object {
	c.Helper()
	return c.Given(Network, "/v2.0/ports", Body{"port": Body{"network_id": network.ID(), "name": "given"}})
}

// SecurityGroup makes a security group.
func (c *Case) SecurityGroup() Object {
	c.Helper()
	return c.Given(Network, "/v2.0/security-groups", Body{"security_group": Body{"name": "given"}})
}

// Attempt makes a request of the member that should be refused, and removes at the end what it makes if it is not.
func (c *Case) Attempt(s Service, path string, body any) *Answer {
	c.Helper()
	answer := c.Member.Post(s, path, body)
	if answer.Status < http.StatusMultipleChoices {
		c.Remove(c.Member, s, path+"/"+answer.object().ID())
	}
	return answer
}
