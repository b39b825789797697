package keystone

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
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
		AppCredential *authAppCredential `json:"application_credential"`
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

type authAppCredential struct {
	authName
	Secret string    `json:"secret"`
	User   *authUser `json:"user"`
}

type authScope struct {
	Project *authProject `json:"project"`
	Domain  *authName    `json:"domain"`
	// unscoped is the string "unscoped" instead of an object: not even the user's default project.
	unscoped bool
}

type authProject struct {
	authName
	Domain *authName `json:"domain"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *authScope) UnmarshalJSON(raw []byte) error {
	var word string
	if json.Unmarshal(raw, &word) == nil {
		s.unscoped = word == "unscoped"
		return nil
	}
	type plain authScope
	return json.Unmarshal(raw, (*plain)(s))
}

// isDefault reports whether the domain is the one that exists; Keystone compares names without case.
func (d *authName) isDefault() bool {
	return d != nil && (d.ID == domainID || d.ID == "" && strings.EqualFold(d.Name, core.DefaultDomain))
}

func (svc *Service) issueToken(q *core.Request) (core.Reply, error) {
	in, err := readLogin(q.Body)
	if err != nil {
		return core.Reply{}, err
	}
	t, err := svc.authenticate(in)
	if err != nil {
		return core.Reply{}, err
	}
	svc.Tokens[t.id] = t
	return svc.tokenReply(q, http.StatusCreated, t)
}

// readLogin parses the body and refuses what is invalid without looking up the user.
func readLogin(body []byte) (*authRequest, *wire.Error) {
	var envelope map[string]json.RawMessage
	if len(body) > 0 && json.Unmarshal(body, &envelope) != nil { // it may be JSON, but no object
		return nil, core.Expecting("valid JSON", "request body")
	}
	in := &authRequest{}
	raw, found := envelope["auth"]
	if !found || json.Unmarshal(raw, in) != nil {
		return nil, core.Expecting("auth", "request body")
	}
	for _, method := range in.Identity.Methods {
		sent, supported := map[string]bool{
			"password": in.Identity.Password != nil, "token": in.Identity.Token != nil, "application_credential": in.Identity.AppCredential != nil,
		}[method]
		switch {
		case !supported:
			return nil, core.Fail(http.StatusUnauthorized, "", "Attempted to authenticate with an unsupported method.")
		case !sent:
			return nil, core.Expecting(method, "identity")
		}
	}
	if s := in.Scope; s != nil && s.Project != nil && s.Project.ID == "" && s.Project.Domain == nil {
		return nil, core.Expecting("domain", "project")
	}
	return in, nil
}

func (svc *Service) authenticate(in *authRequest) (*Token, *wire.Error) {
	id := &in.Identity
	has := func(method string) bool { return slices.Contains(id.Methods, method) }
	switch {
	case has("password"):
		return svc.authenticatePassword(in)
	case has("application_credential"):
		if in.Scope != nil {
			return nil, core.Fail(http.StatusUnauthorized, "", "Error authenticating with application credential: Application credentials cannot request a scope.")
		}
		return svc.authenticateApp(id.AppCredential)
	case has("token"):
		return svc.authenticateToken(in)
	default:
		return nil, core.Unauthenticated()
	}
}

func (svc *Service) newToken(caller *core.Identity, method string) *Token {
	now := svc.Now()
	return &Token{
		id: "gAAAAA" + core.NewHexID() + core.NewHexID(), audits: []string{core.NewHexID()}, Who: *caller, methods: []string{method},
		issued: now, expires: now.Add(svc.Config.TokenLifetime),
	}
}

func (svc *Service) authenticatePassword(in *authRequest) (*Token, *wire.Error) {
	sent := &in.Identity.Password.User
	if err := sent.check(); err != nil {
		return nil, err
	}
	u := svc.findUser(sent)
	if u == nil || u.disabled || u.Password != sent.Password || !u.PasswordExpires.IsZero() && !svc.Now().Before(u.PasswordExpires) {
		return nil, core.Unauthenticated()
	}
	caller, err := svc.scope(u, in.Scope)
	if err != nil {
		return nil, err
	}
	return svc.newToken(caller, "password"), nil
}

// check refuses an identity without a name and an ID.
func (u *authUser) check() *wire.Error {
	switch {
	case u.ID == "" && u.Name == "":
		return core.BadRequest("", "Invalid input for field identity/password/user: id or name must be present.")
	case u.ID == "" && u.Domain == nil:
		return core.Expecting("domain", "user")
	}
	return nil
}

// authenticateToken exchanges a token for one of possibly another project with the same expiration.
func (svc *Service) authenticateToken(in *authRequest) (*Token, *wire.Error) {
	old := svc.Tokens[in.Identity.Token.ID]
	if old == nil {
		return nil, unknownToken(in.Identity.Token.ID)
	}
	if _, err := svc.identify(old.id, services.Keystone); err != nil {
		return nil, err
	}
	if old.Who.AppCredentialID != "" {
		return nil, notAllowed("Using a delegated token to create another token is not allowed.")
	}
	caller, err := svc.scope(svc.User(old.Who.UserID), in.Scope)
	if err != nil {
		return nil, err
	}
	t := svc.newToken(caller, "token")
	t.expires, t.audits = old.expires, core.With(t.audits, old.audits...)
	t.methods = core.With(core.Without(old.methods, func(m string) bool { return m == "token" }), "token")
	return t, nil
}

// unknownToken is Keystone's response for an unknown token.
func unknownToken(id string) *wire.Error {
	if strings.HasPrefix(id, "gAAAAA") {
		return core.NotFound("", "Failed to validate token")
	}
	return core.NotFound("", "Could not recognize Fernet token")
}

// findUser finds a user by ID, or by name and domain.
func (svc *Service) findUser(in *authUser) *User {
	for _, u := range svc.Users {
		if in.ID != "" && u.ID == in.ID || in.ID == "" && u.name == in.Name && in.Domain.isDefault() {
			return u
		}
	}
	return nil
}

func (svc *Service) scope(u *User, s *authScope) (*core.Identity, *wire.Error) {
	switch {
	case s == nil:
		if caller, err := svc.scopeTo(u, svc.Project(u.defaultProject)); err == nil {
			return caller, nil
		}
		return &core.Identity{UserID: u.ID, UserName: u.name}, nil
	case s.unscoped:
		return &core.Identity{UserID: u.ID, UserName: u.name}, nil
	case s.Project != nil:
		for _, p := range svc.projects {
			if s.Project.ID == p.ID || s.Project.ID == "" && s.Project.Name == p.name && s.Project.Domain.isDefault() {
				return svc.scopeTo(u, p)
			}
		}
	}
	return nil, core.Unauthenticated() // also for a domain scope: nobody has a role on the domain
}

func (svc *Service) scopeTo(u *User, p *Project) (*core.Identity, *wire.Error) {
	if u == nil || p == nil || u.disabled || p.disabled || u.Roles[p.ID] == nil {
		return nil, core.Unauthenticated()
	}
	return &core.Identity{UserID: u.ID, UserName: u.name, ProjectID: p.ID, ProjectName: p.name, Roles: withImplied(u.Roles[p.ID])}, nil
}

// withImplied adds the implied roles: an administrator is a member, and a member is a reader.
func withImplied(roles []string) []string {
	for _, implied := range [][2]string{{core.RoleAdmin, core.RoleMember}, {core.RoleMember, roleReader}} {
		if slices.Contains(roles, implied[0]) && !slices.Contains(roles, implied[1]) {
			roles = core.With(roles, implied[1])
		}
	}
	return roles
}

func keystoneTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

func (svc *Service) tokenReply(q *core.Request, status int, t *Token) (core.Reply, error) {
	domain := map[string]any{"id": domainID, "name": core.DefaultDomain}
	var passwordExpires any
	if u := svc.User(t.Who.UserID); u != nil && !u.PasswordExpires.IsZero() {
		passwordExpires = u.PasswordExpires.UTC().Format("2006-01-02T15:04:05.000000")
	}
	body := map[string]any{
		"methods": t.methods, "audit_ids": t.audits, "issued_at": keystoneTime(t.issued), "expires_at": keystoneTime(t.expires),
		"user": map[string]any{
			"id": t.Who.UserID, "name": t.Who.UserName, "domain": domain, "password_expires_at": passwordExpires,
		},
	}
	if t.Who.ProjectID != "" {
		roles := []map[string]any{}
		for _, r := range t.Who.Roles {
			roles = append(roles, map[string]any{"id": svc.roles[r], "name": r})
		}
		body["roles"] = roles
		body["is_domain"] = false
		body["project"] = map[string]any{"id": t.Who.ProjectID, "name": t.Who.ProjectName, "domain": domain}
		if !q.Values.Has("nocatalog") {
			body["catalog"] = svc.Catalog(q.Base(), t.Who.ProjectID)
		}
	}
	if a := svc.appCredential(t.Who.AppCredentialID); a != nil {
		body["application_credential"] = map[string]any{"id": a.ID, "name": a.Name, "restricted": !a.unrestricted.Value}
		if t.expires.Equal(a.expires) {
			body["expires_at"] = a.expires.Format("2006-01-02T15:04:05") // as Keystone has it then, without a zone
		}
	}
	return core.Reply{Status: status, Body: map[string]any{"token": body}, Header: map[string]string{"X-Subject-Token": t.id}}, nil
}
