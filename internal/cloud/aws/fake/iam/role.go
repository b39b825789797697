package iam

import (
	"maps"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
)

func (s *Service) roleActions() map[string]core.Action {
	return map[string]core.Action{
		"CreateRole":             {Reads: "RoleName Path AssumeRolePolicyDocument Description MaxSessionDuration Tags", Do: s.createRole},
		"GetRole":                {Reads: "RoleName", Do: s.getRole},
		"DeleteRole":             {Reads: "RoleName", Do: s.deleteRole},
		"UpdateAssumeRolePolicy": {Reads: "RoleName PolicyDocument", Do: s.updateTrust},
		"TagRole":                {Reads: "RoleName Tags", Do: s.tagRole},
		"PutRolePolicy":          {Reads: "RoleName PolicyName PolicyDocument", Do: s.putPolicy},
		"GetRolePolicy":          {Reads: "RoleName PolicyName", Do: s.getPolicy},
		"DeleteRolePolicy":       {Reads: "RoleName PolicyName", Do: s.deletePolicy},
		"ListRolePolicies":       {Reads: "RoleName", Do: s.listPolicies},
	}
}

func (s *Service) viewRole(r *role) protocol.Struct {
	return protocol.Struct{
		"RoleName": r.name, "RoleId": r.id, "Path": r.path, "Arn": s.core.ARN("iam", "", "role"+r.path+r.name), "CreateDate": r.created,
		"AssumeRolePolicyDocument": escaped(r.trust), "Description": protocol.OrNil(r.description), "MaxSessionDuration": r.maxSession, "Tags": r.tagList(),
	}
}

func (s *Service) role(q *core.Request) (*role, error) {
	name := q.In.String("RoleName")
	r := s.roles[name]
	if r == nil {
		return nil, noSuchEntity("The role with name %s cannot be found.", name)
	}
	return r, nil
}

func (s *Service) createRole(q *core.Request) (protocol.Struct, error) {
	name := q.In.String("RoleName")
	if s.roles[name] != nil {
		return nil, conflict("EntityAlreadyExists", "Role with name %s already exists.", name)
	}
	if err := checkDocument(q.In.String("AssumeRolePolicyDocument")); err != nil {
		return nil, err
	}
	created, err := s.newEntity(q, name, "AROA")
	if err != nil {
		return nil, err
	}
	r := &role{
		entity: created, trust: q.In.String("AssumeRolePolicyDocument"), description: q.In.String("Description"), policies: map[string]string{}, maxSession: 3600,
	}
	if q.In.Has("MaxSessionDuration") {
		r.maxSession = q.In.Int("MaxSessionDuration")
	}
	s.roles[name] = r
	return protocol.Struct{"Role": s.viewRole(r)}, nil
}

func (s *Service) getRole(q *core.Request) (protocol.Struct, error) {
	r, err := s.role(q)
	if err != nil {
		return nil, err
	}
	if r.isMissing(q) {
		return nil, noSuchEntity("The role with name %s cannot be found.", r.name)
	}
	return protocol.Struct{"Role": s.viewRole(r)}, nil
}

// deleteRole deletes a role without policies that is in no instance profile.
func (s *Service) deleteRole(q *core.Request) (protocol.Struct, error) {
	r, err := s.role(q)
	if err != nil {
		return nil, err
	}
	if len(s.profilesOf(r.name)) > 0 {
		return nil, conflict("DeleteConflict", "Cannot delete entity, must remove roles from instance profile first.")
	}
	if len(r.policies) > 0 {
		return nil, conflict("DeleteConflict", "Cannot delete entity, must delete policies first.")
	}
	delete(s.roles, r.name)
	return nil, nil
}

func (s *Service) updateTrust(q *core.Request) (protocol.Struct, error) {
	r, err := s.role(q)
	if err != nil {
		return nil, err
	}
	if err := checkDocument(q.In.String("PolicyDocument")); err != nil {
		return nil, err
	}
	r.trust = q.In.String("PolicyDocument")
	return nil, nil
}

func (s *Service) tagRole(q *core.Request) (protocol.Struct, error) {
	r, err := s.role(q)
	if err != nil {
		return nil, err
	}
	maps.Copy(r.tags, tagsIn(q.In))
	return nil, nil
}

func (s *Service) putPolicy(q *core.Request) (protocol.Struct, error) {
	r, err := s.role(q)
	if err != nil {
		return nil, err
	}
	if err := checkDocument(q.In.String("PolicyDocument")); err != nil {
		return nil, err
	}
	r.policies[q.In.String("PolicyName")] = q.In.String("PolicyDocument")
	return nil, nil
}

// policy returns the role and the name of a policy that it has.
func (s *Service) policy(q *core.Request) (*role, string, error) {
	r, err := s.role(q)
	if err != nil {
		return nil, "", err
	}
	name := q.In.String("PolicyName")
	if _, found := r.policies[name]; !found {
		return nil, "", noSuchEntity("The role policy with name %s cannot be found.", name)
	}
	return r, name, nil
}

func (s *Service) getPolicy(q *core.Request) (protocol.Struct, error) {
	r, name, err := s.policy(q)
	if err != nil {
		return nil, err
	}
	return protocol.Struct{"RoleName": r.name, "PolicyName": name, "PolicyDocument": escaped(r.policies[name])}, nil
}

func (s *Service) deletePolicy(q *core.Request) (protocol.Struct, error) {
	r, name, err := s.policy(q)
	if err != nil {
		return nil, err
	}
	delete(r.policies, name)
	return nil, nil
}

func (s *Service) listPolicies(q *core.Request) (protocol.Struct, error) {
	r, err := s.role(q)
	if err != nil {
		return nil, err
	}
	return protocol.Struct{"PolicyNames": protocol.ListOf(slices.Sorted(maps.Keys(r.policies))), "IsTruncated": false}, nil
}
