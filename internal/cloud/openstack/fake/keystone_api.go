package fake

import (
	"net/http"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

func (c *Cloud) registerKeystone() {
	c.keystone.tokens, c.keystone.roles = map[string]*token{}, map[string]string{}
	for _, role := range []string{roleAdmin, roleMember, roleReader, roleBalancers} {
		c.keystone.roles[role] = core.NewHexID()
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
	c.routeWithoutToken(e, "GET /{$}", list)
	c.routeWithoutToken(e, "GET /v3", one)
	c.routeWithoutToken(e, "GET /v3/{$}", one)
	c.routeWithoutToken(e, "POST /v3/auth/tokens", c.issueToken)
	c.route(e, "GET /v3/auth/tokens", c.showToken)
	c.route(e, "DELETE /v3/auth/tokens", c.revokeToken)
	c.route(e, "GET /v3/auth/catalog", func(q *request) (reply, error) {
		return ok(map[string]any{"catalog": c.catalog(q.base(), q.projectID), "links": map[string]any{}})
	})
	c.route(e, "GET /v3/auth/projects", c.listOwnProjects)
	c.route(e, "POST /v3/users/{user}/password", c.changePassword)
	c.registerAppCredentials(e)
	c.registerOperator(e)
	c.registerFallback(e)
}

// subject returns the token that a call is about, to its user and to administrators.
func (c *Cloud) subject(q *request, action string) (*token, error) {
	id := q.http.Header.Get("X-Subject-Token")
	if id == "" && !q.admin() {
		return nil, notAllowed(action)
	}
	t := c.keystone.tokens[id]
	if t == nil || !c.now().Before(t.expires) {
		return nil, unknownToken(id)
	}
	if t.who.userID != q.userID && !q.admin() {
		return nil, notAllowed(action)
	}
	return t, nil
}

func (c *Cloud) showToken(q *request) (reply, error) {
	t, err := c.subject(q, "identity:validate_token")
	if err != nil {
		return reply{}, err
	}
	return c.tokenReply(q, http.StatusOK, t)
}

func (c *Cloud) revokeToken(q *request) (reply, error) {
	t, err := c.subject(q, "identity:revoke_token")
	if err != nil {
		return reply{}, err
	}
	delete(c.keystone.tokens, t.id)
	return noContent()
}

// changePassword is for users who know the old one.
func (c *Cloud) changePassword(q *request) (reply, error) {
	var in struct {
		Password string `json:"password"`
		Original string `json:"original_password"`
	}
	if err := readIdentity(q, "user", &in); err != nil {
		return reply{}, err
	}
	u, err := c.userOf(q)
	if err != nil {
		return reply{}, err
	}
	if u.password != in.Original {
		return reply{}, core.Unauthenticated()
	}
	u.password = in.Password
	c.dropTokens(func(t *token) bool { return t.who.userID == u.id })
	return noContent()
}

func (c *Cloud) listOwnProjects(q *request) (reply, error) {
	out := []map[string]any{}
	u := c.keystone.user(q.userID)
	for _, p := range c.keystone.projects {
		if u.roles[p.id] != nil {
			out = append(out, p.view())
		}
	}
	return identityList(q, "projects", out)
}
