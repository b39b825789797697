package fake

import (
	"net/http"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

func (svc *keystoneService) registerKeystone() {
	svc.tokens, svc.roles = map[string]*token{}, map[string]string{}
	for _, role := range []string{roleAdmin, roleMember, roleReader, roleBalancers} {
		svc.roles[role] = core.NewHexID()
	}
	e := endpoint{service: wire.Keystone, prefix: keystonePrefix}
	version := func(q *request) map[string]any {
		return map[string]any{
			"id": "v3.14", "status": "stable", "updated": "2020-04-07T00:00:00Z",
			"media-types": []any{map[string]any{"base": "application/json", "type": "application/vnd.openstack.identity-v3+json"}},
			"links":       []any{map[string]any{"rel": "self", "href": q.base() + keystonePrefix + "/v3/"}},
		}
	}
	list := func(q *request) (reply, error) {
		versions := map[string]any{"values": []any{version(q)}}
		return reply{status: http.StatusMultipleChoices, body: map[string]any{"versions": versions}}, nil
	}
	one := func(q *request) (reply, error) { return ok(map[string]any{"version": version(q)}) }
	svc.routeWithoutToken(e, "GET /{$}", list)
	svc.routeWithoutToken(e, "GET /v3", one)
	svc.routeWithoutToken(e, "GET /v3/{$}", one)
	svc.routeWithoutToken(e, "POST /v3/auth/tokens", svc.issueToken)
	svc.route(e, "GET /v3/auth/tokens", svc.showToken)
	svc.route(e, "DELETE /v3/auth/tokens", svc.revokeToken)
	svc.route(e, "GET /v3/auth/catalog", func(q *request) (reply, error) {
		return ok(map[string]any{"catalog": svc.catalog(q.base(), q.projectID), "links": map[string]any{}})
	})
	svc.route(e, "GET /v3/auth/projects", svc.listOwnProjects)
	svc.route(e, "POST /v3/users/{user}/password", svc.changePassword)
	svc.registerAppCredentials(e)
	svc.registerOperator(e)
	svc.registerFallback(e)
}

// subject returns the token that a call is about, to its user and to administrators.
func (svc *keystoneService) subject(q *request, action string) (*token, error) {
	id := q.http.Header.Get("X-Subject-Token")
	if id == "" && !q.admin() {
		return nil, notAllowed(action)
	}
	t := svc.tokens[id]
	if t == nil || !svc.now().Before(t.expires) {
		return nil, unknownToken(id)
	}
	if t.who.userID != q.userID && !q.admin() {
		return nil, notAllowed(action)
	}
	return t, nil
}

func (svc *keystoneService) showToken(q *request) (reply, error) {
	t, err := svc.subject(q, "identity:validate_token")
	if err != nil {
		return reply{}, err
	}
	return svc.tokenReply(q, http.StatusOK, t)
}

func (svc *keystoneService) revokeToken(q *request) (reply, error) {
	t, err := svc.subject(q, "identity:revoke_token")
	if err != nil {
		return reply{}, err
	}
	delete(svc.tokens, t.id)
	return noContent()
}

// changePassword is for users who know the old one.
func (svc *keystoneService) changePassword(q *request) (reply, error) {
	var in struct {
		Password string `json:"password"`
		Original string `json:"original_password"`
	}
	if err := readIdentity(q, "user", &in); err != nil {
		return reply{}, err
	}
	u, err := svc.userOf(q)
	if err != nil {
		return reply{}, err
	}
	if u.password != in.Original {
		return reply{}, core.Unauthenticated()
	}
	u.password = in.Password
	svc.dropTokens(func(t *token) bool { return t.who.userID == u.id })
	return noContent()
}

func (svc *keystoneService) listOwnProjects(q *request) (reply, error) {
	out := []map[string]any{}
	u := svc.user(q.userID)
	for _, p := range svc.projects {
		if u.roles[p.id] != nil {
			out = append(out, p.view())
		}
	}
	return identityList(q, "projects", out)
}
