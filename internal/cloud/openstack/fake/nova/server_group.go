package nova

import (
	"encoding/json"
	"strconv"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/schema"
)

// ServerGroup is a Nova server group.
type ServerGroup struct {
	ID               string   `json:"id"`
	Name             string   `json:"name"`
	Policy           string   `json:"policy"`
	MaxServerPerHost int      `json:"max_server_per_host,omitempty"` // a rule of the policy anti-affinity; 0 for none
	Members          []string `json:"members"`
	ProjectID        string   `json:"project_id"`
	UserID           string   `json:"user_id"`
}

// view has "policies" before microversion 2.64, and "policy" with "rules" from then on.
func (g *ServerGroup) view(micro int) map[string]any {
	view := map[string]any{"id": g.ID, "name": g.Name, "members": g.Members}
	if micro >= 213 {
		view["project_id"], view["user_id"] = g.ProjectID, g.UserID
	}
	if micro < 264 {
		view["policies"], view["metadata"] = []string{g.Policy}, map[string]string{}
		return view
	}
	rules := map[string]any{}
	if g.MaxServerPerHost > 0 {
		rules["max_server_per_host"] = g.MaxServerPerHost
	}
	view["policy"], view["rules"] = g.Policy, rules
	return view
}

func (svc *Service) registerServerGroups(e core.Endpoint) {
	svc.novaRoute(e, "GET /os-server-groups", func(q *core.Request, micro int) (core.Reply, error) {
		rows := svc.Groups.Where(func(g *ServerGroup) bool {
			return g.ProjectID == q.ProjectID || q.Admin() && q.Values.Has("all_projects")
		})
		err := numberParameters(q, "limit", "offset")
		if err == nil && micro >= 275 {
			err = onlyParameters(q, "all_projects", "limit", "offset")
		}
		if err != nil {
			return core.Reply{}, err
		}
		offset, _ := strconv.Atoi(q.Values.Get("offset"))
		rows = rows[min(max(offset, 0), len(rows)):]
		if limit, err := strconv.Atoi(q.Values.Get("limit")); err == nil && limit > 0 {
			rows = rows[:min(limit, len(rows))]
		}
		out := []any{}
		for _, g := range rows {
			out = append(out, g.view(micro))
		}
		return core.OK(map[string]any{"server_groups": out})
	})
	svc.novaRoute(e, "POST /os-server-groups", svc.createServerGroup)
	svc.novaRoute(e, "GET /os-server-groups/{id}", func(q *core.Request, micro int) (core.Reply, error) {
		g, err := svc.findServerGroup(q)
		if err != nil {
			return core.Reply{}, err
		}
		return core.OK(map[string]any{"server_group": g.view(micro)})
	})
	svc.novaRoute(e, "DELETE /os-server-groups/{id}", func(q *core.Request, _ int) (core.Reply, error) {
		g, err := svc.findServerGroup(q)
		if err != nil {
			return core.Reply{}, err
		}
		svc.Groups.Remove(g.ID)
		return core.NoContent()
	})
}

func (svc *Service) findServerGroup(q *core.Request) (*ServerGroup, error) {
	g := svc.Groups.Get(q.Path("id"))
	if g == nil || !q.Owns(g.ProjectID) {
		return nil, core.NotFound("", "Instance group %s could not be found.", q.Path("id"))
	}
	return g, nil
}

// serverGroupRule is the schema of the microversion.
func serverGroupRule(micro int) schema.Rule {
	policies := []string{"anti-affinity", "affinity"}
	if micro >= 215 {
		policies = append(policies, "soft-anti-affinity", "soft-affinity")
	}
	policy := schema.AllOf(schema.HasType("string"), schema.OneOf(policies...))
	required := []string{"name", "policies"}
	properties := []schema.Property{schema.Attribute("name", schema.Name), schema.Attribute("policies", schema.AllOf(schema.ArrayOf(policy), schema.LengthBetween(1, 1)))}
	if micro >= 264 {
		required = []string{"name", "policy"}
		properties = []schema.Property{schema.Attribute("name", schema.Name), schema.Attribute("policy", policy), schema.Attribute("rules", schema.Object(nil, schema.Attribute("max_server_per_host", schema.Number(1))))}
	}
	return schema.Object([]string{"server_group"}, schema.Attribute("server_group", schema.Object(required, properties...)))
}

func (svc *Service) createServerGroup(q *core.Request, micro int) (core.Reply, error) {
	if err := schema.Validate(q.Body, serverGroupRule(micro)); err != nil {
		return core.Reply{}, err
	}
	var in struct {
		Name     string   `json:"name"`
		Policies []string `json:"policies"`
		Policy   string   `json:"policy"`
		Rules    struct {
			MaxServerPerHost json.Number `json:"max_server_per_host"`
		} `json:"rules"`
	}
	if raw, _ := core.Unwrap(q.Body, "server_group"); json.Unmarshal(raw, &in) != nil {
		return core.Reply{}, core.BadRequest("", "Malformed request body")
	}
	policy := in.Policy
	if micro < 264 {
		policy = in.Policies[0]
	}
	most, _ := strconv.Atoi(in.Rules.MaxServerPerHost.String()) // the schema has seen to it
	if svc.Exceeds(q.ProjectID, "server_groups", svc.ownServerGroups(q.ProjectID), 1) {
		return core.Reply{}, core.Forbidden("", "Quota exceeded, too many server groups.")
	}
	if most > 0 && policy != "anti-affinity" {
		return core.Reply{}, core.BadRequest("", "Only anti-affinity policy supports rules.")
	}
	g := &ServerGroup{
		ID: core.NewUUID(), Name: in.Name, Policy: policy, MaxServerPerHost: most, Members: []string{}, ProjectID: q.ProjectID, UserID: q.UserID,
	}
	svc.Groups.Add(g)
	return core.OK(map[string]any{"server_group": g.view(micro)})
}
