package conformance

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func securityGroups() []Behaviour {
	return []Behaviour{
		behaviour("a security group is born with two rules that let everything out", newSecurityGroup),
		behaviour("two security groups may have one name", groupsWithSameName),
		behaviour("a project has a default security group that nobody made, and that lets its own members in", defaultGroupExists),
		behaviour("the default security group is neither renamed, nor deleted by a member, nor made a second time", defaultGroupImmutable),
		behaviour("a security group is renamed and described, and keeps its rules", changedGroup),
		behaviour("a security group that a port has cannot be deleted, and the error is SecurityGroupInUse", usedGroup),
		behaviour("a security group goes with its rules, and is not there a second time", deletedGroup),
		behaviour("a security group goes although rules of another one name it, and takes them along", groupReferredToByRules),
		behaviour("a security group is found by its name, its description and its IDs, and shows its rules", filterGroups),
		behaviour("a security group changes whether it is stateful, unless a port has it", statelessGroup),
		behaviour("a port gets the default security group, those that are asked for, or none", groupsOfPorts),
		behaviour("a stranger neither sees, changes, uses nor deletes a security group", groupOfOtherProject),
		behaviour("a request about a security group that makes no sense is refused with 400", malformedGroups),
	}
}

const securityGroupsPath = "/v2.0/security-groups"

func securityGroupPath(group Object) string { return securityGroupsPath + "/" + group.ID() }

// createGroup makes a security group as a part of the behaviour.
func createGroup(c *Case, attributes Body) Object {
	c.Helper()
	created := c.Member.Post(Network, securityGroupsPath, Body{"security_group": attributes}).RequireStatus(201)
	c.DeleteAtCleanup(c.Member, Network, securityGroupPath(created))
	return created
}

// defaultGroup is the default security group of the member's project.
func defaultGroup(c *Case) Object {
	c.Helper()
	found := c.Member.Get(Network, securityGroupsPath+"?name=default&project_id="+c.Member.ProjectID).List("security_groups")
	require.Len(c, found, 1)
	return found[0]
}

func newSecurityGroup(c *Case) {
	created := createGroup(c, Body{"name": "one", "description": "described"})
	rules := created.Objects("security_group_rules")
	require.Len(c, rules, 2)
	for _, rule := range rules {
		assert.Equal(c, "egress", rule.Text("direction"))
		for _, anything := range []string{"protocol", "port_range_min", "port_range_max", "remote_ip_prefix", "remote_group_id"} {
			assert.Contains(c, rule, anything)
			assert.Nil(c, rule.At(anything))
		}
	}
	assert.Equal(c, "described", created.Text("description"))
	c.Member.Get(Network, securityGroupPath(created)).RequireStatus(200)
}

func groupsWithSameName(c *Case) {
	one, other := createGroup(c, Body{"name": "twin"}), createGroup(c, Body{"name": "twin"})
	assert.NotEqual(c, one.ID(), other.ID())
	createGroup(c, Body{})
}

func defaultGroupExists(c *Case) {
	rules := map[string]int{}
	group := defaultGroup(c)
	for _, rule := range group.Objects("security_group_rules") {
		rules[rule.Text("direction")+" "+rule.Text("ethertype")]++
		if rule.Text("direction") == "ingress" {
			assert.Equal(c, group.ID(), rule.Text("remote_group_id"))
		}
	}
	assert.Equal(c, map[string]int{"ingress IPv4": 1, "ingress IPv6": 1, "egress IPv4": 1, "egress IPv6": 1}, rules)
}

