package fake

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// The body of POST /v3/auth/tokens.
type authRequest struct {
	Identity struct {
		Methods  []string `json:"methods"`
		Password *struct {
			User authUser `json:"user"`
		} `json:"password"`
		Token *struct {
			ID string `json:"id"`
		} `json:"token"`
		AppCredential *struct {
			ID     string    `json:"id"`
			Name   string    `json:"name"`
			Secret string    `json:"secret"`
			User   *authUser `json:"user"`
		} `json:"application_credential"`
	} `json:"identity"`
	Scope *authScope `json:"scope"`
}

type authName struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type authUser struct {
	authName
	Password string    `json:"password"`
	Domain   *authName `json:"domain"`
}

type authScope struct {
	Project *struct {
		authName
		Domain *authName `json:"domain"`
	} `json:"project"`
	Domain *authName `json:"domain"`
}

// isDefault reports whether the domain is the one that exists; Keystone compares names without case.
func (d *authName) isDefault() bool {
	return d != nil && (d.ID == domainID || d.ID == "" && equalFold(d.Name, DefaultDomain))
}

func (c *Cloud) issueToken(q *request) (reply, error) {
	raw, found := unwrap(q.body, "auth")
	var in authRequest
	if !found || json.Unmarshal(raw, &in) != nil || len(in.Identity.Methods) == 0 {
		return reply{}, badRequest("", "Expecting to find auth in request body. The server could not comply with the request since it is either malformed or otherwise incorrect. The client is assumed to be in error.")
	}
	who, err := c.authenticate(&in)
	if err != nil {
		return reply{}, err
	}
	t := &token{
		id: "gAAAAA" + newHexID() + newHexID(), who: *who, method: in.Identity.Methods[0],
		issued: c.now(), expires: c.now().Add(c.config.tokenLifetime),
	}
	c.keystone.tokens[t.id] = t
	return c.tokenReply(q, http.StatusCreated, t)
}

func (c *Cloud) authenticate(in *authRequest) (*identity, *wire.Error) {
	id := &in.Identity
	switch {
	case slices.Contains(id.Methods, "password") && id.Password != nil:
		u := c.findUser(&id.Password.User)
		if u == nil || u.password != id.Password.User.Password {
			return nil, unauthenticated()
		}
		return c.scope(u, in.Scope)
	case slices.Contains(id.Methods, "application_credential") && id.AppCredential != nil:
		if in.Scope != nil {
			return nil, fail(http.StatusUnauthorized, "", "Application credentials cannot request a scope.")
		}
		return c.authenticateApp(in)
	case slices.Contains(id.Methods, "token") && id.Token != nil:
		old, err := c.identify(id.Token.ID)
		if err != nil {
			return nil, err
		}
		return c.scope(c.keystone.user(old.userID), in.Scope)
	default:
		return nil, unauthenticated()
	}
}

func (c *Cloud) authenticateApp(in *authRequest) (*identity, *wire.Error) {
	sent := in.Identity.AppCredential
	var owner *user
	if sent.ID == "" {
		if sent.User == nil || sent.Name == "" {
			return nil, badRequest("", "Expecting to find user in application_credential. The server could not comply with the request since it is either malformed or otherwise incorrect. The client is assumed to be in error.")
		}
		if owner = c.findUser(sent.User); owner == nil {
			return nil, unauthenticated()
		}
	}
	for _, a := range c.keystone.appCreds {
		byName := owner != nil && a.userID == owner.id && a.name == sent.Name
		if (a.id == sent.ID || byName) && a.secret == sent.Secret {
			who, err := c.scopeTo(c.keystone.user(a.userID), c.keystone.project(a.projectID))
			if err == nil {
				who.appCredentialID = a.id
			}
			return who, err
		}
	}
	return nil, unauthenticated()
}

// findUser finds a user by ID, or by name and domain.
func (c *Cloud) findUser(in *authUser) *user {
	for _, u := range c.keystone.users {
		if in.ID != "" && u.id == in.ID || in.ID == "" && u.name == in.Name && in.Domain.isDefault() {
			return u
		}
	}
	return nil
}

func (c *Cloud) scope(u *user, s *authScope) (*identity, *wire.Error) {
	switch {
	case s == nil:
		return &identity{userID: u.id, userName: u.name}, nil
	case s.Project != nil:
		for _, p := range c.keystone.projects {
			if s.Project.ID == p.id || s.Project.ID == "" && s.Project.Name == p.name && s.Project.Domain.isDefault() {
				return c.scopeTo(u, p)
			}
		}
	}
	return nil, unauthenticated() // also for a domain scope: nobody has a role on the domain
}

func (c *Cloud) scopeTo(u *user, p *project) (*identity, *wire.Error) {
	if u == nil || p == nil || u.disabled || p.disabled || u.roles[p.id] == nil {
		return nil, unauthenticated()
	}
	return &identity{userID: u.id, userName: u.name, projectID: p.id, projectName: p.name, roles: withImplied(u.roles[p.id])}, nil
}

// withImplied adds the roles that others imply: an administrator is a member, and a member is a reader.
func withImplied(roles []string) []string {
	for _, implied := range [][2]string{{roleAdmin, roleMember}, {roleMember, roleReader}} {
		if slices.Contains(roles, implied[0]) && !slices.Contains(roles, implied[1]) {
			roles = with(roles, implied[1])
		}
	}
	return roles
}

func keystoneTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

func (c *Cloud) tokenReply(q *request, status int, t *token) (reply, error) {
	domain := map[string]any{"id": domainID, "name": DefaultDomain}
	body := map[string]any{
		"methods":    []string{t.method},
		"audit_ids":  []string{t.id[len(t.id)-22:]},
		"issued_at":  keystoneTime(t.issued),
		"expires_at": keystoneTime(t.expires),
		"user": map[string]any{
			"id": t.who.userID, "name": t.who.userName, "domain": domain, "password_expires_at": nil,
		},
	}
	if t.who.projectID != "" {
		roles := []map[string]any{}
		for _, r := range t.who.roles {
			roles = append(roles, map[string]any{"id": c.keystone.roles[r], "name": r})
		}
		body["roles"] = roles
		body["is_domain"] = false
		body["project"] = map[string]any{"id": t.who.projectID, "name": t.who.projectName, "domain": domain}
		body["catalog"] = c.catalog(q.base(), t.who.projectID)
	}
	if t.who.appCredentialID != "" {
		body["application_credential"] = map[string]any{"id": t.who.appCredentialID, "restricted": true}
	}
	return reply{status: status, body: map[string]any{"token": body}, header: map[string]string{"X-Subject-Token": t.id}}, nil
}
