package openstack

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
)

// ServerGroup is a Nova server group, whose policy determines how its servers are spread over hosts.
type ServerGroup struct {
	ID, Name, Policy string
	Members          []string // IDs of servers
}

// UnmarshalJSON decodes a group of any microversion: until 2.63 it has a list of policies, which always has one element.
func (g *ServerGroup) UnmarshalJSON(data []byte) error {
	var in struct {
		ID       string   `json:"id"`
		Name     string   `json:"name"`
		Policy   string   `json:"policy"`
		Policies []string `json:"policies"`
		Members  []string `json:"members"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	if in.Policy == "" && len(in.Policies) > 0 {
		in.Policy = in.Policies[0]
	}
	*g = ServerGroup{ID: in.ID, Name: in.Name, Policy: in.Policy, Members: in.Members}
	return nil
}

// serverGroupsMicroversion is the first with the soft policies, supported since Mitaka. Later ones have a single policy instead of a
// list, with rules, which add nothing about the policies, and fail in older clouds.
const serverGroupsMicroversion = "2.15"

func (s *Session) serverGroups() resource[ServerGroup] {
	return resource[ServerGroup]{
		session: s, service: computeService, microversion: serverGroupsMicroversion,
		path: "os-server-groups", singular: "server_group", plural: "server_groups",
	}
}

// ListServerGroups returns the server groups of the session's project. Nova returns at most a thousand without an indication that
// there are more, which the usual quota prevents.
func (s *Session) ListServerGroups(ctx context.Context) ([]ServerGroup, error) {
	return s.serverGroups().list(ctx, noFilter[ServerGroup]{})
}

// GetServerGroup returns a server group. It fails with cloud.NotFound when there is none.
func (s *Session) GetServerGroup(ctx context.Context, id string) (ServerGroup, error) {
	return s.serverGroups().get(ctx, id)
}

// CreateServerGroup creates a server group with one of the policies affinity, anti-affinity, soft-affinity and
// soft-anti-affinity. Names need not be unique. It fails with cloud.QuotaExceeded if the quota is exceeded.
func (s *Session) CreateServerGroup(ctx context.Context, name, policy string) (ServerGroup, error) {
	created, err := s.serverGroups().create(ctx, map[string]any{"name": name, "policies": []string{policy}})
	if fault, ok := errors.AsType[*ResponseError](err); ok && fault.Status == http.StatusForbidden {
		return created, asQuotaError(err, s.exceededServerGroupQuotas(ctx))
	}
	return created, err
}

// DeleteServerGroup deletes a server group. Its servers are kept. It fails with cloud.NotFound if there is none.
func (s *Session) DeleteServerGroup(ctx context.Context, id string) error {
	return s.serverGroups().remove(ctx, id, nil)
}

// noFilter is the filter that matches all objects.
type noFilter[T any] struct{}

func (noFilter[T]) query() url.Values { return url.Values{} }
func (noFilter[T]) matches(T) bool    { return true }
