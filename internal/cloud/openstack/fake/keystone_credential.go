package fake

import (
	"slices"
	"strings"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// appCredential is bound to one user and one project, in which it has some of the user's roles.
type appCredential struct {
	id, name, secret  string
	description       core.Null
	userID, projectID string
	roles             []string
	unrestricted      core.Opt[bool]
	expires           time.Time // zero for never
}

func (k *keystoneService) appCredential(id string) *appCredential {
	for _, a := range k.appCreds {
		if a.id == id && id != "" {
			return a
		}
	}
	return nil
}

func (svc *keystoneService) authenticateApp(sent *authAppCredential) (*token, *wire.Error) {
	a, err := svc.findAppCredential(sent)
	if err != nil {
		return nil, err
	}
	u, p := svc.user(a.userID), svc.project(a.projectID)
	expired := !a.expires.IsZero() && !svc.now().Before(a.expires)
	if a.secret != sent.Secret || u.disabled || expired {
		return nil, core.Unauthenticated()
	}
	if p.disabled {
		return nil, core.NotFound("", "Unable to validate token because project %s is disabled", p.id)
	}
	caller, err := svc.scopeTo(u, p)
	if err != nil {
		return nil, err
	}
	caller.roles = core.Without(caller.roles, func(role string) bool { return !slices.Contains(a.roles, role) })
	caller.appCredentialID = a.id
	t := svc.newToken(caller, "application_credential")
	if !a.expires.IsZero() && a.expires.Before(t.expires) {
		t.expires = a.expires
	}
	return t, nil
}

func (svc *keystoneService) findAppCredential(sent *authAppCredential) (*appCredential, *wire.Error) {
	switch {
	case sent.ID != "":
		if a := svc.appCredential(sent.ID); a != nil {
			return a, nil
		}
		return nil, missingIdentity("Application Credential", sent.ID)
	case sent.Name == "":
		return nil, expecting("name or ID", "application credential")
	case sent.User == nil:
		return nil, expecting("user", "application credential")
	}
	if err := sent.User.check(); err != nil {
		return nil, err
	}
	owner := svc.findUser(sent.User)
	for _, a := range svc.appCreds {
		if owner != nil && a.userID == owner.id && a.name == sent.Name {
			return a, nil
		}
	}
	return nil, core.Unauthenticated()
}

func (svc *keystoneService) registerAppCredentials(e endpoint) {
	const ofUser = "/v3/users/{user}/application_credentials"
	svc.route(e, "POST "+ofUser, svc.createAppCredential)
	svc.route(e, "GET "+ofUser, func(q *request) (reply, error) {
		if q.path("user") != q.userID && !q.admin() {
			return reply{}, notAllowed("identity:list_application_credentials")
		}
		out := []any{}
		for _, a := range svc.appCreds {
			if a.userID == q.path("user") && (!q.values.Has("name") || q.values.Get("name") == a.name) {
				out = append(out, svc.appCredentialView(a))
			}
		}
		return identityList(q, "application_credentials", out)
	})
	svc.route(e, "GET "+ofUser+"/{id}", func(q *request) (reply, error) {
		a, err := svc.appCredentialOf(q, "identity:get_application_credential")
		if err != nil {
			return reply{}, err
		}
		return ok(map[string]any{"application_credential": svc.appCredentialView(a)})
	})
	svc.route(e, "DELETE "+ofUser+"/{id}", func(q *request) (reply, error) {
		if err := svc.mayManage(q); err != nil {
			return reply{}, err
		}
		a, err := svc.appCredentialOf(q, "identity:delete_application_credential")
		if err != nil {
			return reply{}, err
		}
		svc.appCreds = core.Without(svc.appCreds, func(other *appCredential) bool { return other == a })
		return noContent()
	})
}

func (svc *keystoneService) appCredentialView(a *appCredential) map[string]any {
	roles := []any{}
	for _, role := range a.roles {
		roles = append(roles, map[string]any{"id": svc.roles[role], "name": role, "domain_id": nil, "description": nil})
	}
	view := map[string]any{
		"id": a.id, "name": a.name, "user_id": a.userID, "project_id": a.projectID, "description": a.description, "system": nil,
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

// appCredentialOf returns what the path names, to its owner and to administrators.
func (svc *keystoneService) appCredentialOf(q *request, action string) (*appCredential, error) {
	if q.path("user") != q.userID && !q.admin() {
		return nil, notAllowed(action)
	}
	a := svc.appCredential(q.path("id"))
	if a == nil || a.userID != q.path("user") {
		return nil, missingIdentity("Application Credential", q.path("id"))
	}
	return a, nil
}

// mayManage refuses whoever came in by a credential that is not meant to make or remove others.
func (svc *keystoneService) mayManage(q *request) error {
	if a := svc.appCredential(q.appCredentialID); a != nil && !a.unrestricted.Value {
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

func (svc *keystoneService) createAppCredential(q *request) (reply, error) {
	if q.path("user") != q.userID {
		return reply{}, notAllowed("identity:create_application_credential")
	}
	if err := svc.mayManage(q); err != nil {
		return reply{}, err
	}
	var in appCredentialInput
	if err := readIdentity(q, "application_credential", &in); err != nil {
		return reply{}, err
	}
	if in.Name == "" {
		return reply{}, core.BadRequest("", "'name' is a required property")
	}
	a := &appCredential{
		id: core.NewHexID(), name: in.Name, secret: in.Secret, description: in.Description, unrestricted: in.Unrestricted,
		userID: q.userID, projectID: q.projectID,
	}
	var err error
	if a.expires, err = svc.expiry(in.ExpiresAt); err != nil {
		return reply{}, err
	}
	if a.roles, err = svc.rolesFor(q, in.Roles); err != nil {
		return reply{}, err
	}
	if slices.ContainsFunc(svc.appCreds, func(a *appCredential) bool { return a.userID == q.userID && a.name == in.Name }) {
		return reply{}, core.Conflict("", "Conflict occurred attempting to store application_credential - Duplicate entry found with name %s.", in.Name)
	}
	if a.secret == "" {
		a.secret = newSecret()
	}
	svc.appCreds = append(svc.appCreds, a)
	view := svc.appCredentialView(a)
	view["secret"] = a.secret // shown this once
	return created(map[string]any{"application_credential": view})
}

// newSecret has the 86 characters that Keystone gives a secret.
func newSecret() string { return (core.NewHexID() + core.NewHexID() + core.NewHexID())[:86] }

// expiry reads the time at which an application credential ends.
func (svc *keystoneService) expiry(sent core.Opt[string]) (time.Time, error) {
	if !sent.Given() {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339Nano, strings.TrimSuffix(sent.Value, "Z")+"Z")
	if err != nil {
		return time.Time{}, malformed("Timestamp not in expected format")
	}
	if at.Before(svc.now()) {
		return time.Time{}, malformed("The 'expires_at' must not be before now")
	}
	return at, nil
}

// rolesFor returns the names of the roles that an application credential asks for, which are all of the caller's if it does not.
func (svc *keystoneService) rolesFor(q *request, wanted []authName) ([]string, error) {
	if len(wanted) == 0 {
		return slices.Clone(q.roles), nil
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
		if !slices.Contains(q.roles, name) {
			return nil, core.BadRequest("", "Invalid application credential: Cannot create an application credential with unassigned role")
		}
		roles = append(roles, name)
	}
	return roles, nil
}

// addAppCredential adds an application credential with the roles of a plain member.
func (svc *keystoneService) addAppCredential(name, secret string, u *user, p *project) {
	svc.appCreds = append(svc.appCreds, &appCredential{
		id: core.NewHexID(), name: name, secret: secret, userID: u.id, projectID: p.id, roles: withImplied(memberRoles()),
	})
}
