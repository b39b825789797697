package keystone

import (
	"slices"
	"strings"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// appCredential is bound to one user and one project, in which it has some of the user's roles.
type appCredential struct {
	ID, Name, secret  string
	description       core.Null
	UserID, projectID string
	roles             []string
	unrestricted      core.Opt[bool]
	expires           time.Time // zero for never
}

func (svc *Service) appCredential(id string) *appCredential {
	for _, a := range svc.AppCreds {
		if a.ID == id && id != "" {
			return a
		}
	}
	return nil
}

func (svc *Service) authenticateApp(sent *authAppCredential) (*Token, *wire.Error) {
	a, err := svc.findAppCredential(sent)
	if err != nil {
		return nil, err
	}
	u, p := svc.User(a.UserID), svc.Project(a.projectID)
	expired := !a.expires.IsZero() && !svc.Now().Before(a.expires)
	if a.secret != sent.Secret || u.disabled || expired {
		return nil, core.Unauthenticated()
	}
	if p.disabled {
		return nil, core.NotFound("", "Unable to validate token because project %s is disabled", p.ID)
	}
	caller, err := svc.scopeTo(u, p)
	if err != nil {
		return nil, err
	}
	caller.Roles = core.Without(caller.Roles, func(role string) bool { return !slices.Contains(a.roles, role) })
	caller.AppCredentialID = a.ID
	t := svc.newToken(caller, "application_credential")
	if !a.expires.IsZero() && a.expires.Before(t.expires) {
		t.expires = a.expires
	}
	return t, nil
}

func (svc *Service) findAppCredential(sent *authAppCredential) (*appCredential, *wire.Error) {
	switch {
	case sent.ID != "":
		if a := svc.appCredential(sent.ID); a != nil {
			return a, nil
		}
		return nil, missingIdentity("Application Credential", sent.ID)
	case sent.Name == "":
		return nil, core.Expecting("name or ID", "application credential")
	case sent.User == nil:
		return nil, core.Expecting("user", "application credential")
	}
	if err := sent.User.check(); err != nil {
		return nil, err
	}
	owner := svc.findUser(sent.User)
	for _, a := range svc.AppCreds {
		if owner != nil && a.UserID == owner.ID && a.Name == sent.Name {
			return a, nil
		}
	}
	return nil, core.Unauthenticated()
}

func (svc *Service) registerAppCredentials(e core.Endpoint) {
	const ofUser = "/v3/users/{user}/application_credentials"
	svc.Route(e, "POST "+ofUser, svc.createAppCredential)
	svc.Route(e, "GET "+ofUser, func(q *core.Request) (core.Reply, error) {
		if q.Path("user") != q.UserID && !q.Admin() {
			return core.Reply{}, notAllowed("identity:list_application_credentials")
		}
		out := []any{}
		for _, a := range svc.AppCreds {
			if a.UserID == q.Path("user") && (!q.Values.Has("name") || q.Values.Get("name") == a.Name) {
				out = append(out, svc.appCredentialView(a))
			}
		}
		return identityList(q, "application_credentials", out)
	})
	svc.Route(e, "GET "+ofUser+"/{id}", func(q *core.Request) (core.Reply, error) {
		a, err := svc.appCredentialOf(q, "identity:get_application_credential")
		if err != nil {
			return core.Reply{}, err
		}
		return core.OK(map[string]any{"application_credential": svc.appCredentialView(a)})
	})
	svc.Route(e, "DELETE "+ofUser+"/{id}", func(q *core.Request) (core.Reply, error) {
		if err := svc.mayManage(q); err != nil {
			return core.Reply{}, err
		}
		a, err := svc.appCredentialOf(q, "identity:delete_application_credential")
		if err != nil {
			return core.Reply{}, err
		}
		svc.AppCreds = core.Without(svc.AppCreds, func(other *appCredential) bool { return other == a })
		return core.NoContent()
	})
}

func (svc *Service) appCredentialView(a *appCredential) map[string]any {
	roles := []any{}
	for _, role := range a.roles {
		roles = append(roles, map[string]any{"id": svc.roles[role], "name": role, "domain_id": nil, "description": nil})
	}
	view := map[string]any{
		"id": a.ID, "name": a.Name, "user_id": a.UserID, "project_id": a.projectID, "description": a.description, "system": nil,
		"expires_at": nil, "unrestricted": nil, "roles": roles,
	}
	if a.unrestricted.Given() {
		view["unrestricted"] = a.unrestricted.Value
	}
	if !a.expires.IsZero() {
		view["expires_at"] = a.expires.Format("2006-01-02T15:04:05.000000")
	}
	return view
}

// appCredentialOf returns the application credential in the path, if the caller is its owner or an administrator.
func (svc *Service) appCredentialOf(q *core.Request, action string) (*appCredential, error) {
	if q.Path("user") != q.UserID && !q.Admin() {
		return nil, notAllowed(action)
	}
	a := svc.appCredential(q.Path("id"))
	if a == nil || a.UserID != q.Path("user") {
		return nil, missingIdentity("Application Credential", q.Path("id"))
	}
	return a, nil
}

// mayManage refuses callers with an application credential that may not create or delete others.
func (svc *Service) mayManage(q *core.Request) error {
	if a := svc.appCredential(q.AppCredentialID); a != nil && !a.unrestricted.Value {
		return notAllowed("Using method 'application_credential' is not allowed for managing additional application credentials.")
	}
	return nil
}

type appCredentialInput struct {
	Name         string           `json:"name"`
	Secret       string           `json:"secret"`
	Description  core.Null        `json:"description"`
	Unrestricted core.Opt[bool]   `json:"unrestricted"`
	ExpiresAt    core.Opt[string] `json:"expires_at"`
	Roles        []authName       `json:"roles"`
}

func (svc *Service) createAppCredential(q *core.Request) (core.Reply, error) {
	if q.Path("user") != q.UserID {
		return core.Reply{}, notAllowed("identity:create_application_credential")
	}
	if err := svc.mayManage(q); err != nil {
		return core.Reply{}, err
	}
	var in appCredentialInput
	if err := readIdentity(q, "application_credential", &in); err != nil {
		return core.Reply{}, err
	}
	if in.Name == "" {
		return core.Reply{}, core.BadRequest("", "'name' is a required property")
	}
	a := &appCredential{
		ID: core.NewHexID(), Name: in.Name, secret: in.Secret, description: in.Description, unrestricted: in.Unrestricted,
		UserID: q.UserID, projectID: q.ProjectID,
	}
	var err error
	if a.expires, err = svc.expiry(in.ExpiresAt); err != nil {
		return core.Reply{}, err
	}
	if a.roles, err = svc.rolesFor(q, in.Roles); err != nil {
		return core.Reply{}, err
	}
	if slices.ContainsFunc(svc.AppCreds, func(a *appCredential) bool { return a.UserID == q.UserID && a.Name == in.Name }) {
		return core.Reply{}, core.Conflict("", "Conflict occurred attempting to store application_credential - Duplicate entry found with name %s.", in.Name)
	}
	if a.secret == "" {
		a.secret = newSecret()
	}
	svc.AppCreds = append(svc.AppCreds, a)
	view := svc.appCredentialView(a)
	view["secret"] = a.secret // shown this once
	return core.Created(map[string]any{"application_credential": view})
}

// newSecret returns 86 characters, as Keystone's secrets have.
func newSecret() string { return (core.NewHexID() + core.NewHexID() + core.NewHexID())[:86] }

// expiry parses the expiration time of an application credential.
func (svc *Service) expiry(sent core.Opt[string]) (time.Time, error) {
	if !sent.Given() {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339Nano, strings.TrimSuffix(sent.Value, "Z")+"Z")
	if err != nil {
		return time.Time{}, core.Malformed("Timestamp not in expected format")
	}
	if at.Before(svc.Now()) {
		return time.Time{}, core.Malformed("The 'expires_at' must not be before now")
	}
	return at, nil
}

// rolesFor returns the requested roles of an application credential; default all of the caller's.
func (svc *Service) rolesFor(q *core.Request, wanted []authName) ([]string, error) {
	if len(wanted) == 0 {
		return slices.Clone(q.Roles), nil
	}
	roles := []string{}
	for _, role := range wanted {
		name := role.Name
		for known, id := range svc.roles {
			if id == role.ID {
				name = known
			}
		}
		if svc.roles[name] == "" {
			return nil, core.NotFound("", "Role %s is not defined", role.Name)
		}
		if !slices.Contains(q.Roles, name) {
			return nil, core.BadRequest("", "Invalid application credential: Cannot create an application credential with unassigned role")
		}
		roles = append(roles, name)
	}
	return roles, nil
}

// SetAppCredentialExpiry changes when an application credential of a user expires, which Keystone's API cannot. It returns false if there is none.
func (svc *Service) SetAppCredentialExpiry(userID, name string, at time.Time) bool {
	for _, a := range svc.AppCreds {
		if a.UserID == userID && a.Name == name {
			a.expires = at.UTC().Truncate(time.Second)
			return true
		}
	}
	return false
}

// AddAppCredential adds an application credential with the roles of a plain member.
func (svc *Service) AddAppCredential(name, secret string, u *User, p *Project) {
	svc.AppCreds = append(svc.AppCreds, &appCredential{
		ID: core.NewHexID(), Name: name, secret: secret, UserID: u.ID, projectID: p.ID, roles: withImplied(MemberRoles()),
	})
}
