package keystone

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// registerOperator serves what an operator needs to create and delete projects and users.
func (svc *Service) registerOperator(e core.Endpoint) {
	svc.operatorRoute(e, "GET /v3/projects", "identity:list_projects", svc.listProjects)
	svc.operatorRoute(e, "POST /v3/projects", "identity:create_project", svc.createProject)
	svc.operatorRoute(e, "GET /v3/projects/{project}", "identity:get_project", svc.showProject)
	svc.operatorRoute(e, "PATCH /v3/projects/{project}", "identity:update_project", svc.updateProject)
	svc.operatorRoute(e, "DELETE /v3/projects/{project}", "identity:delete_project", svc.deleteProject)
	svc.operatorRoute(e, "GET /v3/users", "identity:list_users", svc.listUsers)
	svc.operatorRoute(e, "POST /v3/users", "identity:create_user", svc.createUser)
	svc.operatorRoute(e, "GET /v3/users/{user}", "identity:get_user", svc.showUser)
	svc.operatorRoute(e, "PATCH /v3/users/{user}", "identity:update_user", svc.updateUser)
	svc.operatorRoute(e, "DELETE /v3/users/{user}", "identity:delete_user", svc.deleteUser)
	svc.operatorRoute(e, "GET /v3/roles", "identity:list_roles", svc.listRoles)
	const grant = "/v3/projects/{project}/users/{user}/roles/{role}"
	svc.Route(e, "PUT "+grant, svc.grantRole)
	svc.Route(e, "DELETE "+grant, svc.revokeRole)
}

// operatorRoute registers a call that only administrators may make, except about themselves.
func (svc *Service) operatorRoute(e core.Endpoint, pattern, action string, h core.Handler) {
	svc.Route(e, pattern, func(q *core.Request) (core.Reply, error) {
		ownAccount := pattern == "GET /v3/users/{user}" && q.Path("user") == q.UserID
		ownProject := pattern == "GET /v3/projects/{project}" && q.Path("project") == q.ProjectID
		if !q.Admin() && !ownAccount && !ownProject {
			return core.Reply{}, notAllowed(action)
		}
		return h(q)
	})
}

// notAllowed is Keystone's response if its policy denies a call.
func notAllowed(action string) *wire.Error {
	return core.Forbidden("", "You are not authorized to perform the requested action: %s.", action)
}

func missingIdentity(kind, id string) *wire.Error {
	return core.NotFound("", "Could not find %s: %s.", kind, id)
}

func (p *Project) view() map[string]any {
	return map[string]any{
		"id": p.ID, "name": p.name, "domain_id": domainID, "parent_id": domainID, "description": p.description,
		"enabled": !p.disabled, "is_domain": false, "tags": []string{}, "options": map[string]any{},
	}
}

func (u *User) view() map[string]any {
	view := map[string]any{
		"id": u.ID, "name": u.name, "domain_id": domainID, "enabled": !u.disabled, "password_expires_at": nil,
		"options": map[string]any{},
	}
	if u.defaultProject != "" {
		view["default_project_id"] = u.defaultProject
	}
	return view
}

// identityList is a list in Keystone's format, without pages.
func identityList(q *core.Request, key string, list any) (core.Reply, error) {
	self := q.Base() + q.HTTP.URL.RequestURI()
	return core.OK(map[string]any{key: list, "links": map[string]any{"next": nil, "previous": nil, "self": self}})
}

func (svc *Service) listProjects(q *core.Request) (core.Reply, error) {
	out := []any{}
	for _, p := range svc.projects {
		if !q.Values.Has("name") || q.Values.Get("name") == p.name {
			out = append(out, p.view())
		}
	}
	return identityList(q, "projects", out)
}

func (svc *Service) listUsers(q *core.Request) (core.Reply, error) {
	out := []any{}
	for _, u := range svc.Users {
		if !q.Values.Has("name") || q.Values.Get("name") == u.name {
			out = append(out, u.view())
		}
	}
	return identityList(q, "users", out)
}

func (svc *Service) listRoles(q *core.Request) (core.Reply, error) {
	out := []any{}
	for _, name := range slices.Sorted(maps.Keys(svc.roles)) {
		if q.Values.Has("name") && q.Values.Get("name") != name {
			continue
		}
		out = append(out, map[string]any{
			"id": svc.roles[name], "name": name, "domain_id": nil, "description": nil,
		})
	}
	return identityList(q, "roles", out)
}

