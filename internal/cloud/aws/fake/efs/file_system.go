package efs

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
)

type fileSystem struct {
	visibility

	id, arn, token, state, performance string
	encrypted                          bool
	tags                               map[string]string
	created                            time.Time
}

func (f *fileSystem) tagList() []any {
	out := []any{}
	for _, key := range slices.Sorted(maps.Keys(f.tags)) {
		out = append(out, protocol.Struct{"Key": key, "Value": f.tags[key]})
	}
	return out
}

func (s *Service) viewSystem(f *fileSystem) protocol.Struct {
	return protocol.Struct{
		"FileSystemId": f.id, "FileSystemArn": f.arn, "CreationToken": f.token, "LifeCycleState": f.state, "OwnerId": s.core.Config.AccountID, "CreationTime": f.created,
		"NumberOfMountTargets": len(s.targetsOf(f.id)), "SizeInBytes": protocol.Struct{"Value": 6144}, "PerformanceMode": f.performance, "ThroughputMode": "bursting",
		"Encrypted": f.encrypted, "Name": protocol.OrNil(f.tags["Name"]), "Tags": f.tagList(),
	}
}

// system returns a file system by its ID or ARN.
func (s *Service) system(id string) (*fileSystem, error) {
	for _, f := range s.systems {
		if f.id == id || f.arn == id {
			return f, nil
		}
	}
	return nil, systemNotFound(id)
}

func systemNotFound(id string) error {
	return protocol.Fail("FileSystemNotFound", "File system '%s' does not exist.", id)
}

// createSystem refuses a token that is in use, and tells which file system has it.
func (s *Service) createSystem(q *core.Request) (protocol.Struct, error) {
	token := q.In.String("CreationToken")
	for _, f := range s.systems {
		if f.token == token {
			return nil, &core.DetailedError{
				Cause:   protocol.Fail("FileSystemAlreadyExists", "File system '%s' already exists with creation token '%s'", f.id, token),
				Details: map[string]string{"FileSystemId": f.id},
			}
		}
	}
	if !s.core.HasRoom(QuotaFileSystems, len(s.systems)) {
		return nil, protocol.Fail("FileSystemLimitExceeded", "You have reached the maximum number of file systems in this region")
	}
	tags, err := tagsIn(q)
	if err != nil {
		return nil, err
	}
	f := &fileSystem{
		visibility: s.newVisibility(), id: s.core.NewID("fs"), token: token, state: stateCreating, performance: "generalPurpose", encrypted: q.In.Bool("Encrypted"),
		tags: tags, created: s.core.Now(),
	}
	if q.In.Has("PerformanceMode") {
		f.performance = q.In.String("PerformanceMode")
	}
	f.arn = s.core.ARN("elasticfilesystem", s.core.Config.Region, "file-system/"+f.id)
	s.systems = append(s.systems, f)
	s.core.BeginTransition(core.FileSystemCreate, f.id, func(t core.Transition) { f.state = finalState(t) })
	return s.viewSystem(f), nil
}

// finalState is that of a creation.
func finalState(t core.Transition) string {
	if t.Fail {
		return stateError
	}
	return stateAvailable
}

func (s *Service) describeSystems(q *core.Request) (protocol.Struct, error) {
	id, token := q.In.String("FileSystemId"), q.In.String("CreationToken")
	found := []*fileSystem{}
	for _, f := range s.systems {
		if (id == "" || f.id == id || f.arn == id) && (token == "" || f.token == token) && !f.isMissing(q) {
			found = append(found, f)
		}
	}
	if id != "" && len(found) == 0 {
		return nil, systemNotFound(id)
	}
	shown, next := page(q, found, "Marker", "MaxItems")
	views := []any{}
	for _, f := range shown {
		s.core.CountRead(f.id)
		views = append(views, s.viewSystem(f))
	}
	return protocol.Struct{"FileSystems": views, "Marker": marker(q), "NextMarker": next}, nil
}

// marker is that of the request, which a response repeats.
func marker(q *core.Request) any { return protocol.OrNil(q.In.String("Marker")) }

// deleteSystem refuses a file system with mount targets, whatever their state is.
func (s *Service) deleteSystem(q *core.Request) (protocol.Struct, error) {
	f, err := s.system(q.In.String("FileSystemId"))
	if err != nil {
		return nil, err
	}
	if used := s.targetsOf(f.id); len(used) > 0 {
		ids := make([]string, 0, len(used))
		for _, t := range used {
			ids = append(ids, t.id)
		}
		return nil, protocol.Fail("FileSystemInUse", "File system '%s' has existing mount targets: %s", f.id, strings.Join(ids, ", "))
	}
	if f.state == stateDeleting {
		return nil, nil
	}
	s.core.CancelTransition(f.id)
	f.state = stateDeleting
	s.core.BeginTransition(core.FileSystemDelete, f.id, func(core.Transition) {
		s.systems = slices.DeleteFunc(s.systems, func(other *fileSystem) bool { return other == f })
	})
	return nil, nil
}