func defaultGroupImmutable(c *Case) {
	group := defaultGroup(c)
	c.Member.Put(Network, securityGroupPath(group), Body{"security_group": Body{"name": "mine"}}).AssertError(409, "SecurityGroupCannotUpdateDefault")
	c.Member.Delete(Network, securityGroupPath(group)).AssertError(409, "SecurityGroupCannotRemoveDefault")
	c.TryCreate(Network, securityGroupsPath, Body{"security_group": Body{"name": "default"}}).AssertError(409, "SecurityGroupDefaultAlreadyExists")
	c.TryCreate(Network, securityGroupsPath, Body{"security_group": Body{"name": "Default"}}).AssertError(409, "SecurityGroupDefaultAlreadyExists")
	other := c.SecurityGroup()
	c.Member.Put(Network, securityGroupPath(other), Body{"security_group": Body{"name": "default"}}).AssertError(409, "SecurityGroupDefaultAlreadyExists")
	defaultGroup(c)
}

func changedGroup(c *Case) {
	group := c.SecurityGroup()
	change := func(change Body) Object {
		return c.Member.Put(Network, securityGroupPath(group), Body{"security_group": change}).RequireStatus(200)
	}
	assert.Equal(c, "renamed", change(Body{"name": "renamed"}).Text("name"))
	now := change(Body{"description": "described"})
	assert.Equal(c, "renamed", now.Text("name"))
	assert.Len(c, now.Objects("security_group_rules"), 2)
	change(Body{"name": "renamed", "description": ""})
	change(Body{})
}

func usedGroup(c *Case) {
	group, network := c.SecurityGroup(), c.Network()
	port := c.Fixture(Network, portsPath, Body{"port": Body{"network_id": network.ID(), "security_groups": []string{group.ID()}}})
	c.Member.Delete(Network, securityGroupPath(group)).AssertError(409, "SecurityGroupInUse")
	c.WithoutRecording(func() {
		c.Member.Put(Network, portsPath+"/"+port.ID(), Body{"port": Body{"security_groups": []string{}}}).RequireStatus(200)
	})
	c.Member.Delete(Network, securityGroupPath(group)).RequireStatus(204)
}

func deletedGroup(c *Case) {
	group := c.SecurityGroup()
	rule := group.Objects("security_group_rules")[0].ID()
	c.SetPlaceholder(rule, "rule")
	c.Member.Delete(Network, securityGroupPath(group)).RequireStatus(204)
	c.Member.Get(Network, securityGroupPath(group)).AssertError(404, "SecurityGroupNotFound")
	c.Member.Put(Network, securityGroupPath(group), Body{"security_group": Body{"name": "late"}}).AssertError(404, "SecurityGroupNotFound")
	c.Member.Delete(Network, securityGroupPath(group)).AssertError(404, "SecurityGroupNotFound")
	c.Member.Get(Network, rulesPath+"/"+rule).AssertError(404, "SecurityGroupRuleNotFound")
	assert.Empty(c, c.Member.Get(Network, rulesPath+"?security_group_id="+group.ID()).List("security_group_rules"))
}

func groupReferredToByRules(c *Case) {
	group, named := c.SecurityGroup(), c.SecurityGroup()
	c.Rule(group, Body{"direction": "ingress", "remote_group_id": named.ID()})
	c.Member.Delete(Network, securityGroupPath(named)).RequireStatus(204)
	assert.Len(c, c.Member.Get(Network, securityGroupPath(group)).RequireStatus(200).Objects("security_group_rules"), 2)
}

func filterGroups(c *Case) {
	one := c.Fixture(Network, securityGroupsPath, Body{"security_group": Body{"name": "one", "description": "shared words"}})
	two := c.Fixture(Network, securityGroupsPath, Body{"security_group": Body{"name": "two", "description": "shared words"}})
	list := func(query string) []Object {
		return c.Member.Get(Network, securityGroupsPath+query).List("security_groups")
	}
	found := list("?name=one")
	require.Len(c, found, 1)
	assert.Len(c, found[0].Objects("security_group_rules"), 2)
	assert.Len(c, list("?description=shared%20words"), 2)
	assert.Len(c, list("?id="+one.ID()+"&id="+two.ID()), 2)
	assert.Empty(c, list("?name=three"))
	assert.Len(c, list("?name=two&fields=id&fields=name"), 1)
}

