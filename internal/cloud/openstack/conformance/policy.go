package conformance

import (
	"maps"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func policy() []Behaviour {
	return []Behaviour{
		behaviour("a member may not say whether a gateway translates addresses", snatPolicy),
		behaviour("what an operator says about the translation of addresses lasts until the gateway is set without it", snatOfOperator),
		behaviour("a member may choose neither subnet nor address of a gateway", gatewayPolicy),
		behaviour("what an operator chose for a gateway a member may keep, but not repeat", gatewayOfOperator),
		behaviour("a member may choose the subnet of a floating IP, but not the address", floatingIPPolicy),
		behaviour("a member makes no network that is external, shared or tied to the provider's", networkPolicy),
		behaviour("a member neither changes nor deletes the external network, and makes nothing in it but gateways and floating IPs", externalPolicy),
		behaviour("a member does not see the subnets of the external network, but for their IDs", externalSubnetPolicy),
		behaviour("a member does not put a port on a host", portPolicy),
		behaviour("on a shared network a member makes ports and subnets, but chooses neither address nor owner of a port", sharedPolicy),
		behaviour("a member makes no subnet pool for everybody", poolPolicy),
		behaviour("a member makes nothing for another project", otherProjectPolicy),
		behaviour("a member sees no other project's quotas and changes none", quotaPolicy),
	}
}

// notAuthorized asserts that the policy says no.
func notAuthorized(response *Response) {
	response.c.Helper()
	response.AssertError(403, "PolicyNotAuthorized")
}

func gatewayTo(c *Case, more Body) Body {
	gateway := toExternal(c)
	maps.Copy(gateway, more)
	return Body{"router": Body{"external_gateway_info": gateway}}
}

// externalSubnet is one of the external network's subnets for IPv4.
func externalSubnet(c *Case) Object {
	c.Helper()
	var found []Object
	c.WithoutRecording(func() {
		found = c.Operator.Get(Network, subnetsPath+"?ip_version=4&network_id="+c.External.ID()).List("subnets")
	})
	require.NotEmpty(c, found)
	toExternal(c)
	return found[0]
}

func snatPolicy(c *Case) {
	for _, snat := range []bool{true, false} {
		notAuthorized(c.TryCreate(Network, routersPath, gatewayTo(c, Body{"enable_snat": snat})))
	}
	for _, router := range []Object{c.Router(), c.RouterWithGateway()} {
		for _, snat := range []bool{true, false} {
			notAuthorized(c.Member.Put(Network, routerPath(router), gatewayTo(c, Body{"enable_snat": snat})))
		}
		c.Member.Get(Network, routerPath(router)).RequireStatus(200)
	}
}

func snatOfOperator(c *Case) {
	router := c.RouterWithGateway()
	set := c.Operator.Put(Network, routerPath(router), gatewayTo(c, Body{"enable_snat": false})).RequireStatus(200)
	assert.Equal(c, false, set.At("external_gateway_info.enable_snat"))
	kept := c.Member.Put(Network, routerPath(router), Body{"router": Body{"name": "renamed"}}).RequireStatus(200)
	assert.Equal(c, false, kept.At("external_gateway_info.enable_snat"))
	again := c.Member.Put(Network, routerPath(router), gatewayTo(c, nil)).RequireStatus(200)
	assert.Equal(c, true, again.At("external_gateway_info.enable_snat"))
}

func gatewayPolicy(c *Case) {
	subnet := externalSubnet(c).ID()
	router := c.RouterWithGateway()
	for _, addresses := range [][]Body{
		{{"subnet_id": subnet}},
		{{"ip_address": "198.18.0.77"}},
		{{"subnet_id": subnet, "ip_address": "198.18.0.77"}},
		{},
	} {
		gateway := gatewayTo(c, Body{"external_fixed_ips": addresses})
		notAuthorized(c.TryCreate(Network, routersPath, gateway))
		notAuthorized(c.Member.Put(Network, routerPath(router), gateway))
	}
}

func gatewayOfOperator(c *Case) {
	subnet := externalSubnet(c).ID()
	router := c.RouterWithGateway()
	c.Operator.Put(Network, routerPath(router), gatewayTo(c, Body{"external_fixed_ips": []Body{{"subnet_id": subnet}}})).RequireStatus(200)
	chosen := c.Member.Get(Network, routerPath(router)).RequireStatus(200)
	before := chosen.Objects("external_gateway_info.external_fixed_ips")
	require.Len(c, before, 1)
	assert.Equal(c, subnet, before[0].Text("subnet_id"))
	kept := c.Member.Put(Network, routerPath(router), gatewayTo(c, nil)).RequireStatus(200)
	assert.Equal(c, before, kept.Objects("external_gateway_info.external_fixed_ips"))
	notAuthorized(c.Member.Put(Network, routerPath(router), gatewayTo(c, Body{"external_fixed_ips": before})))
	notAuthorized(c.Member.Put(Network, routerPath(router), Body{"router": Body{"external_gateway_info": chosen.At("external_gateway_info")}}))
}

func floatingIPPolicy(c *Case) {
	subnet := externalSubnet(c).ID()
	notAuthorized(c.TryCreate(Network, floatingIPsPath, Body{"floatingip": Body{
		"floating_network_id": c.External.ID(), "floating_ip_address": "198.18.0.78",
	}}))
	created := createFloatingIP(c, Body{"subnet_id": subnet})
	port := c.Operator.Get(Network, portsPath+"?fields=fixed_ips&device_id="+created.ID()).List("ports")
	require.Len(c, port, 1)
	assert.Equal(c, subnet, port[0].Objects("fixed_ips")[0].Text("subnet_id"))
	internal := c.Subnet(c.Network(), "10.92.0.0/24")
	c.TryCreate(Network, floatingIPsPath, Body{"floatingip": Body{
		"floating_network_id": c.External.ID(), "subnet_id": internal.ID(),
	}}).AssertError(400, "InvalidInput")
}

func networkPolicy(c *Case) {
	network := c.Network()
	for _, attributes := range []Body{
		{"router:external": true},
		{"shared": true},
		{"provider:network_type": "vxlan"},
		{"provider:physical_network": "ext"},
		{"provider:segmentation_id": 77},
		{"is_default": true},
	} {
		notAuthorized(c.TryCreate(Network, networksPath, Body{"network": attributes}))
	}
	for _, attributes := range []Body{{"router:external": true}, {"shared": true}, {"provider:segmentation_id": 77}} {
		notAuthorized(c.Member.Put(Network, networksPath+"/"+network.ID(), Body{"network": attributes}))
	}
}

func externalPolicy(c *Case) {
	external := networksPath + "/" + c.External.ID()
	notAuthorized(c.Member.Put(Network, external, Body{"network": Body{"name": "mine"}}))
	c.TryCreate(Network, subnetsPath, Body{"subnet": Body{
		"network_id": c.External.ID(), "cidr": "10.93.0.0/24", "ip_version": 4,
	}}).AssertError(403, "HTTPForbidden")
	c.TryCreate(Network, portsPath, Body{"port": Body{"network_id": c.External.ID()}}).AssertError(403, "HTTPForbidden")
	notAuthorized(c.Member.Delete(Network, external))
}

func externalSubnetPolicy(c *Case) {
	subnet := externalSubnet(c)
	path := subnetsPath + "/" + subnet.ID()
	assert.NotEmpty(c, c.External.Texts("subnets"), "their IDs can be seen")
	assert.Empty(c, c.Member.Get(Network, subnetsPath+"?network_id="+c.External.ID()).List("subnets"))
	c.Member.Get(Network, path).AssertError(404, "SubnetNotFound")
	c.Member.Put(Network, path, Body{"subnet": Body{"name": "mine"}}).AssertError(404, "SubnetNotFound")
	c.Member.Delete(Network, path).AssertError(404, "SubnetNotFound")
	connect(c, c.Router(), bySubnet(subnet)).AssertError(404, "SubnetNotFound")
}

func portPolicy(c *Case) {
	network := c.Network()
	notAuthorized(c.TryCreate(Network, portsPath, Body{"port": Body{"network_id": network.ID(), "binding:host_id": "somewhere"}}))
	notAuthorized(c.TryCreate(Network, portsPath, Body{"port": Body{"network_id": network.ID(), "binding:profile": Body{"a": "b"}}}))
	port := c.Port(network)
	notAuthorized(c.Member.Put(Network, portsPath+"/"+port.ID(), Body{"port": Body{"binding:host_id": "somewhere"}}))
	own := c.TryCreate(Network, portsPath, Body{"port": Body{
		"network_id": network.ID(), "mac_address": "fa:16:3e:00:be:ef", "device_owner": "network:ours",
	}}).RequireStatus(201)
	assert.Equal(c, "fa:16:3e:00:be:ef", own.Text("mac_address"))
}

func sharedPolicy(c *Case) {
	shared := c.FixtureAs(c.Operator, Network, networksPath, Body{"network": Body{"name": "given", "shared": true}})
	subnet := c.FixtureAs(c.Operator, Network, subnetsPath, Body{"subnet": Body{
		"network_id": shared.ID(), "cidr": "10.94.0.0/24", "ip_version": 4,
	}})
	port := func(attributes Body) *Response {
		attributes["network_id"] = shared.ID()
		return c.TryCreate(Network, portsPath, Body{"port": attributes})
	}
	port(Body{}).RequireStatus(201)
	port(Body{"fixed_ips": []Body{{"subnet_id": subnet.ID()}}}).RequireStatus(201)
	notAuthorized(port(Body{"fixed_ips": []Body{{"subnet_id": subnet.ID(), "ip_address": "10.94.0.77"}}}))
	notAuthorized(port(Body{"mac_address": "fa:16:3e:00:be:ef"}))
	notAuthorized(port(Body{"device_owner": "network:dhcp"}))
	notAuthorized(port(Body{"port_security_enabled": false}))
	c.TryCreate(Network, subnetsPath, Body{"subnet": Body{"network_id": shared.ID(), "cidr": "10.95.0.0/24", "ip_version": 4}}).RequireStatus(201)
	connect(c, c.Router(), bySubnet(subnet)).AssertError(400, "BadRequest")
}

func poolPolicy(c *Case) {
	for _, attribute := range []string{"shared", "is_default"} {
		notAuthorized(c.TryCreate(Network, "/v2.0/subnetpools", Body{"subnetpool": Body{
			"name": "refused", "prefixes": []string{"10.96.0.0/16"}, attribute: true,
		}}))
	}
}

func otherProjectPolicy(c *Case) {
	theirs := c.OtherMember.ProjectID
	c.TryCreate(Network, networksPath, Body{"network": Body{"name": "refused", "project_id": theirs}}).AssertError(400, "HTTPBadRequest")
	c.TryCreate(Network, networksPath, Body{"network": Body{"name": "refused", "tenant_id": theirs}}).AssertError(400, "HTTPBadRequest")
	c.TryCreate(Network, networksPath, Body{"network": Body{"name": "own", "project_id": c.Member.ProjectID}}).RequireStatus(201)
	c.TryCreate(Network, routersPath, Body{"router": Body{"name": "refused", "project_id": theirs}}).AssertError(400, "HTTPBadRequest")
	c.TryCreate(Network, securityGroupsPath, Body{"security_group": Body{"name": "refused", "project_id": theirs}}).AssertError(400, "HTTPBadRequest")
	group := c.SecurityGroup()
	c.TryCreate(Network, rulesPath, Body{"security_group_rule": Body{
		"security_group_id": group.ID(), "direction": "ingress", "project_id": theirs,
	}}).AssertError(400, "HTTPBadRequest")
}

func quotaPolicy(c *Case) {
	notAuthorized(c.Member.Get(Network, "/v2.0/quotas/"+c.OtherMember.ProjectID))
	notAuthorized(c.Member.Put(Network, "/v2.0/quotas/"+c.Member.ProjectID, Body{"quota": Body{"network": 1000}}))
	notAuthorized(c.Member.Delete(Network, "/v2.0/quotas/"+c.Member.ProjectID))
}
