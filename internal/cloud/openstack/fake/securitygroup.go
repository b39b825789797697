package fake

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

const defaultGroup = "default"

type securityGroupInput struct {
	Name        opt[string] `json:"name"`
	Description opt[string] `json:"description"`
	Stateful    opt[bool]   `json:"stateful"`
}

func (c *Cloud) securityGroupCollection() *collection[SecurityGroup] {
	return &collection[SecurityGroup]{
		one: "security_group", many: "security_groups", path: "security-groups", quota: "security_group",
		rows: c.neutron.groups, std: func(g *SecurityGroup) *Standard { return g.standard() },
		missing: groupNotFound,
		visible: func(_ *identity, g *SecurityGroup) bool { return g.Shared },
		create:  c.createSecurityGroup, update: c.updateSecurityGroup, remove: c.deleteSecurityGroup,
		discard: c.dropSecurityGroup,
	}
}

func groupNotFound(id string) *wire.Error {
	return notFound("SecurityGroupNotFound", "Security group %s does not exist", id)
}

// ensureDefaultGroup returns a project's default security group, which Neutron makes when it is first needed.
func (c *Cloud) ensureDefaultGroup(projectID string) *SecurityGroup {
	g := c.neutron.groups.first(func(g *SecurityGroup) bool { return g.ProjectID == projectID && g.Name == defaultGroup })
	if g != nil {
		return g
	}
	g = c.newSecurityGroup(projectID, defaultGroup, "Default security group")
	for _, ether := range []string{"IPv4", "IPv6"} {
		c.storeRule(g, &SecurityGroupRule{
			Standard: c.newStandard(projectID, ""), SecurityGroupID: g.ID, Direction: "ingress", EtherType: ether, RemoteGroupID: Null(g.ID),
		})
	}
	return g
}

// newSecurityGroup stores a group with the two rules that every group is born with.
func (c *Cloud) newSecurityGroup(projectID, name, description string) *SecurityGroup {
	g := &SecurityGroup{Standard: c.newStandard(projectID, description), Name: name, Stateful: true, Rules: []SecurityGroupRule{}}
	for _, ether := range []string{"IPv4", "IPv6"} {
		c.storeRule(g, &SecurityGroupRule{
			Standard: c.newStandard(projectID, ""), SecurityGroupID: g.ID, Direction: "egress", EtherType: ether,
		})
	}
	return c.neutron.groups.add(g)
}

func (c *Cloud) storeRule(g *SecurityGroup, r *SecurityGroupRule) {
	g.Rules = with(g.Rules, *r)
	c.neutron.ruleHome[r.ID] = g.ID
}

func (c *Cloud) createSecurityGroup(_ *request, projectID string, raw json.RawMessage) (*SecurityGroup, error) {
	var in securityGroupInput
	if err := decodeNeutron[SecurityGroup](raw, &in, http.MethodPost); err != nil {
		return nil, err
	}
	c.ensureDefaultGroup(projectID)
	if in.Name.v == defaultGroup {
		return nil, conflict("SecurityGroupDefaultAlreadyExists", "Default security group already exists.")
	}
	g := c.newSecurityGroup(projectID, in.Name.v, in.Description.v)
	g.Stateful = in.Stateful.or(true)
	return g, nil
}

func (c *Cloud) updateSecurityGroup(_ *request, g *SecurityGroup, raw json.RawMessage) error {
	var in securityGroupInput
	if err := decodeNeutron[SecurityGroup](raw, &in, http.MethodPut); err != nil {
		return err
	}
	if in.Name.set && g.Name == defaultGroup {
		return badRequest("SecurityGroupCannotUpdateDefault", "Updating default security group not allowed.")
	}
	in.Name.into(&g.Name)
	in.Description.into(&g.Description)
	in.Stateful.into(&g.Stateful)
	return nil
}

func (c *Cloud) deleteSecurityGroup(q *request, g *SecurityGroup) error {
	if c.neutron.ports.first(func(p *Port) bool { return slices.Contains(p.SecurityGroups, g.ID) }) != nil {
		return conflict("SecurityGroupInUse", "Security Group %s in use.", g.ID)
	}
	if g.Name == defaultGroup && !q.admin() {
		return conflict("SecurityGroupCannotRemoveDefault", "Insufficient rights for removing default security group.")
	}
	c.dropSecurityGroup(g)
	return nil
}

// dropSecurityGroup removes a group, its rules, and the rules of others that refer to it.
func (c *Cloud) dropSecurityGroup(g *SecurityGroup) {
	for _, r := range g.Rules {
		delete(c.neutron.ruleHome, r.ID)
	}
	c.neutron.groups.remove(g.ID)
	for _, other := range c.neutron.groups.rows {
		refers := func(r SecurityGroupRule) bool { return string(r.RemoteGroupID) == g.ID }
		if !slices.ContainsFunc(other.Rules, refers) {
			continue
		}
		for _, r := range other.Rules {
			if refers(r) {
				delete(c.neutron.ruleHome, r.ID)
			}
		}
		other.Rules = without(other.Rules, refers)
	}
}
