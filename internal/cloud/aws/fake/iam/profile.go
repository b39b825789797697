package iam

import (
	"maps"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
)

func (s *Service) profileActions() map[string]core.Action {
	return map[string]core.Action{
		"CreateInstanceProfile":         {Reads: "InstanceProfileName Path Tags", Do: s.createProfile},
		"GetInstanceProfile":            {Reads: "InstanceProfileName", Do: s.getProfile},
		"DeleteInstanceProfile":         {Reads: "InstanceProfileName", Do: s.deleteProfile},
		"AddRoleToInstanceProfile":      {Reads: "InstanceProfileName RoleName", Do: s.addRole},
		"RemoveRoleFromInstanceProfile": {Reads: "InstanceProfileName RoleName", Do: s.removeRole},
		"ListInstanceProfilesForRole":   {Reads: "RoleName", Do: s.listProfiles},
		"TagInstanceProfile":            {Reads: "InstanceProfileName Tags", Do: s.tagProfile},
	}
}

func (s *Service) viewProfile(p *profile) protocol.Struct {
	roles := []any{}
	if r := s.roles[p.role]; r != nil {
		roles = append(roles, s.viewRole(r))
	}
	return protocol.Struct{
		"InstanceProfileName": p.name, "InstanceProfileId": p.id, "Path": p.path, "Arn": s.core.ARN("iam", "", "instance-profile"+p.path+p.name),
		"CreateDate": p.created, "Roles": roles, "Tags": p.tagList(),
	}
}

func (s *Service) profile(q *core.Request) (*profile, error) {
	name := q.In.String("InstanceProfileName")
	p := s.profiles[name]
	if p == nil {
		return nil, noSuchEntity("Instance Profile %s cannot be found.", name)
	}
	return p, nil
}

func (s *Service) profilesOf(role string) []*profile {
	var out []*profile
	for _, name := range slices.Sorted(maps.Keys(s.profiles)) {
		if s.profiles[name].role == role {
			out = append(out, s.profiles[name])
		}
	}
	return out
}

func (s *Service) createProfile(q *core.Request) (protocol.Struct, error) {
	name := q.In.String("InstanceProfileName")
	if s.profiles[name] != nil {
		return nil, conflict("EntityAlreadyExists", "Instance Profile %s already exists.", name)
	}
	created, err := s.newEntity(q, name, "AIPA")
	if err != nil {
		return nil, err
	}
	p := &profile{entity: created}
	s.profiles[name] = p
	return protocol.Struct{"InstanceProfile": s.viewProfile(p)}, nil
}

func (s *Service) getProfile(q *core.Request) (protocol.Struct, error) {
	p, err := s.profile(q)
	if err != nil {
		return nil, err
	}
	if p.isMissing(q) {
		return nil, noSuchEntity("Instance Profile %s cannot be found.", p.name)
	}
	return protocol.Struct{"InstanceProfile": s.viewProfile(p)}, nil
}

func (s *Service) deleteProfile(q *core.Request) (protocol.Struct, error) {
	p, err := s.profile(q)
	if err != nil {
		return nil, err
	}
	if p.role != "" {
		return nil, conflict("DeleteConflict", "Cannot delete entity, must remove roles from instance profile first.")
	}
	delete(s.profiles, p.name)
	return nil, nil
}

// addRole adds the one role of a profile. A second one is refused, also if it is the same.
func (s *Service) addRole(q *core.Request) (protocol.Struct, error) {
	p, err := s.profile(q)
	if err != nil {
		return nil, err
	}
	r, err := s.role(q)
	if err != nil {
		return nil, err
	}
	if p.role != "" {
		return nil, conflict("LimitExceeded", "Cannot exceed quota for InstanceSessionsPerInstanceProfile: 1")
	}
	p.role = r.name
	return nil, nil
}

func (s *Service) removeRole(q *core.Request) (protocol.Struct, error) {
	p, err := s.profile(q)
	if err != nil {
		return nil, err
	}
	if name := q.In.String("RoleName"); p.role != name {
		return nil, noSuchEntity("Role %s in Instance Profile %s cannot be found.", name, p.name)
	}
	p.role = ""
	return nil, nil
}

func (s *Service) listProfiles(q *core.Request) (protocol.Struct, error) {
	r, err := s.role(q)
	if err != nil {
		return nil, err
	}
	views := []any{}
	for _, p := range s.profilesOf(r.name) {
		views = append(views, s.viewProfile(p))
	}
	return protocol.Struct{"InstanceProfiles": views, "IsTruncated": false}, nil
}

func (s *Service) tagProfile(q *core.Request) (protocol.Struct, error) {
	p, err := s.profile(q)
	if err != nil {
		return nil, err
	}
	maps.Copy(p.tags, tagsIn(q.In))
	return nil, nil
}

// FindProfile returns the ARN and ID of the instance profile that has the name or the ARN, and whether other services see it already.
func (s *Service) FindProfile(q *core.Request, name, arn string) (profileARN, id string, found bool) {
	for _, p := range s.profiles {
		known := s.core.ARN("iam", "", "instance-profile"+p.path+p.name)
		if p.name == name || known == arn {
			return known, p.id, !p.isMissing(q)
		}
	}
	return "", "", false
}
