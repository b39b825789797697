package conformance

import (
	"fmt"

	"github.com/stretchr/testify/assert"
)

// What nobody has.
const unknownNetworkID = "11111111-2222-4333-8444-555555555555"

func routers() []Behaviour {
	return []Behaviour{
		behaviour("a router needs nothing but a name, is ACTIVE at once, and says null where its gateway would stand", plainRouter),
		behaviour("a gateway takes one external address and translates the addresses of what is behind it", routerWithGateway),
		behaviour("a gateway's port is the cloud's own: its project neither sees it nor pays for it", gatewayPort),
		behaviour("a gateway can be set later, said again, and cut with an empty object or with null", setAndClearGateway),
		behaviour("a change of a router's name, description or state leaves its gateway and its routes alone", updateRouter),
		behaviour("a gateway leads to a network that is there and external, or no router is made", wrongGateways),
		behaviour("extra routes are replaced as a whole", replaceRoutes),
		behaviour("extra routes are added and taken away one by one without a look at the others", addAndRemoveRoutes),
		behaviour("an extra route needs a next hop that is a neighbour of the router, and not the router itself", wrongRoutes),
		behaviour("a router with an interface cannot be deleted, and the error is RouterInUse", routerInUse),
		behaviour("a router goes with its gateway, and is not there a second time", deletedRouter),
		behaviour("a router is found by its name, its description and its IDs", filterRouters),
		behaviour("a stranger neither sees, changes nor deletes a router", routerOfOtherProject),
		behaviour("a request about a router that makes no sense is refused with 400", malformedRouters),
	}
}

const routersPath = "/v2.0/routers"

func routerPath(router Object) string { return routersPath + "/" + router.ID() }

// createRouter makes a router as a part of the behaviour.
func createRouter(c *Case, attributes Body) Object {
	c.Helper()
	created := c.Member.Post(Network, routersPath, Body{"router": attributes}).RequireStatus(201)
	c.DeleteAtCleanup(c.Member, Network, routerPath(created))
	return created
}

// toExternal is a gateway. Which of the external network's subnets gives the address is up to the cloud: they have one word.
func toExternal(c *Case) Body {
	for _, subnet := range c.External.Texts("subnets") {
		c.SetPlaceholder(subnet, "external subnet")
	}
	return Body{"network_id": c.External.ID()}
}

func plainRouter(c *Case) {
	created := createRouter(c, Body{"name": "one"})
	assert.Equal(c, "ACTIVE", created.Text("status"))
	assert.Equal(c, true, created.At("admin_state_up"))
	assert.Contains(c, created, "external_gateway_info")
	assert.Nil(c, created.At("external_gateway_info"))
	assert.Empty(c, created.Texts("routes"))
	assert.NotContains(c, created, "ha", "for operators only")
	assert.NotContains(c, created, "distributed", "for operators only")
	c.Member.Get(Network, routerPath(created)).RequireStatus(200)
	assert.Empty(c, c.Member.Get(Network, "/v2.0/ports?device_id="+created.ID()).List("ports"))
}

func routerWithGateway(c *Case) {
	created := createRouter(c, Body{"name": "one", "description": "described", "external_gateway_info": toExternal(c)})
	assert.Equal(c, c.External.ID(), created.Text("external_gateway_info.network_id"))
	assert.Len(c, created.Objects("external_gateway_info.external_fixed_ips"), 1, "although the network has two subnets")
	assert.Equal(c, true, created.At("external_gateway_info.enable_snat"))
	assert.Equal(c, "ACTIVE", created.Text("status"))
	c.Member.Get(Network, routerPath(created)).RequireStatus(200)
}

