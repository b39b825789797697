package fake

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

func equalFold(a, b string) bool { return strings.EqualFold(a, b) }

func (c *Cloud) registerKeystone() {
	c.keystone.tokens, c.keystone.roles = map[string]*token{}, map[string]string{}
	for _, role := range []string{roleAdmin, roleMember, roleReader, roleBalancers} {
		c.keystone.roles[role] = newHexID()
	}
	e := endpoint{service: wire.Keystone, prefix: keystonePrefix}
	version := func(q *request) map[string]any {
		return map[string]any{
			"id": "v3.14", "status": "stable", "updated": "2020-04-07T00:00:00Z", "media-types": []any{},
			"links": []any{map[string]any{"rel": "self", "href": q.base() + keystonePrefix + "/v3/"}},
		}
	}
	list := func(q *request) (reply, error) {
		versions := map[string]any{"values": []any{version(q)}}
		return reply{status: http.StatusMultipleChoices, body: map[string]any{"versions": versions}}, nil
	}
	one := func(q *request) (reply, error) { return ok(map[string]any{"version": version(q)}) }
	c.open(e, "GET /{$}", list)
	c.open(e, "GET /v3", one)
	c.open(e, "GET /v3/{$}", one)
	c.open(e, "POST /v3/auth/tokens", c.issueToken)
	c.route(e, "GET /v3/auth/tokens", c.showToken)
	c.route(e, "DELETE /v3/auth/tokens", c.revokeToken)
	c.route(e, "GET /v3/auth/catalog", func(q *request) (reply, error) {
		return ok(map[string]any{"catalog": c.catalog(q.base(), q.projectID), "links": map[string]any{}})
	})
	c.route(e, "GET /v3/auth/projects", c.listOwnProjects)
	const ofUser = "/v3/users/{user}/application_credentials"
	c.route(e, "POST "+ofUser, c.createAppCredential)
	c.route(e, "GET "+ofUser, c.listAppCredentials)
	c.route(e, "DELETE "+ofUser+"/{id}", c.deleteAppCredential)
	c.registerOperator(e)
	c.otherwise(e)
}

func (c *Cloud) showToken(q *request) (reply, error) {
	t := c.keystone.tokens[q.http.Header.Get("X-Subject-Token")]
	if t == nil || c.now().After(t.expires) {
		return reply{}, notFound("", "Could not find token.")
	}
	return c.tokenReply(q, http.StatusOK, t)
}

func (c *Cloud) revokeToken(q *request) (reply, error) {
	id := q.http.Header.Get("X-Subject-Token")
	if c.keystone.tokens[id] == nil {
		return reply{}, notFound("", "Could not find token.")
	}
	delete(c.keystone.tokens, id)
	return noContent()
}

func (c *Cloud) listOwnProjects(q *request) (reply, error) {
	out := []map[string]any{}
	u := c.keystone.user(q.userID)
	for _, p := range c.keystone.projects {
		if u.roles[p.id] != nil {
			out = append(out, map[string]any{"id": p.id, "name": p.name, "domain_id": domainID, "enabled": true, "is_domain": false})
		}
	}
	return ok(map[string]any{"projects": out, "links": map[string]any{}})
}

func (a *appCredential) view() map[string]any {
	return map[string]any{
		"id": a.id, "name": a.name, "project_id": a.projectID, "description": nil, "expires_at": nil,
		"unrestricted": false, "roles": []any{map[string]any{"name": roleMember}},
	}
}

func (c *Cloud) createAppCredential(q *request) (reply, error) {
	if q.path("user") != q.userID {
		return reply{}, forbidden("", "You are not authorized to perform the requested action: identity:create_application_credential.")
	}
	if q.appCredentialID != "" {
		return reply{}, forbidden("", "Using method 'application_credential' is not allowed for managing additional application credentials.")
	}
	var in struct {
		Credential struct {
			Name   string `json:"name"`
			Secret string `json:"secret"`
		} `json:"application_credential"`
	}
	if json.Unmarshal(q.body, &in) != nil || in.Credential.Name == "" {
		return reply{}, badRequest("", "'name' is a required property")
	}
	if slices.ContainsFunc(c.keystone.appCreds, func(a *appCredential) bool {
		return a.userID == q.userID && a.name == in.Credential.Name
	}) {
		return reply{}, conflict("", "Conflict occurred attempting to store application_credential - Duplicate entry found with name %s.", in.Credential.Name)
	}
	a := &appCredential{id: newHexID(), name: in.Credential.Name, secret: in.Credential.Secret, userID: q.userID, projectID: q.projectID}
	if a.secret == "" {
		a.secret = newHexID() + newHexID()
	}
	c.keystone.appCreds = append(c.keystone.appCreds, a)
	view := a.view()
	view["secret"] = a.secret // shown this once
	return created(map[string]any{"application_credential": view})
}

func (c *Cloud) listAppCredentials(q *request) (reply, error) {
	out := []map[string]any{}
	for _, a := range c.keystone.appCreds {
		if a.userID == q.path("user") && a.userID == q.userID {
			out = append(out, a.view())
		}
	}
	return ok(map[string]any{"application_credentials": out, "links": map[string]any{}})
}

func (c *Cloud) deleteAppCredential(q *request) (reply, error) {
	mine := func(a *appCredential) bool { return a.id == q.path("id") && a.userID == q.userID }
	if !slices.ContainsFunc(c.keystone.appCreds, mine) {
		return reply{}, notFound("", "Could not find Application Credential: %s.", q.path("id"))
	}
	c.keystone.appCreds = slices.DeleteFunc(c.keystone.appCreds, mine)
	c.dropTokens(func(t *token) bool { return t.who.appCredentialID == q.path("id") })
	return noContent()
}
