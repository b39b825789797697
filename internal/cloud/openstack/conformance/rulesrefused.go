package conformance

import "github.com/stretchr/testify/assert"

// What Neutron refuses in a single rule.

func wrongPortsOfRules(c *Case) {
	group := c.SecurityGroup()
	refused := func(kind string, attributes Body) { tryRule(c, group, attributes).AssertError(400, kind) }
	refused("SecurityGroupProtocolRequiredWithPorts", Body{"port_range_min": 80, "port_range_max": 80})
	refused("SecurityGroupInvalidPortRange", Body{"protocol": "tcp", "port_range_min": 81, "port_range_max": 80})
	refused("SecurityGroupInvalidPortRange", Body{"protocol": "tcp", "port_range_min": 80})
	refused("SecurityGroupInvalidPortRange", Body{"protocol": "tcp", "port_range_max": 80})
	refused("SecurityGroupInvalidPortValue", Body{"protocol": "tcp", "port_range_min": 0, "port_range_max": 80})
	refused("SecurityGroupInvalidPortValue", Body{"protocol": "tcp", "port_range_min": 80, "port_range_max": 65536})
	refused("SecurityGroupInvalidPortValue", Body{"protocol": "tcp", "port_range_min": -1, "port_range_max": 80})
	refused("SecurityGroupInvalidPortValue", Body{"protocol": "tcp", "port_range_min": "http", "port_range_max": 80})
	refused("SecurityGroupInvalidProtocolForPort", Body{"protocol": "vrrp", "port_range_min": 80, "port_range_max": 80})
	assert.Equal(c, 2, countRules(c, group))
}

func wrongRemotesOfRules(c *Case) {
	group := c.SecurityGroup()
	refused := func(kind string, attributes Body) { tryRule(c, group, attributes).AssertError(400, kind) }
	refused("SecurityGroupRuleParameterConflict", Body{"ethertype": "IPv4", "remote_ip_prefix": "fd00::/8"})
	refused("SecurityGroupRuleParameterConflict", Body{"ethertype": "IPv6", "remote_ip_prefix": "10.0.0.0/8"})
	refused("InvalidCIDR", Body{"remote_ip_prefix": "ten"})
	refused("InvalidCIDR", Body{"remote_ip_prefix": "10.0.0.0/33"})
	refused("SecurityGroupMultipleRemoteEntites", Body{"remote_ip_prefix": "10.0.0.0/8", "remote_group_id": group.ID()})
	assert.Equal(c, 2, countRules(c, group))
}

func malformedRules(c *Case) {
	group := c.SecurityGroup()
	refused := func(kind string, attributes Body) { tryRule(c, group, attributes).AssertError(400, kind) }
	refused("HTTPBadRequest", Body{"direction": "sideways"})
	refused("SecurityGroupRuleInvalidEtherType", Body{"ethertype": "IPv5"})
	refused("SecurityGroupRuleInvalidProtocol", Body{"protocol": "smoke"})
	refused("SecurityGroupRuleInvalidProtocol", Body{"protocol": 256})
	refused("SecurityGroupRuleInvalidProtocol", Body{"protocol": "any"})
	refused("HTTPBadRequest", Body{"colour": "green"})
	post := func(body any) *Response { return c.Member.Post(Network, rulesPath, body) }
	post(Body{"security_group_rule": Body{"security_group_id": group.ID()}}).AssertError(400, "HTTPBadRequest")
	post(Body{"security_group_rule": Body{"direction": "ingress"}}).AssertError(400, "HTTPBadRequest")
	post(Body{"security_group_rule": Body{"direction": "ingress", "security_group_id": unknownNetworkID}}).AssertError(404, "SecurityGroupNotFound")
	assert.Equal(c, 2, countRules(c, group))
}