func gatewayPort(c *Case) {
	created := createRouter(c, Body{"name": "one", "external_gateway_info": toExternal(c)})
	query := "/v2.0/ports?device_id=" + created.ID()
	assert.Empty(c, c.Member.Get(Network, query).List("ports"))
	ports := c.Operator.Get(Network, query).List("ports")
	assert.Len(c, ports, 1)
	for _, port := range ports {
		assert.Equal(c, "network:router_gateway", port.Text("device_owner"))
		assert.Empty(c, port.Text("project_id"))
		c.Member.Get(Network, "/v2.0/ports/"+port.ID()).AssertError(404, "PortNotFound")
		c.Operator.Delete(Network, "/v2.0/ports/"+port.ID()).AssertError(409, "ServicePortInUse")
	}
	c.Member.Delete(Network, routerPath(created)).RequireStatus(204)
	assert.Empty(c, c.Operator.Get(Network, query).List("ports"))
}

func setAndClearGateway(c *Case) {
	router := c.Router()
	set := func(gateway any) Object {
		return c.Member.Put(Network, routerPath(router), Body{"router": Body{"external_gateway_info": gateway}}).RequireStatus(200)
	}
	for _, nothing := range []any{Body{}, nil} {
		first := set(toExternal(c)).Objects("external_gateway_info.external_fixed_ips")
		assert.Len(c, first, 1)
		assert.Equal(c, first, set(toExternal(c)).Objects("external_gateway_info.external_fixed_ips"), "the address stays")
		assert.Nil(c, set(nothing).At("external_gateway_info"))
	}
	assert.Nil(c, set(nil).At("external_gateway_info"), "there is nothing to cut")
}

func updateRouter(c *Case) {
	router := c.RouterWithGateway()
	toExternal(c)
	subnet := c.Subnet(c.Network(), "10.61.0.0/24")
	c.Interface(router, subnet)
	c.givenRoutes(router, Body{"destination": "100.64.0.0/24", "nexthop": "10.61.0.9"})
	change := func(change Body) Object {
		return c.Member.Put(Network, routerPath(router), Body{"router": change}).RequireStatus(200)
	}
	change(Body{"name": "renamed"})
	change(Body{"description": "described"})
	assert.Equal(c, false, change(Body{"admin_state_up": false}).At("admin_state_up"))
	at := change(Body{"admin_state_up": true})
	assert.Equal(c, "ACTIVE", at.Text("status"))
	assert.Len(c, at.Objects("external_gateway_info.external_fixed_ips"), 1)
	assert.Len(c, at.Objects("routes"), 1)
	change(Body{})
}

// givenRoutes gives a router extra routes, quietly, until the end of the case.
func (c *Case) givenRoutes(router Object, routes ...Body) {
	c.Helper()
	c.WithoutRecording(func() {
		c.Member.Put(Network, routerPath(router), Body{"router": Body{"routes": routes}}).RequireStatus(200)
	})
	c.RequestAtCleanup(c.Member, "PUT", Network, routerPath(router), Body{"router": Body{"routes": []Body{}}})
}

func wrongGateways(c *Case) {
	internal := c.Network()
	c.Subnet(internal, "10.62.0.0/24")
	refused := func(status int, kind string, gateway Body) {
		c.TryCreate(Network, routersPath, Body{"router": Body{"name": "refused", "external_gateway_info": gateway}}).AssertError(status, kind)
	}
	refused(400, "BadRequest", Body{"network_id": internal.ID()})
	refused(404, "NetworkNotFound", Body{"network_id": unknownNetworkID})
	refused(400, "HTTPBadRequest", Body{"network_id": "nonsense"})
	assert.Empty(c, c.Member.Get(Network, routersPath+"?name=refused").List("routers"))

	router := c.Router()
	put := func(gateway Body) *Response {
		return c.Member.Put(Network, routerPath(router), Body{"router": Body{"external_gateway_info": gateway}})
	}
	put(Body{"network_id": internal.ID()}).AssertError(400, "BadRequest")
	put(Body{"network_id": unknownNetworkID}).AssertError(404, "NetworkNotFound")
	c.Member.Get(Network, routerPath(router)).RequireStatus(200)
}

