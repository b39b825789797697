package conformance

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func securityGroupRules() []Behaviour {
	return []Behaviour{
		behaviour("a rule for a range of ports shows what was asked for, and null for what was not", newRule),
		behaviour("a rule is made for one port, for all ports of a protocol, and for any protocol", portRangesOfRules),
		behaviour("a protocol is a name in any case or a number, and stays as it was written", protocolsOfRules),
		behaviour("a rule for ICMP has type and code where others have ports, and zero is not null", icmpRules),
		behaviour("a rule for ICMP in IPv6 goes by three names", icmpv6Rules),
		behaviour("a remote range keeps its bits below the mask and shows the range without them", prefixesOfRules),
		behaviour("a rule lets in another security group or the rule's own, if it can be seen", groupsOfRules),
		behaviour("a rule that is there is a conflict that names it, however it is written", duplicateRules),
		behaviour("everybody is the same as no range at all", rulesForEverybody),
		behaviour("a rule that differs in the least is another rule", differingRules),
		behaviour("many rules are made in one request, in which none is left out", manyRules),
		behaviour("of many rules none is made if one of them is there already, twice or senseless", allRulesOrNone),
		behaviour("many rules of two security groups are refused with 400", rulesOfTwoGroups),
		behaviour("ports need a protocol that has them, and an order", wrongPortsOfRules),
		behaviour("a range belongs to its IP version, and only one origin to a rule", wrongRemotesOfRules),
		behaviour("a rule needs a group, a direction and words that Neutron knows", malformedRules),
		behaviour("a rule is deleted by itself, and is not there a second time", deletedRule),
		behaviour("rules are found by group, direction, protocol and remote group", filterRules),
	}
}

const rulesPath = "/v2.0/security-group-rules"

// Rule makes a rule of a security group.
func (c *Case) Rule(group Object, attributes Body) Object {
	c.Helper()
	attributes["security_group_id"] = group.ID()
	return c.Fixture(Network, rulesPath, Body{"security_group_rule": attributes})
}

// tryRule asks for a rule as a part of the behaviour. It goes with its group.
func tryRule(c *Case, group Object, attributes Body) *Response {
	c.Helper()
	attributes["security_group_id"] = group.ID()
	if attributes["direction"] == nil {
		attributes["direction"] = "ingress"
	}
	return c.Member.Post(Network, rulesPath, Body{"security_group_rule": attributes})
}

// tryRules asks for many.
func tryRules(c *Case, group Object, attributes ...Body) *Response {
	c.Helper()
	attributes = append([]Body{}, attributes...)
	for _, one := range attributes {
		if one["security_group_id"] == nil {
			one["security_group_id"] = group.ID()
		}
		one["direction"] = "ingress"
	}
	return c.Member.Post(Network, rulesPath, Body{"security_group_rules": attributes})
}

// defaultRules gives the two rules that a group was born with their words, and returns the one for IPv4 first.
func defaultRules(c *Case, group Object) []Object {
	c.Helper()
	born := group.Objects("security_group_rules")
	require.Len(c, born, 2)
	slices.SortFunc(born, func(a, b Object) int { return strings.Compare(a.Text("ethertype"), b.Text("ethertype")) })
	for _, rule := range born {
		c.SetPlaceholder(rule.ID(), rule.Text("ethertype")+" rule")
	}
	return born
}

func countRules(c *Case, group Object) int {
	c.Helper()
	count := 0
	c.WithoutRecording(func() {
		count = len(c.Member.Get(Network, securityGroupPath(group)).RequireStatus(200).Objects("security_group_rules"))
	})
	return count
}

func newRule(c *Case) {
	group := c.SecurityGroup()
	created := tryRule(c, group, Body{
		"description": "node ports", "ethertype": "IPv4", "protocol": "tcp",
		"port_range_min": 30000, "port_range_max": 32767, "remote_ip_prefix": "10.0.0.0/8",
	}).RequireStatus(201)
	assert.Equal(c, "30000", created.Text("port_range_min"))
	assert.Equal(c, "32767", created.Text("port_range_max"))
	assert.Equal(c, "node ports", created.Text("description"))
	assert.Contains(c, created, "remote_group_id")
	assert.Nil(c, created.At("remote_group_id"))
	c.Member.Get(Network, rulesPath+"/"+created.ID()).RequireStatus(200)
	assert.Len(c, c.Member.Get(Network, securityGroupPath(group)).RequireStatus(200).Objects("security_group_rules"), 3)
}

