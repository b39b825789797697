package ec2

import (
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
)

func (s *Service) ruleActions() map[string]core.Action {
	const rules = "GroupId IpPermissions"
	const short = " IpProtocol FromPort ToPort CidrIp"
	return map[string]core.Action{
		"AuthorizeSecurityGroupIngress": {Reads: rules + short + " TagSpecifications", Do: s.authorize(false)},
		"AuthorizeSecurityGroupEgress":  {Reads: rules + " TagSpecifications", Do: s.authorize(true)},
		"RevokeSecurityGroupIngress":    {Reads: rules + short + " SecurityGroupRuleIds", Do: s.revoke(false)},
		"RevokeSecurityGroupEgress":     {Reads: rules + " SecurityGroupRuleIds", Do: s.revoke(true)},
		"DescribeSecurityGroupRules":    describing(s, s.rules),
	}
}

// authorize adds rules: all or none.
func (s *Service) authorize(egress bool) core.Handler {
	return func(q *core.Request) (protocol.Struct, error) {
		if !q.In.Has("GroupId") {
			return nil, protocol.Fail("MissingParameter", "The request must contain the parameter groupName or groupId")
		}
		g, err := s.groups.get(q.In.String("GroupId"))
		if err != nil {
			return nil, err
		}
		added, err := s.readRules(g.id, egress, q.In)
		if err != nil {
			return nil, err
		}
		existing := s.rulesOf(g.id, egress)
		for i, r := range added {
			if slices.ContainsFunc(added[:i], samePermission(r)) {
				return nil, protocol.Fail("InvalidParameterValue", "The same permission must not appear multiple times")
			}
			if slices.ContainsFunc(existing, samePermission(r)) {
				return nil, protocol.Fail("InvalidPermission.Duplicate", "the specified rule \"%s\" already exists", r.permission)
			}
		}
		if !s.core.HasRoom(QuotaRules, len(existing)+len(added)-1) {
			return nil, protocol.Fail("RulesPerSecurityGroupLimitExceeded", "The maximum number of rules per security group has been reached.")
		}
		views := []any{}
		for _, r := range added {
			if r.meta, err = s.newMeta("sgr", s.rules.kind, q); err != nil {
				return nil, err
			}
		}
		for _, r := range added {
			s.rules.add(r)
			views = append(views, s.viewRule(r))
		}
		return protocol.Struct{"Return": true, "SecurityGroupRules": views}, nil
	}
}

func samePermission(r *rule) func(*rule) bool {
	return func(other *rule) bool { return other.permission == r.permission }
}

// revoke removes rules by ID or by their permissions: all or none. Descriptions do not count.
func (s *Service) revoke(egress bool) core.Handler {
	return func(q *core.Request) (protocol.Struct, error) {
		g, err := s.groups.get(q.In.String("GroupId"))
		if err != nil {
			return nil, err
		}
		existing := s.rulesOf(g.id, egress)
		var revoked []*rule
		if ids := q.In.Strings("SecurityGroupRuleIds"); len(ids) > 0 {
			for _, id := range ids {
				i := slices.IndexFunc(existing, func(r *rule) bool { return r.id == id })
				if i < 0 {
					return nil, s.rules.notFound(id)
				}
				revoked = append(revoked, existing[i])
			}
		} else {
			sent, err := s.readRules(g.id, egress, q.In)
			if err != nil {
				return nil, err
			}
			for _, r := range sent {
				i := slices.IndexFunc(existing, samePermission(r))
				if i < 0 {
					return nil, protocol.Fail("InvalidPermission.NotFound", "The specified rule does not exist in this security group.")
				}
				revoked = append(revoked, existing[i])
			}
		}
		for _, r := range revoked {
			s.rules.remove(r.id)
		}
		return protocol.Struct{"Return": true}, nil
	}
}