// routerIn is a router in a subnet.
func routerIn(c *Case, cidr string) Object {
	c.Helper()
	router := c.Router()
	c.Interface(router, c.Subnet(c.Network(), cidr))
	return router
}

func replaceRoutes(c *Case) {
	router := routerIn(c, "10.63.0.0/24")
	c.givenRoutes(router)
	put := func(routes ...Body) []Object {
		if routes == nil {
			routes = []Body{}
		}
		return c.Member.Put(Network, routerPath(router), Body{"router": Body{"routes": routes}}).RequireStatus(200).Objects("routes")
	}
	one, two := Body{"destination": "100.64.0.0/24", "nexthop": "10.63.0.5"}, Body{"destination": "100.64.1.0/24", "nexthop": "10.63.0.6"}
	assert.Len(c, put(one, two), 2)
	assert.Equal(c, []Object{Object(two)}, put(two))
	c.Member.Get(Network, routerPath(router)).RequireStatus(200)
	assert.Len(c, put(two, Body{"destination": "100.64.1.0/24", "nexthop": "10.63.0.7"}), 2, "two ways to one place")
	assert.Empty(c, put())
}

func addAndRemoveRoutes(c *Case) {
	router := routerIn(c, "10.64.0.0/24")
	c.givenRoutes(router)
	call := func(verb string, routes ...Body) []Object {
		return c.Member.Put(Network, routerPath(router)+"/"+verb, Body{"router": Body{"routes": routes}}).RequireStatus(200).Objects("routes")
	}
	one, two := Body{"destination": "100.64.0.0/24", "nexthop": "10.64.0.5"}, Body{"destination": "100.64.1.0/24", "nexthop": "10.64.0.6"}
	assert.Len(c, call("add_extraroutes", one), 1)
	assert.Len(c, call("add_extraroutes", one, two), 2, "an existing one is no error")
	assert.Len(c, call("remove_extraroutes", one), 1)
	assert.Len(c, call("remove_extraroutes", one), 1, "nor is what is gone")
	assert.Empty(c, call("remove_extraroutes", two))
	c.Member.Put(Network, routerPath(router)+"/add_extraroutes", Body{"router": Body{
		"routes": []Body{{"destination": "100.64.2.0/24", "nexthop": "10.65.0.5"}},
	}}).AssertError(400, "InvalidRoutes")
}

func wrongRoutes(c *Case) {
	router := routerIn(c, "10.65.0.0/24")
	c.givenRoutes(router)
	put := func(routes ...Body) *Response {
		return c.Member.Put(Network, routerPath(router), Body{"router": Body{"routes": routes}})
	}
	to := func(destination, hop string) Body { return Body{"destination": destination, "nexthop": hop} }
	put(to("100.64.0.0/24", "10.66.0.5")).AssertError(400, "InvalidRoutes").AssertMessage("the nexthop is not connected with router")
	put(to("100.64.0.0/24", "10.65.0.1")).AssertError(400, "InvalidRoutes").AssertMessage("the nexthop is used by router")
	put(to("nonsense", "10.65.0.5")).AssertError(400, "HTTPBadRequest")
	put(to("100.64.0.0/24", "nonsense")).AssertError(400, "HTTPBadRequest")
	put(to("100.64.0.1/24", "10.65.0.5")).AssertError(400, "HTTPBadRequest")
	put(to("100.64.0.0/24", "10.65.0.5"), to("100.64.0.0/24", "10.65.0.5")).AssertError(400, "HTTPBadRequest")
	c.TryCreate(Network, routersPath, Body{"router": Body{"name": "refused", "routes": []Body{}}}).AssertError(400, "HTTPBadRequest")
	many := []Body{}
	for i := range 31 {
		many = append(many, to(fmt.Sprintf("100.64.%d.0/24", i), "10.65.0.5"))
	}
	put(many...).AssertError(400, "RoutesExhausted")
	assert.Empty(c, c.Member.Get(Network, routerPath(router)).RequireStatus(200).Objects("routes"))
}