func statelessGroup(c *Case) {
	group, network := c.SecurityGroup(), c.Network()
	assert.Equal(c, true, c.Member.Get(Network, securityGroupPath(group)).RequireStatus(200).At("stateful"))
	change := func(stateful bool) *Response {
		return c.Member.Put(Network, securityGroupPath(group), Body{"security_group": Body{"stateful": stateful}})
	}
	assert.Equal(c, false, change(false).RequireStatus(200).At("stateful"))
	assert.Equal(c, true, change(true).RequireStatus(200).At("stateful"))
	c.Fixture(Network, portsPath, Body{"port": Body{"network_id": network.ID(), "security_groups": []string{group.ID()}}})
	change(false).AssertError(409, "SecurityGroupInUse")
	assert.Equal(c, false, createGroup(c, Body{"name": "stateless", "stateful": false}).At("stateful"))
}

func groupsOfPorts(c *Case) {
	network, group := c.Network(), c.SecurityGroup()
	standard := defaultGroup(c)
	of := func(attributes Body) []string {
		attributes["network_id"] = network.ID()
		created := c.TryCreate(Network, portsPath, Body{"port": attributes}).RequireStatus(201)
		return created.Texts("security_groups")
	}
	assert.Equal(c, []string{standard.ID()}, of(Body{}))
	assert.Equal(c, []string{group.ID()}, of(Body{"security_groups": []string{group.ID()}}))
	assert.Empty(c, of(Body{"security_groups": []string{}}))
	assert.ElementsMatch(c, []string{standard.ID(), group.ID()}, of(Body{"security_groups": []string{group.ID(), standard.ID()}}))
	assert.Empty(c, of(Body{"port_security_enabled": false}))
	c.TryCreate(Network, portsPath, Body{"port": Body{"network_id": network.ID(), "security_groups": []string{unknownNetworkID}}}).
		AssertError(404, "SecurityGroupNotFound")
}

func groupOfOtherProject(c *Case) {
	group := c.SecurityGroup()
	c.OtherMember.Get(Network, securityGroupPath(group)).AssertError(404, "SecurityGroupNotFound")
	c.OtherMember.Put(Network, securityGroupPath(group), Body{"security_group": Body{"name": "mine"}}).AssertError(404, "SecurityGroupNotFound")
	c.OtherMember.Delete(Network, securityGroupPath(group)).AssertError(404, "SecurityGroupNotFound")
	assert.Empty(c, c.OtherMember.Get(Network, securityGroupsPath+"?id="+group.ID()).List("security_groups"))
	c.OtherMember.Post(Network, rulesPath, Body{"security_group_rule": Body{"security_group_id": group.ID(), "direction": "ingress"}}).
		AssertError(404, "SecurityGroupNotFound")
	rule := group.Objects("security_group_rules")[0].ID()
	c.SetPlaceholder(rule, "rule")
	c.OtherMember.Get(Network, rulesPath+"/"+rule).AssertError(404, "HTTPNotFound")
	c.OtherMember.Delete(Network, rulesPath+"/"+rule).AssertError(404, "HTTPNotFound")
	otherNetwork := c.FixtureAs(c.OtherMember, Network, networksPath, Body{"network": Body{"name": "given"}})
	c.OtherMember.Post(Network, portsPath, Body{"port": Body{"network_id": otherNetwork.ID(), "security_groups": []string{group.ID()}}}).
		AssertError(404, "SecurityGroupNotFound")
}

func malformedGroups(c *Case) {
	refused := func(kind string, body any) { c.TryCreate(Network, securityGroupsPath, body).AssertError(400, kind) }
	refused("HTTPBadRequest", Body{"security_group": Body{"colour": "green"}})
	refused("HTTPBadRequest", Body{"security_group": Body{"name": 7}})
	refused("HTTPBadRequest", Body{"security_group": Body{"security_group_rules": []Body{}}})
	refused("InvalidInput", Body{"security_group": Body{"stateful": "perhaps"}})
	refused("HTTPBadRequest", Body{"group": Body{}})
}
