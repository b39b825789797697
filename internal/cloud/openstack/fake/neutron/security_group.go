package neutron

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

const DefaultGroup = "default"

type securityGroupInput struct {
	Name        core.Opt[string] `json:"name"`
	Description core.Opt[string] `json:"description"`
	Stateful    core.Opt[bool]   `json:"stateful"`
}

func (svc *Service) securityGroupCollection() *collection[SecurityGroup] {
	return &collection[SecurityGroup]{
		singular: "security_group", plural: "security_groups", path: "security-groups", quota: "security_group",
		rows: svc.Groups, std: func(g *SecurityGroup) *Standard { return g.Base() },
		missing: groupNotFound,
		visible: func(_ *core.Identity, g *SecurityGroup) bool { return g.Shared },
		create:  svc.createSecurityGroup, update: svc.updateSecurityGroup, remove: svc.deleteSecurityGroup,
		discard: svc.dropSecurityGroup,
		before:  svc.beforeGroups,
	}
}

// beforeGroups makes sure that a list contains the default group.
func (svc *Service) beforeGroups(q *core.Request) {
	if project := cmp.Or(q.Values.Get("project_id"), q.Values.Get("tenant_id"), q.ProjectID); q.Owns(project) {
		svc.EnsureDefaultGroup(project)
	}
}

func groupNotFound(id string) *wire.Error {
	return core.NotFound("SecurityGroupNotFound", "Security group %s does not exist", id)
}

// EnsureDefaultGroup returns a project's default security group, which Neutron creates at its first use.
func (svc *Service) EnsureDefaultGroup(projectID string) *SecurityGroup {
	g := svc.Groups.First(func(g *SecurityGroup) bool { return g.ProjectID == projectID && g.Name == DefaultGroup })
	if g != nil {
		return g
	}
	g = svc.newSecurityGroup(projectID, DefaultGroup, "Default security group")
	for _, ether := range []string{"IPv4", "IPv6"} {
		r := svc.newRule(g, "ingress", ether)
		r.RemoteGroupID = core.Null(g.ID)
		svc.storeRule(g, r)
	}
	return g
}

// defaultRuleCount is how many rules a new group has.
const defaultRuleCount = 2

// ownRules counts the rules of a project.
func (svc *Service) ownRules(projectID string) int {
	count := 0
	for _, g := range svc.Groups.Rows {
		if g.ProjectID == projectID {
			count += len(g.Rules)
		}
	}
	return count
}

// newSecurityGroup stores a group with its two default rules.
func (svc *Service) newSecurityGroup(projectID, name, description string) *SecurityGroup {
	g := &SecurityGroup{Standard: svc.newStandard(projectID, description), Name: name, Stateful: true, Rules: []SecurityGroupRule{}}
	for _, ether := range []string{"IPv4", "IPv6"} {
		svc.storeRule(g, svc.newRule(g, "egress", ether))
	}
	return svc.Groups.Add(g)
}

// newRule is a rule that permits all traffic of an IP version, not stored yet.
func (svc *Service) newRule(g *SecurityGroup, direction, ether string) *SecurityGroupRule {
	return &SecurityGroupRule{
		Standard: svc.newStandard(g.ProjectID, ""), SecurityGroupID: g.ID, Direction: direction, EtherType: ether,
		Description: NoText, PortRangeMin: AnyPort, PortRangeMax: AnyPort,
	}
}

func (svc *Service) storeRule(g *SecurityGroup, r *SecurityGroupRule) {
	g.Rules = core.With(g.Rules, *r)
	svc.groupOfRule[r.ID] = g.ID
}

func (svc *Service) createSecurityGroup(_ *core.Request, projectID string, raw json.RawMessage) (*SecurityGroup, error) {
	var in securityGroupInput
	if err := decodeNeutron[SecurityGroup](raw, &in, http.MethodPost); err != nil {
		return nil, err
	}
	if strings.EqualFold(in.Name.Value, DefaultGroup) {
		return nil, defaultGroupExists()
	}
	svc.EnsureDefaultGroup(projectID)
	if err := svc.checkQuota(projectID, "security_group_rule", svc.ownRules(projectID), defaultRuleCount); err != nil {
		return nil, err
	}
	g := svc.newSecurityGroup(projectID, in.Name.Value, in.Description.Value)
	g.Stateful = in.Stateful.Or(true)
	return g, nil
}

func (svc *Service) updateSecurityGroup(_ *core.Request, g *SecurityGroup, raw json.RawMessage) error {
	var in securityGroupInput
	if err := decodeNeutron[SecurityGroup](raw, &in, http.MethodPut); err != nil {
		return err
	}
	if strings.EqualFold(in.Name.Value, DefaultGroup) {
		return defaultGroupExists()
	}
	if in.Stateful.Set && in.Stateful.Value != g.Stateful && svc.inUse(g) {
		return groupInUse(g)
	}
	if in.Name.Set && g.Name == DefaultGroup {
		return core.Conflict("SecurityGroupCannotUpdateDefault", "Updating default security group not allowed.")
	}
	in.Name.Into(&g.Name)
	in.Description.Into(&g.Description)
	in.Stateful.Into(&g.Stateful)
	return nil
}

func defaultGroupExists() *wire.Error {
	return core.Conflict("SecurityGroupDefaultAlreadyExists", "Default security group already exists.")
}

func groupInUse(g *SecurityGroup) *wire.Error {
	return core.Conflict("SecurityGroupInUse", "Security Group %s in use.", g.ID)
}

// inUse reports whether a port has the group.
func (svc *Service) inUse(g *SecurityGroup) bool {
	return svc.Ports.First(func(p *Port) bool { return slices.Contains(p.SecurityGroups, g.ID) }) != nil
}

func (svc *Service) deleteSecurityGroup(q *core.Request, g *SecurityGroup) error {
	if svc.inUse(g) {
		return groupInUse(g)
	}
	if g.Name == DefaultGroup && !q.Admin() {
		return core.Conflict("SecurityGroupCannotRemoveDefault", "Insufficient rights for removing default security group.")
	}
	svc.dropSecurityGroup(g)
	return nil
}

// dropSecurityGroup removes a group, its rules, and the rules of others that refer to it.
func (svc *Service) dropSecurityGroup(g *SecurityGroup) {
	for _, r := range g.Rules {
		delete(svc.groupOfRule, r.ID)
	}
	svc.Groups.Remove(g.ID)
	for _, other := range svc.Groups.Rows {
		refers := func(r SecurityGroupRule) bool { return string(r.RemoteGroupID) == g.ID }
		if !slices.ContainsFunc(other.Rules, refers) {
			continue
		}
		for _, r := range other.Rules {
			if refers(r) {
				delete(svc.groupOfRule, r.ID)
			}
		}
		other.Rules = core.Without(other.Rules, refers)
	}
}