type projectInput struct {
	Name        core.Opt[string] `json:"name"`
	Description core.Opt[string] `json:"description"`
	Enabled     core.Opt[bool]   `json:"enabled"`
}

func (in *projectInput) into(p *Project) {
	in.Name.Into(&p.name)
	in.Description.Into(&p.description)
	p.disabled = !in.Enabled.Or(!p.disabled)
}

// readIdentity parses what is under a key of the body.
func readIdentity(q *core.Request, key string, into any) *wire.Error {
	raw, found := core.Unwrap(q.Body, key)
	if !found || json.Unmarshal(raw, into) != nil {
		return core.Expecting(key, "request body")
	}
	return nil
}

func (svc *Service) createProject(q *core.Request) (core.Reply, error) {
	var in projectInput
	if err := readIdentity(q, "project", &in); err != nil {
		return core.Reply{}, err
	}
	if in.Name.Value == "" {
		return core.Reply{}, core.BadRequest("", "'name' is a required property")
	}
	for _, p := range svc.projects {
		if strings.EqualFold(p.name, in.Name.Value) {
			return core.Reply{}, core.Conflict("", "Conflict occurred attempting to store project - it is not permitted to have two projects with "+
				"either the same name or same id in the same domain: name is %s, project id %s.", in.Name.Value, core.NewHexID())
		}
	}
	p := &Project{ID: core.NewHexID()}
	in.into(p)
	svc.projects = append(svc.projects, p)
	return core.Created(map[string]any{"project": p.view()})
}

// projectOf and userOf return the object with the ID in the path.
func (svc *Service) projectOf(q *core.Request) (*Project, error) {
	id := q.Path("project")
	for _, p := range svc.projects {
		if p.ID == id {
			return p, nil
		}
	}
	return nil, missingIdentity("project", id)
}

func (svc *Service) userOf(q *core.Request) (*User, error) {
	id := q.Path("user")
	for _, u := range svc.Users {
		if u.ID == id {
			return u, nil
		}
	}
	return nil, missingIdentity("user", id)
}

func (svc *Service) showProject(q *core.Request) (core.Reply, error) {
	p, err := svc.projectOf(q)
	if err != nil {
		return core.Reply{}, err
	}
	return core.OK(map[string]any{"project": p.view()})
}

func (svc *Service) updateProject(q *core.Request) (core.Reply, error) {
	p, err := svc.projectOf(q)
	if err != nil {
		return core.Reply{}, err
	}
	var in projectInput
	if err := readIdentity(q, "project", &in); err != nil {
		return core.Reply{}, err
	}
	in.into(p)
	if p.disabled {
		svc.DropTokens(func(t *Token) bool { return t.Who.ProjectID == p.ID })
	}
	return core.OK(map[string]any{"project": p.view()})
}

// deleteProject deletes a project and Keystone's objects in it. The other services are not told: their resources stay.
func (svc *Service) deleteProject(q *core.Request) (core.Reply, error) {
	p, err := svc.projectOf(q)
	if err != nil {
		return core.Reply{}, err
	}
	svc.projects = core.Without(svc.projects, func(other *Project) bool { return other == p })
	svc.AppCreds = core.Without(svc.AppCreds, func(a *appCredential) bool { return a.projectID == p.ID })
	for _, u := range svc.Users {
		delete(u.Roles, p.ID)
	}
	svc.DropTokens(func(t *Token) bool { return t.Who.ProjectID == p.ID })
	return core.NoContent()
}

type userInput struct {
	Name           core.Opt[string] `json:"name"`
	Password       core.Opt[string] `json:"password"`
	Enabled        core.Opt[bool]   `json:"enabled"`
	DefaultProject core.Opt[string] `json:"default_project_id"`
}

func (in *userInput) into(u *User) {
	in.Name.Into(&u.name)
	in.Password.Into(&u.Password)
	in.DefaultProject.Into(&u.defaultProject)
	u.disabled = !in.Enabled.Or(!u.disabled)
}

