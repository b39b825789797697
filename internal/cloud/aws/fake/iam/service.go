package iam

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// Service is IAM. Its methods run with the cloud's lock.
type Service struct {
	core     *core.Cloud
	roles    map[string]*role
	profiles map[string]*profile
}

// entity is what roles and instance profiles have.
type entity struct {
	name, id, path string
	tags           map[string]string
	created        time.Time
	missingReads   int // of delayed consistency
	visible        time.Time
}

type role struct {
	entity

	trust, description string
	policies           map[string]string
	maxSession         int64
}

type profile struct {
	entity

	role string // its name; a profile has one at most
}

// New returns IAM without roles, and registers its actions.
func New(shared *core.Cloud) (*Service, error) {
	s := &Service{core: shared, roles: map[string]*role{}, profiles: map[string]*profile{}}
	actions := s.roleActions()
	maps.Copy(actions, s.profileActions())
	return s, shared.Register("iam", actions)
}

func noSuchEntity(format string, args ...any) *wire.Error {
	return protocol.FailWith(http.StatusNotFound, "NoSuchEntity", format, args...)
}

func conflict(code, format string, args ...any) *wire.Error {
	return protocol.FailWith(http.StatusConflict, code, format, args...)
}

// newEntity reads path and tags of a new entity.
func (s *Service) newEntity(q *core.Request, name, idPrefix string) (entity, error) {
	path := q.In.String("Path")
	if path == "" {
		path = "/"
	}
	if !strings.HasPrefix(path, "/") || !strings.HasSuffix(path, "/") {
		return entity{}, protocol.Fail("ValidationError", "The specified value for path is invalid. It must begin and end with / and contain only "+
			"alphanumeric characters and/or / characters.")
	}
	return entity{
		name: name, id: core.NewKeyID(idPrefix), path: path, tags: tagsIn(q.In), created: s.core.Now().Truncate(time.Second),
		missingReads: s.core.Config.Lag.Reads, visible: time.Now().Add(s.core.Config.Lag.For),
	}, nil
}

func tagsIn(in protocol.Struct) map[string]string {
	tags := map[string]string{}
	for _, tag := range in.Structs("Tags") {
		tags[tag.String("Key")] = tag.String("Value")
	}
	return tags
}

func (e *entity) tagList() []any {
	out := []any{}
	for _, key := range slices.Sorted(maps.Keys(e.tags)) {
		out = append(out, protocol.Struct{"Key": key, "Value": e.tags[key]})
	}
	return out
}

// isMissing reports whether the entity is not visible yet, and counts the read.
func (e *entity) isMissing(q *core.Request) bool {
	if e.missingReads > 0 && !q.Operator {
		e.missingReads--
		return true
	}
	return !q.Operator && time.Now().Before(e.visible)
}

// checkDocument refuses a policy that is not a JSON object.
func checkDocument(document string) error {
	var policy map[string]any
	if json.Unmarshal([]byte(document), &policy) != nil {
		return protocol.Fail("MalformedPolicyDocument", "This policy contains invalid Json")
	}
	return nil
}

// escaped is a document as responses have it: with the encoding of URLs.
func escaped(document string) string {
	return strings.ReplaceAll(url.QueryEscape(document), "+", "%20")
}

// Names lists the roles and instance profiles, as "role/name" and "instance-profile/name", sorted.
func (s *Service) Names() []string {
	var out []string
	for name := range s.roles {
		out = append(out, "role/"+name)
	}
	for name := range s.profiles {
		out = append(out, "instance-profile/"+name)
	}
	slices.Sort(out)
	return out
}