func routerInUse(c *Case) {
	router := c.RouterWithGateway()
	toExternal(c)
	routerInterface := c.Interface(router, c.Subnet(c.Network(), "10.66.0.0/24"))
	c.SetPlaceholder(routerInterface.Text("port_id"), "interface")
	c.Member.Delete(Network, routerPath(router)).AssertError(409, "RouterInUse")
	c.Member.Get(Network, routerPath(router)).RequireStatus(200)
}

func deletedRouter(c *Case) {
	router := c.RouterWithGateway()
	c.Member.Delete(Network, routerPath(router)).RequireStatus(204)
	c.Member.Get(Network, routerPath(router)).AssertError(404, "RouterNotFound")
	c.Member.Delete(Network, routerPath(router)).AssertError(404, "RouterNotFound")
	c.Member.Put(Network, routerPath(router), Body{"router": Body{"name": "late"}}).AssertError(404, "RouterNotFound")
	c.Member.Put(Network, routerPath(router)+"/add_router_interface", Body{"subnet_id": unknownNetworkID}).AssertError(404, "RouterNotFound")
	assert.Empty(c, c.Member.Get(Network, routersPath+"?id="+router.ID()).List("routers"))
}

func filterRouters(c *Case) {
	one := c.Fixture(Network, routersPath, Body{"router": Body{"name": "one", "description": "shared words"}})
	two := c.Fixture(Network, routersPath, Body{"router": Body{"name": "two", "description": "shared words"}})
	c.Fixture(Network, routersPath, Body{"router": Body{"name": "two", "description": "own words"}})
	list := func(query string) []Object { return c.Member.Get(Network, routersPath+query).List("routers") }
	assert.Empty(c, list("?name=unused"))
	assert.Len(c, list("?name=two"), 2)
	assert.Len(c, list("?description=shared%20words"), 2)
	assert.Len(c, list("?name=two&description=shared%20words"), 1)
	assert.Len(c, list("?id="+one.ID()+"&id="+two.ID()+"&id="+unknownNetworkID), 2)
	assert.Len(c, list("?name=one&fields=id&fields=external_gateway_info"), 1)
}

func routerOfOtherProject(c *Case) {
	router := c.Router()
	c.OtherMember.Get(Network, routerPath(router)).AssertError(404, "RouterNotFound")
	c.OtherMember.Put(Network, routerPath(router), Body{"router": Body{"name": "mine"}}).AssertError(404, "RouterNotFound")
	c.OtherMember.Delete(Network, routerPath(router)).AssertError(404, "RouterNotFound")
	assert.Empty(c, c.OtherMember.Get(Network, routersPath+"?id="+router.ID()).List("routers"))
	c.Operator.Get(Network, routerPath(router)).RequireStatus(200)
}

func malformedRouters(c *Case) {
	refused := func(body any) { c.TryCreate(Network, routersPath, body).AssertError(400, "HTTPBadRequest") }
	refused(Body{"router": Body{"name": 7}})
	refused(Body{"router": Body{"colour": "green"}})
	refused(Body{"router": Body{"id": unknownNetworkID}})
	c.TryCreate(Network, routersPath, Body{"router": Body{"admin_state_up": "perhaps"}}).AssertError(400, "InvalidInput")
	refused(Body{"router": Body{"external_gateway_info": Body{"enable_snat": true}}})
	refused(Body{"network": Body{"name": "refused"}})
	router := c.Router()
	c.Member.Put(Network, routerPath(router), Body{"router": Body{"status": "DOWN"}}).AssertError(400, "HTTPBadRequest")
	c.Member.Put(Network, routerPath(router)+"/add_router_interface", Body{}).AssertError(400, "BadRequest")
}