func (svc *Service) createUser(q *core.Request) (core.Reply, error) {
	var in userInput
	if err := readIdentity(q, "user", &in); err != nil {
		return core.Reply{}, err
	}
	if in.Name.Value == "" {
		return core.Reply{}, core.BadRequest("", "'name' is a required property")
	}
	for _, u := range svc.Users {
		if strings.EqualFold(u.name, in.Name.Value) {
			return core.Reply{}, core.Conflict("", "Conflict occurred attempting to store user - Duplicate entry found with name %s at domain ID %s.",
				in.Name.Value, domainID)
		}
	}
	u := &User{ID: core.NewHexID(), Roles: map[string][]string{}}
	in.into(u)
	svc.Users = append(svc.Users, u)
	return core.Created(map[string]any{"user": u.view()})
}

func (svc *Service) showUser(q *core.Request) (core.Reply, error) {
	u, err := svc.userOf(q)
	if err != nil {
		return core.Reply{}, err
	}
	return core.OK(map[string]any{"user": u.view()})
}

func (svc *Service) updateUser(q *core.Request) (core.Reply, error) {
	u, err := svc.userOf(q)
	if err != nil {
		return core.Reply{}, err
	}
	var in userInput
	if err := readIdentity(q, "user", &in); err != nil {
		return core.Reply{}, err
	}
	in.into(u)
	if u.disabled || in.Password.Set {
		svc.DropTokens(func(t *Token) bool { return t.Who.UserID == u.ID })
	}
	return core.OK(map[string]any{"user": u.view()})
}

func (svc *Service) deleteUser(q *core.Request) (core.Reply, error) {
	u, err := svc.userOf(q)
	if err != nil {
		return core.Reply{}, err
	}
	svc.Users = core.Without(svc.Users, func(other *User) bool { return other == u })
	svc.AppCreds = core.Without(svc.AppCreds, func(a *appCredential) bool { return a.UserID == u.ID })
	svc.DropTokens(func(t *Token) bool { return t.Who.UserID == u.ID })
	return core.NoContent()
}

// grant is a role of a user in a project.
type grant struct {
	user    *User
	project *Project
	role    string
}

// grantOf returns the grant in the path. It is looked up before the caller's rights are checked.
func (svc *Service) grantOf(q *core.Request, action string) (*grant, error) {
	g := &grant{}
	for name, id := range svc.roles {
		if id == q.Path("role") {
			g.role = name
		}
	}
	if g.role == "" {
		return nil, missingIdentity("role", q.Path("role"))
	}
	var err error
	if g.project, err = svc.projectOf(q); err != nil {
		return nil, err
	}
	if g.user, err = svc.userOf(q); err != nil {
		return nil, err
	}
	if !q.Admin() {
		return nil, notAllowed(action)
	}
	return g, nil
}

func (svc *Service) grantRole(q *core.Request) (core.Reply, error) {
	g, err := svc.grantOf(q, "identity:create_grant")
	if err != nil {
		return core.Reply{}, err
	}
	if has := g.user.Roles[g.project.ID]; !slices.Contains(has, g.role) {
		g.user.Roles[g.project.ID] = core.With(has, g.role)
	}
	return core.NoContent()
}

func (svc *Service) revokeRole(q *core.Request) (core.Reply, error) {
	g, err := svc.grantOf(q, "identity:revoke_grant")
	if err != nil {
		return core.Reply{}, err
	}
	has := g.user.Roles[g.project.ID]
	if !slices.Contains(has, g.role) {
		return core.Reply{}, core.Fail(http.StatusNotFound, "", "Could not find role assignment with role: %s, user or group: %s, project, domain, or system: %s.",
			q.Path("role"), g.user.ID, g.project.ID)
	}
	if left := core.Without(has, func(role string) bool { return role == g.role }); len(left) > 0 {
		g.user.Roles[g.project.ID] = left
	} else {
		delete(g.user.Roles, g.project.ID)
	}
	svc.DropTokens(func(t *Token) bool { return t.Who.UserID == g.user.ID && t.Who.ProjectID == g.project.ID })
	return core.NoContent()
}

// DropTokens revokes tokens.
func (svc *Service) DropTokens(which func(*Token) bool) {
	maps.DeleteFunc(svc.Tokens, func(_ string, t *Token) bool { return which(t) })
}