func portRangesOfRules(c *Case) {
	group := c.SecurityGroup()
	tryRule(c, group, Body{"protocol": "tcp", "port_range_min": 22, "port_range_max": 22}).RequireStatus(201)
	tryRule(c, group, Body{"protocol": "udp"}).RequireStatus(201)
	tryRule(c, group, Body{"protocol": nil}).RequireStatus(201)
	tryRule(c, group, Body{"ethertype": "IPv6"}).RequireStatus(201)
	tryRule(c, group, Body{"protocol": "tcp", "port_range_min": 1, "port_range_max": 65535}).RequireStatus(201)
	tryRule(c, group, Body{"protocol": "udp", "port_range_min": "53", "port_range_max": "53"}).RequireStatus(201)
}

func protocolsOfRules(c *Case) {
	group := c.SecurityGroup()
	protocol := func(sent any) string {
		return tryRule(c, group, Body{"protocol": sent}).RequireStatus(201).Text("protocol")
	}
	assert.Equal(c, "tcp", protocol("TCP"))
	assert.Equal(c, "17", protocol(17))
	assert.Equal(c, "4", protocol("4"))
	assert.Equal(c, "vrrp", protocol("vrrp"))
	assert.Equal(c, "0", protocol("0"))
	assert.Equal(c, "gre", protocol("GRE"))
}

func icmpRules(c *Case) {
	group := c.SecurityGroup()
	tryRule(c, group, Body{"protocol": "icmp"}).RequireStatus(201)
	echo := tryRule(c, group, Body{"protocol": "icmp", "port_range_min": 8, "port_range_max": 0}).RequireStatus(201)
	assert.Equal(c, "0", echo.Text("port_range_max"))
	reply := tryRule(c, group, Body{"protocol": "icmp", "port_range_min": 0}).RequireStatus(201)
	assert.Equal(c, "0", reply.Text("port_range_min"))
	assert.Nil(c, reply.At("port_range_max"))
	tryRule(c, group, Body{"protocol": "icmp", "port_range_min": 8, "port_range_max": 256}).AssertError(400, "SecurityGroupInvalidIcmpValue")
	tryRule(c, group, Body{"protocol": "icmp", "port_range_min": 256}).AssertError(400, "SecurityGroupInvalidIcmpValue")
	tryRule(c, group, Body{"protocol": "icmp", "port_range_max": 8}).AssertError(400, "SecurityGroupMissingIcmpType")
}

func icmpv6Rules(c *Case) {
	for _, name := range []string{"icmpv6", "ipv6-icmp", "58", "icmp"} {
		tryRule(c, c.SecurityGroup(), Body{"ethertype": "IPv6", "protocol": name}).RequireStatus(201)
	}
	group := c.SecurityGroup()
	c.Rule(group, Body{"direction": "ingress", "ethertype": "IPv6", "protocol": "icmpv6"})
	for _, name := range []string{"ipv6-icmp", "58", "icmp"} {
		tryRule(c, group, Body{"ethertype": "IPv6", "protocol": name}).AssertError(409, "SecurityGroupRuleExists")
	}
	tryRule(c, group, Body{"ethertype": "IPv4", "protocol": "icmpv6"}).AssertError(400, "SecurityGroupEthertypeConflictWithProtocol")
}

func prefixesOfRules(c *Case) {
	group := c.SecurityGroup()
	created := func(ether, prefix string) Object {
		return tryRule(c, group, Body{"ethertype": ether, "remote_ip_prefix": prefix}).RequireStatus(201)
	}
	bits := created("IPv4", "10.7.7.7/8")
	assert.Equal(c, "10.7.7.7/8", bits.Text("remote_ip_prefix"))
	assert.Equal(c, "10.0.0.0/8", bits.Text("normalized_cidr"))
	assert.Equal(c, "192.0.2.7/32", created("IPv4", "192.0.2.7").Text("remote_ip_prefix"))
	assert.Equal(c, "fd00::7/128", created("IPv6", "fd00::7").Text("remote_ip_prefix"))
	created("IPv6", "FD00:0::/16")
	created("ipv4", "192.0.2.0/24")
}

