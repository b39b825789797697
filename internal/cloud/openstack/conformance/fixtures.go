package conformance

import (
	"net/http"

	"github.com/stretchr/testify/require"
)

// What a behaviour needs before it begins. All of it is made quietly by the member and removed at the end of the case.

// Fixture makes a resource: the body's only key is its kind. Other attributes go under that key.
func (c *Case) Fixture(s Service, path string, body Body) Object {
	c.Helper()
	return c.FixtureAs(c.Member, s, path, body)
}

// FixtureAs is Given for another caller.
func (c *Case) FixtureAs(caller *Caller, s Service, path string, body Body) Object {
	c.Helper()
	var created Object
	c.WithoutRecording(func() {
		response := caller.Post(s, path, body)
		require.Lessf(c, response.Status, 300, "%s: %s", response.request, response.Raw)
		created = response.object()
	})
	c.DeleteAtCleanup(caller, s, path+"/"+firstOf(created.ID(), created.Text("name")))
	return created
}

// Network makes a network.
func (c *Case) Network() Object {
	c.Helper()
	return c.Fixture(Network, "/v2.0/networks", Body{"network": Body{"name": "given"}})
}

// Subnet makes an IPv4 subnet.
func (c *Case) Subnet(network Object, cidr string) Object {
	c.Helper()
	return c.Fixture(Network, "/v2.0/subnets", Body{"subnet": Body{"network_id": network.ID(), "cidr": cidr, "ip_version": 4, "name": "given"}})
}

// Router makes a router without a gateway.
func (c *Case) Router() Object {
	c.Helper()
	return c.Fixture(Network, "/v2.0/routers", Body{"router": Body{"name": "given"}})
}

// RouterWithGateway makes a router to the external network.
func (c *Case) RouterWithGateway() Object {
	c.Helper()
	return c.Fixture(Network, "/v2.0/routers", Body{"router": Body{
		"name": "given", "external_gateway_info": Body{"network_id": c.External.ID()},
	}})
}

// Interface puts a router into a subnet.
func (c *Case) Interface(router, subnet Object) Object {
	c.Helper()
	var created Object
	path := "/v2.0/routers/" + router.ID()
	c.WithoutRecording(func() {
		created = c.Member.Put(Network, path+"/add_router_interface", Body{"subnet_id": subnet.ID()}).RequireStatus(200)
	})
	c.RequestAtCleanup(c.Member, http.MethodPut, Network, path+"/remove_router_interface", Body{"subnet_id": subnet.ID()})
	return created
}

// Port makes a port in a network that has a subnet.
func (c *Case) Port(network Object) Object {
	c.Helper()
	return c.Fixture(Network, "/v2.0/ports", Body{"port": Body{"network_id": network.ID(), "name": "given"}})
}

// SecurityGroup makes a security group.
func (c *Case) SecurityGroup() Object {
	c.Helper()
	return c.Fixture(Network, "/v2.0/security-groups", Body{"security_group": Body{"name": "given"}})
}

// TryCreate makes a request of the member that should be refused, and removes at the end what it makes if it is not.
func (c *Case) TryCreate(s Service, path string, body any) *Response {
	c.Helper()
	response := c.Member.Post(s, path, body)
	if response.Status < http.StatusMultipleChoices {
		c.DeleteAtCleanup(c.Member, s, path+"/"+response.object().ID())
	}
	return response
}
