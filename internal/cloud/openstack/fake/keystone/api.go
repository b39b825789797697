package keystone

import (
	"net/http"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
)

func (svc *Service) registerKeystone() {
	svc.Tokens, svc.roles = map[string]*Token{}, map[string]string{}
	for _, role := range []string{core.RoleAdmin, core.RoleMember, roleReader, core.RoleBalancers} {
		svc.roles[role] = core.NewHexID()
	}
	e := core.Endpoint{Service: services.Keystone, Prefix: core.KeystonePrefix}
	version := func(q *core.Request) map[string]any {
		return map[string]any{
			"id": "v3.14", "status": "stable", "updated": "2020-04-07T00:00:00Z",
			"media-types": []any{map[string]any{"base": "application/json", "type": "application/vnd.openstack.identity-v3+json"}},
			"links":       []any{map[string]any{"rel": "self", "href": q.Base() + core.KeystonePrefix + "/v3/"}},
		}
	}
	list := func(q *core.Request) (core.Reply, error) {
		versions := map[string]any{"values": []any{version(q)}}
		return core.Reply{Status: http.StatusMultipleChoices, Body: map[string]any{"versions": versions}}, nil
	}
	one := func(q *core.Request) (core.Reply, error) { return core.OK(map[string]any{"version": version(q)}) }
	svc.RouteWithoutToken(e, "GET /{$}", list)
	svc.RouteWithoutToken(e, "GET /v3", one)
	svc.RouteWithoutToken(e, "GET /v3/{$}", one)
	svc.RouteWithoutToken(e, "POST /v3/auth/tokens", svc.issueToken)
	svc.Route(e, "GET /v3/auth/tokens", svc.showToken)
	svc.Route(e, "DELETE /v3/auth/tokens", svc.revokeToken)
	svc.Route(e, "GET /v3/auth/catalog", func(q *core.Request) (core.Reply, error) {
		return core.OK(map[string]any{"catalog": svc.Catalog(q.Base(), q.ProjectID), "links": map[string]any{}})
	})
	svc.Route(e, "GET /v3/auth/projects", svc.listOwnProjects)
	svc.Route(e, "POST /v3/users/{user}/password", svc.changePassword)
	svc.registerAppCredentials(e)
	svc.registerOperator(e)
	svc.RegisterFallback(e)
}

// subject returns the token that a call is about, if the caller is its user or an administrator.
func (svc *Service) subject(q *core.Request, action string) (*Token, error) {
	id := q.HTTP.Header.Get("X-Subject-Token")
	if id == "" && !q.Admin() {
		return nil, notAllowed(action)
	}
	t := svc.Tokens[id]
	if t == nil || !svc.Now().Before(t.expires) {
		return nil, unknownToken(id)
	}
	if t.Who.UserID != q.UserID && !q.Admin() {
		return nil, notAllowed(action)
	}
	return t, nil
}

func (svc *Service) showToken(q *core.Request) (core.Reply, error) {
	t, err := svc.subject(q, "identity:validate_token")
	if err != nil {
		return core.Reply{}, err
	}
	return svc.tokenReply(q, http.StatusOK, t)
}

func (svc *Service) revokeToken(q *core.Request) (core.Reply, error) {
	t, err := svc.subject(q, "identity:revoke_token")
	if err != nil {
		return core.Reply{}, err
	}
	delete(svc.Tokens, t.id)
	return core.NoContent()
}

// changePassword is for users with the old password.
func (svc *Service) changePassword(q *core.Request) (core.Reply, error) {
	var in struct {
		Password string `json:"password"`
		Original string `json:"original_password"`
	}
	if err := readIdentity(q, "user", &in); err != nil {
		return core.Reply{}, err
	}
	u, err := svc.userOf(q)
	if err != nil {
		return core.Reply{}, err
	}
	if u.Password != in.Original {
		return core.Reply{}, core.Unauthenticated()
	}
	u.Password = in.Password
	svc.DropTokens(func(t *Token) bool { return t.Who.UserID == u.ID })
	return core.NoContent()
}

func (svc *Service) listOwnProjects(q *core.Request) (core.Reply, error) {
	out := []map[string]any{}
	u := svc.User(q.UserID)
	for _, p := range svc.projects {
		if u.Roles[p.ID] != nil {
			out = append(out, p.view())
		}
	}
	return identityList(q, "projects", out)
}