func groupsOfRules(c *Case) {
	group, other := c.SecurityGroup(), c.SecurityGroup()
	for _, remote := range []Object{group, other} {
		created := tryRule(c, group, Body{"remote_group_id": remote.ID()}).RequireStatus(201)
		assert.Equal(c, remote.ID(), created.Text("remote_group_id"))
	}
	tryRule(c, group, Body{"remote_group_id": unknownNetworkID}).AssertError(404, "SecurityGroupNotFound")
	theirs := c.FixtureAs(c.OtherMember, Network, securityGroupsPath, Body{"security_group": Body{"name": "given"}})
	tryRule(c, group, Body{"remote_group_id": theirs.ID()}).AssertError(404, "SecurityGroupNotFound")
}

func duplicateRules(c *Case) {
	group := c.SecurityGroup()
	base := func(change Body) Body {
		rule := Body{"ethertype": "IPv4", "protocol": "tcp", "port_range_min": 80, "port_range_max": 80, "remote_ip_prefix": "10.0.0.0/8"}
		maps.Copy(rule, change)
		return rule
	}
	first := tryRule(c, group, base(Body{"description": "first"})).RequireStatus(201)
	for _, change := range []Body{{}, {"description": "second"}, {"protocol": "6"}, {"protocol": "TCP"}, {"port_range_min": "80"}} {
		tryRule(c, group, base(change)).AssertError(409, "SecurityGroupRuleExists").AssertMessage("Rule id is %s", first.ID())
	}
	assert.Equal(c, 3, countRules(c, group))
	tryRule(c, group, base(Body{"remote_ip_prefix": "10.7.7.7/8"})).RequireStatus(201)
}

func rulesForEverybody(c *Case) {
	group := c.SecurityGroup()
	defaultRules(c, group)
	egress := func(ether string, prefix any) *Response {
		return tryRule(c, group, Body{"direction": "egress", "ethertype": ether, "remote_ip_prefix": prefix})
	}
	egress("IPv4", nil).AssertError(409, "SecurityGroupRuleExists")
	egress("IPv4", "0.0.0.0/0").AssertError(409, "SecurityGroupRuleExists")
	egress("IPv6", "::/0").AssertError(409, "SecurityGroupRuleExists")
	tryRule(c, group, Body{"remote_ip_prefix": "0.0.0.0/0"}).RequireStatus(201)
	tryRule(c, group, Body{}).AssertError(409, "SecurityGroupRuleExists")
	tryRule(c, group, Body{"ethertype": "IPv6"}).RequireStatus(201)
	tryRule(c, group, Body{"ethertype": "IPv6", "remote_ip_prefix": "::/0"}).AssertError(409, "SecurityGroupRuleExists")
}

func differingRules(c *Case) {
	group := c.SecurityGroup()
	for _, rule := range []Body{
		{"protocol": "tcp", "port_range_min": 80, "port_range_max": 80},
		{"protocol": "tcp", "port_range_min": 80, "port_range_max": 81},
		{"protocol": "udp", "port_range_min": 80, "port_range_max": 80},
		{"protocol": "tcp", "port_range_min": 80, "port_range_max": 80, "ethertype": "IPv6"},
		{"protocol": "tcp", "port_range_min": 80, "port_range_max": 80, "direction": "egress"},
		{"protocol": "tcp", "port_range_min": 80, "port_range_max": 80, "remote_ip_prefix": "10.0.0.0/8"},
		{"protocol": "tcp", "port_range_min": 80, "port_range_max": 80, "remote_group_id": group.ID()},
	} {
		tryRule(c, group, rule).RequireStatus(201)
	}
	assert.Equal(c, 9, countRules(c, group))
}

