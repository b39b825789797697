package ec2

import (
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

type securityGroup struct {
	meta

	vpcID, name, description string
	isDefault                bool
}

func (s *Service) newSecurityGroups() *collection[*securityGroup] {
	ofRules := func(egress bool, value func(*rule) string) func(*securityGroup) []string {
		return func(g *securityGroup) []string {
			var out []string
			for _, r := range s.rulesOf(g.id, egress) {
				out = append(out, value(r))
			}
			return out
		}
	}
	return &collection[*securityGroup]{
		kind: "security-group", ids: "GroupIds", answer: "SecurityGroups", view: s.viewGroup,
		notFound: func(id string) *wire.Error {
			return protocol.Fail("InvalidGroup.NotFound", "The security group '%s' does not exist", id)
		},
		filters: map[string]func(*securityGroup) []string{
			"group-id":                      one(func(g *securityGroup) string { return g.id }),
			"group-name":                    one(func(g *securityGroup) string { return g.name }),
			"vpc-id":                        one(func(g *securityGroup) string { return g.vpcID }),
			"description":                   one(func(g *securityGroup) string { return g.description }),
			"owner-id":                      one(func(*securityGroup) string { return s.owner() }),
			"ip-permission.group-id":        ofRules(false, func(r *rule) string { return r.groupPeer() }),
			"ip-permission.cidr":            ofRules(false, func(r *rule) string { return r.peerOf(peerIPv4) }),
			"ip-permission.ipv6-cidr":       ofRules(false, func(r *rule) string { return r.peerOf(peerIPv6) }),
			"egress.ip-permission.group-id": ofRules(true, func(r *rule) string { return r.groupPeer() }),
		},
	}
}

func (s *Service) viewGroup(g *securityGroup) protocol.Struct {
	return protocol.Struct{
		"GroupId": g.id, "GroupName": g.name, "Description": g.description, "VpcId": g.vpcID, "OwnerId": s.owner(),
		"IpPermissions": s.permissions(s.rulesOf(g.id, false)), "IpPermissionsEgress": s.permissions(s.rulesOf(g.id, true)), "Tags": g.tagList(),
	}
}

func (s *Service) securityGroupActions() map[string]core.Action {
	return map[string]core.Action{
		"CreateSecurityGroup":    {Reads: "GroupName Description VpcId TagSpecifications", Do: s.createGroup},
		"DescribeSecurityGroups": describing(s, s.groups),
		"DeleteSecurityGroup":    {Reads: "GroupId", Do: s.deleteGroup},
	}
}

// addDefaultGroup adds the group that each VPC has: it allows traffic within the group, and all traffic out.
func (s *Service) addDefaultGroup(v *vpc) {
	g := &securityGroup{meta: s.bareMeta("sg"), vpcID: v.id, name: "default", description: "default VPC security group", isDefault: true}
	s.groups.add(g)
	s.rules.add(&rule{meta: s.bareMeta("sgr"), groupID: g.id, permission: permission{protocol: "-1", peerKind: peerGroup, peer: g.id}})
	s.addEgressRules(v, g)
}

// addEgressRules adds the rules of a new group: all traffic out is allowed.
func (s *Service) addEgressRules(v *vpc, g *securityGroup) {
	s.rules.add(&rule{meta: s.bareMeta("sgr"), groupID: g.id, egress: true, permission: permission{protocol: "-1", peerKind: peerIPv4, peer: "0.0.0.0/0"}})
	if len(v.ipv6Blocks) > 0 {
		s.rules.add(&rule{meta: s.bareMeta("sgr"), groupID: g.id, egress: true, permission: permission{protocol: "-1", peerKind: peerIPv6, peer: "::/0"}})
	}
}

func (s *Service) createGroup(q *core.Request) (protocol.Struct, error) {
	if !q.In.Has("VpcId") {
		return nil, protocol.Fail("VPCIdNotSpecified", "No default VPC for this user")
	}
	v, err := s.vpcs.get(q.In.String("VpcId"))
	if err != nil {
		return nil, err
	}
	name := q.In.String("GroupName")
	switch {
	case name == "" || q.In.String("Description") == "":
		return nil, protocol.Fail("MissingParameter", "The request must contain the parameters GroupName and GroupDescription")
	case strings.HasPrefix(name, "sg-"):
		return nil, protocol.Fail("InvalidParameterValue", "Invalid group name '%s'. Group names may not be in the format sg-*.", name)
	case name == "default":
		return nil, protocol.Fail("InvalidParameterValue", "Cannot use reserved security group name: default")
	case slices.ContainsFunc(s.groups.items, func(g *securityGroup) bool { return g.vpcID == v.id && g.name == name }):
		return nil, protocol.Fail("InvalidGroup.Duplicate", "The security group '%s' already exists for VPC '%s'", name, v.id)
	case !s.core.HasRoom(QuotaGroups, len(s.groups.items)):
		return nil, protocol.Fail("SecurityGroupLimitExceeded", "The maximum number of security groups has been reached.")
	}
	created, err := s.newMeta("sg", s.groups.kind, q)
	if err != nil {
		return nil, err
	}
	g := &securityGroup{meta: created, vpcID: v.id, name: name, description: q.In.String("Description")}
	s.groups.add(g)
	s.addEgressRules(v, g)
	return protocol.Struct{"GroupId": g.id, "Tags": g.tagList()}, nil
}

// deleteGroup deletes a group that no interface has and no other group's rule names.
func (s *Service) deleteGroup(q *core.Request) (protocol.Struct, error) {
	if !q.In.Has("GroupId") {
		return nil, protocol.Fail("MissingParameter", "The request must contain the parameter groupName or groupId")
	}
	g, err := s.groups.get(q.In.String("GroupId"))
	if err != nil {
		return nil, err
	}
	if g.isDefault {
		return nil, protocol.Fail("CannotDelete", "the specified group: \"%s\" name: \"%s\" cannot be deleted by a user", g.id, g.name)
	}
	if len(s.groupDependants(g.id)) > 0 {
		return nil, protocol.Fail("DependencyViolation", "resource %s has a dependent object", g.id)
	}
	s.removeGroup(g)
	return nil, nil
}

// groupDependants lists the interfaces of a group, and the other groups whose rules name it.
func (s *Service) groupDependants(id string) []string {
	out := idsOf(s.interfaces.where(func(i *networkInterface) bool { return slices.Contains(i.groups, id) }))
	for _, r := range s.rules.where(func(r *rule) bool { return r.groupPeer() == id && r.groupID != id }) {
		out = append(out, r.groupID)
	}
	return out
}

func (s *Service) removeGroup(g *securityGroup) {
	for _, r := range s.rules.where(func(r *rule) bool { return r.groupID == g.id }) {
		s.rules.remove(r.id)
	}
	s.groups.remove(g.id)
}