func manyRules(c *Case) {
	group := c.SecurityGroup()
	created := tryRules(c, group,
		Body{"description": "a", "remote_group_id": group.ID()},
		Body{"description": "b", "protocol": "tcp", "port_range_min": 30000, "port_range_max": 32767, "remote_ip_prefix": "0.0.0.0/0"},
		Body{"description": "c", "protocol": "udp", "port_range_min": 30000, "port_range_max": 32767, "remote_ip_prefix": "0.0.0.0/0"},
		Body{"description": "d", "ethertype": "IPv6", "protocol": "icmp"},
	)
	require.Equal(c, http.StatusCreated, created.Status, "%s", created.Raw)
	assert.Len(c, created.object().Objects("security_group_rules"), 4)
	assert.Equal(c, 6, countRules(c, group))
	tryRules(c, group, Body{"description": "one alone", "protocol": "vrrp"})
	assert.Equal(c, 7, countRules(c, group))
}

func allRulesOrNone(c *Case) {
	group := c.SecurityGroup()
	port := func(port int) Body { return Body{"protocol": "tcp", "port_range_min": port, "port_range_max": port} }
	there := c.Rule(group, Body{"direction": "ingress", "protocol": "tcp", "port_range_min": 1, "port_range_max": 1})
	tryRules(c, group, port(2), port(1)).AssertError(409, "SecurityGroupRuleExists").AssertMessage("Rule id is %s", there.ID())
	tryRules(c, group, port(2), port(2)).AssertError(409, "DuplicateSecurityGroupRuleInPost")
	tryRules(c, group, port(2), Body{"protocol": "smoke"}).AssertError(400, "SecurityGroupRuleInvalidProtocol")
	tryRules(c, group, port(2), Body{"remote_group_id": unknownNetworkID}).AssertError(404, "SecurityGroupNotFound")
	assert.Equal(c, 3, countRules(c, group))
}

func rulesOfTwoGroups(c *Case) {
	one, two := c.SecurityGroup(), c.SecurityGroup()
	tryRules(c, one, Body{"protocol": "tcp"}, Body{"protocol": "tcp", "security_group_id": two.ID()}).AssertError(400, "SecurityGroupNotSingleGroupRules")
	assert.Equal(c, 2, countRules(c, one))
	assert.Equal(c, 2, countRules(c, two))
	tryRules(c, one).AssertError(400, "HTTPBadRequest")
	tryRules(c, Object{"id": unknownNetworkID}, Body{"protocol": "tcp"}).AssertError(404, "SecurityGroupNotFound")
}

func deletedRule(c *Case) {
	group := c.SecurityGroup()
	rule := c.Rule(group, Body{"direction": "ingress", "protocol": "tcp"})
	path := rulesPath + "/" + rule.ID()
	c.Member.Delete(Network, path).RequireStatus(204)
	c.Member.Delete(Network, path).AssertError(404, "SecurityGroupRuleNotFound")
	c.Member.Get(Network, path).AssertError(404, "SecurityGroupRuleNotFound")
	for _, born := range defaultRules(c, group) {
		c.Member.Delete(Network, rulesPath+"/"+born.ID()).RequireStatus(204)
	}
	assert.Empty(c, c.Member.Get(Network, securityGroupPath(group)).RequireStatus(200).Objects("security_group_rules"))
}

func filterRules(c *Case) {
	group, other := c.SecurityGroup(), c.SecurityGroup()
	defaultRules(c, group)
	c.Rule(group, Body{"direction": "ingress", "protocol": "tcp", "description": "tcp"})
	c.Rule(group, Body{"direction": "ingress", "remote_group_id": other.ID(), "description": "other"})
	list := func(query string) []Object {
		return c.Member.Get(Network, rulesPath+"?security_group_id="+group.ID()+query).List("security_group_rules")
	}
	assert.Len(c, list(""), 4)
	assert.Len(c, list("&direction=ingress"), 2)
	assert.Len(c, list("&direction=ingress&protocol=tcp"), 1)
	assert.Len(c, list("&remote_group_id="+other.ID()), 1)
	assert.Len(c, list("&description=tcp"), 1)
	assert.Len(c, list("&ethertype=IPv6&fields=id&fields=direction"), 1)
	assert.Empty(c, list("&direction=ingress&protocol=udp"))
}
