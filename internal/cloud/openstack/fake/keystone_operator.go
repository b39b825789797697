package fake

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// registerOperator serves what an operator needs to make projects and users, and to remove them again.
func (svc *keystoneService) registerOperator(e endpoint) {
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
	svc.route(e, "PUT "+grant, svc.grantRole)
	svc.route(e, "DELETE "+grant, svc.revokeRole)
}

// operatorRoute registers a call that only administrators may make. Whoever asks about himself may, too.
func (svc *keystoneService) operatorRoute(e endpoint, pattern, action string, h handler) {
	svc.route(e, pattern, func(q *request) (reply, error) {
		ownAccount := pattern == "GET /v3/users/{user}" && q.path("user") == q.userID
		ownProject := pattern == "GET /v3/projects/{project}" && q.path("project") == q.projectID
		if !q.admin() && !ownAccount && !ownProject {
			return reply{}, notAllowed(action)
		}
		return h(q)
	})
}

// notAllowed is what Keystone answers when its policy says no.
func notAllowed(action string) *wire.Error {
	return core.Forbidden("", "You are not authorized to perform the requested action: %s.", action)
}

func missingIdentity(kind, id string) *wire.Error {
	return core.NotFound("", "Could not find %s: %s.", kind, id)
}

func (p *project) view() map[string]any {
	return map[string]any{
		"id": p.id, "name": p.name, "domain_id": domainID, "parent_id": domainID, "description": p.description,
		"enabled": !p.disabled, "is_domain": false, "tags": []string{}, "options": map[string]any{},
	}
}

func (u *user) view() map[string]any {
	view := map[string]any{
		"id": u.id, "name": u.name, "domain_id": domainID, "enabled": !u.disabled, "password_expires_at": nil,
		"options": map[string]any{},
	}
	if u.defaultProject != "" {
		view["default_project_id"] = u.defaultProject
	}
	return view
}

// identityList is a list as Keystone frames it. It knows no pages.
func identityList(q *request, key string, list any) (reply, error) {
	self := q.base() + q.http.URL.RequestURI()
	return ok(map[string]any{key: list, "links": map[string]any{"next": nil, "previous": nil, "self": self}})
}

func (svc *keystoneService) listProjects(q *request) (reply, error) {
	out := []any{}
	for _, p := range svc.projects {
		if !q.values.Has("name") || q.values.Get("name") == p.name {
			out = append(out, p.view())
		}
	}
	return identityList(q, "projects", out)
}

func (svc *keystoneService) listUsers(q *request) (reply, error) {
	out := []any{}
	for _, u := range svc.users {
		if !q.values.Has("name") || q.values.Get("name") == u.name {
			out = append(out, u.view())
		}
	}
	return identityList(q, "users", out)
}

func (svc *keystoneService) listRoles(q *request) (reply, error) {
	out := []any{}
	for _, name := range slices.Sorted(maps.Keys(svc.roles)) {
		if q.values.Has("name") && q.values.Get("name") != name {
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

func (in *projectInput) into(p *project) {
	in.Name.Into(&p.name)
	in.Description.Into(&p.description)
	p.disabled = !in.Enabled.Or(!p.disabled)
}

// readIdentity reads what stands under a key of the body.
func readIdentity(q *request, key string, into any) *wire.Error {
	raw, found := core.Unwrap(q.body, key)
	if !found || json.Unmarshal(raw, into) != nil {
		return expecting(key, "request body")
	}
	return nil
}

func (svc *keystoneService) createProject(q *request) (reply, error) {
	var in projectInput
	if err := readIdentity(q, "project", &in); err != nil {
		return reply{}, err
	}
	if in.Name.Value == "" {
		return reply{}, core.BadRequest("", "'name' is a required property")
	}
	for _, p := range svc.projects {
		if strings.EqualFold(p.name, in.Name.Value) {
			return reply{}, core.Conflict("", "Conflict occurred attempting to store project - it is not permitted to have two projects with "+
				"either the same name or same id in the same domain: name is %s, project id %s.", in.Name.Value, core.NewHexID())
		}
	}
	p := &project{id: core.NewHexID()}
	in.into(p)
	svc.projects = append(svc.projects, p)
	return created(map[string]any{"project": p.view()})
}

// projectOf and userOf return what the path names by its ID.
func (svc *keystoneService) projectOf(q *request) (*project, error) {
	id := q.path("project")
	for _, p := range svc.projects {
		if p.id == id {
			return p, nil
		}
	}
	return nil, missingIdentity("project", id)
}

func (svc *keystoneService) userOf(q *request) (*user, error) {
	id := q.path("user")
	for _, u := range svc.users {
		if u.id == id {
			return u, nil
		}
	}
	return nil, missingIdentity("user", id)
}

func (svc *keystoneService) showProject(q *request) (reply, error) {
	p, err := svc.projectOf(q)
	if err != nil {
		return reply{}, err
	}
	return ok(map[string]any{"project": p.view()})
}

func (svc *keystoneService) updateProject(q *request) (reply, error) {
	p, err := svc.projectOf(q)
	if err != nil {
		return reply{}, err
	}
	var in projectInput
	if err := readIdentity(q, "project", &in); err != nil {
		return reply{}, err
	}
	in.into(p)
	if p.disabled {
		svc.dropTokens(func(t *token) bool { return t.who.projectID == p.id })
	}
	return ok(map[string]any{"project": p.view()})
}

// deleteProject removes a project and whatever Keystone itself knows of it. The other services hear nothing of it: what they
// have stays.
func (svc *keystoneService) deleteProject(q *request) (reply, error) {
	p, err := svc.projectOf(q)
	if err != nil {
		return reply{}, err
	}
	k := svc
	k.projects = core.Without(k.projects, func(other *project) bool { return other == p })
	k.appCreds = core.Without(k.appCreds, func(a *appCredential) bool { return a.projectID == p.id })
	for _, u := range k.users {
		delete(u.roles, p.id)
	}
	svc.dropTokens(func(t *token) bool { return t.who.projectID == p.id })
	return noContent()
}

type userInput struct {
	Name           core.Opt[string] `json:"name"`
	Password       core.Opt[string] `json:"password"`
	Enabled        core.Opt[bool]   `json:"enabled"`
	DefaultProject core.Opt[string] `json:"default_project_id"`
}

func (in *userInput) into(u *user) {
	in.Name.Into(&u.name)
	in.Password.Into(&u.password)
	in.DefaultProject.Into(&u.defaultProject)
	u.disabled = !in.Enabled.Or(!u.disabled)
}

func (svc *keystoneService) createUser(q *request) (reply, error) {
	var in userInput
	if err := readIdentity(q, "user", &in); err != nil {
		return reply{}, err
	}
	if in.Name.Value == "" {
		return reply{}, core.BadRequest("", "'name' is a required property")
	}
	for _, u := range svc.users {
		if strings.EqualFold(u.name, in.Name.Value) {
			return reply{}, core.Conflict("", "Conflict occurred attempting to store user - Duplicate entry found with name %s at domain ID %s.",
				in.Name.Value, domainID)
		}
	}
	u := &user{id: core.NewHexID(), roles: map[string][]string{}}
	in.into(u)
	svc.users = append(svc.users, u)
	return created(map[string]any{"user": u.view()})
}

func (svc *keystoneService) showUser(q *request) (reply, error) {
	u, err := svc.userOf(q)
	if err != nil {
		return reply{}, err
	}
	return ok(map[string]any{"user": u.view()})
}

func (svc *keystoneService) updateUser(q *request) (reply, error) {
	u, err := svc.userOf(q)
	if err != nil {
		return reply{}, err
	}
	var in userInput
	if err := readIdentity(q, "user", &in); err != nil {
		return reply{}, err
	}
	in.into(u)
	if u.disabled || in.Password.Set {
		svc.dropTokens(func(t *token) bool { return t.who.userID == u.id })
	}
	return ok(map[string]any{"user": u.view()})
}

func (svc *keystoneService) deleteUser(q *request) (reply, error) {
	u, err := svc.userOf(q)
	if err != nil {
		return reply{}, err
	}
	k := svc
	k.users = core.Without(k.users, func(other *user) bool { return other == u })
	k.appCreds = core.Without(k.appCreds, func(a *appCredential) bool { return a.userID == u.id })
	svc.dropTokens(func(t *token) bool { return t.who.userID == u.id })
	return noContent()
}

// grant is a role of a user in a project.
type grant struct {
	user    *user
	project *project
	role    string
}

// grantOf returns what the path of a grant names. It is looked up before anybody asks who may do what.
func (svc *keystoneService) grantOf(q *request, action string) (*grant, error) {
	g := &grant{}
	for name, id := range svc.roles {
		if id == q.path("role") {
			g.role = name
		}
	}
	if g.role == "" {
		return nil, missingIdentity("role", q.path("role"))
	}
	var err error
	if g.project, err = svc.projectOf(q); err != nil {
		return nil, err
	}
	if g.user, err = svc.userOf(q); err != nil {
		return nil, err
	}
	if !q.admin() {
		return nil, notAllowed(action)
	}
	return g, nil
}

func (svc *keystoneService) grantRole(q *request) (reply, error) {
	g, err := svc.grantOf(q, "identity:create_grant")
	if err != nil {
		return reply{}, err
	}
	if has := g.user.roles[g.project.id]; !slices.Contains(has, g.role) {
		g.user.roles[g.project.id] = core.With(has, g.role)
	}
	return noContent()
}

func (svc *keystoneService) revokeRole(q *request) (reply, error) {
	g, err := svc.grantOf(q, "identity:revoke_grant")
	if err != nil {
		return reply{}, err
	}
	has := g.user.roles[g.project.id]
	if !slices.Contains(has, g.role) {
		return reply{}, core.Fail(http.StatusNotFound, "", "Could not find role assignment with role: %s, user or group: %s, project, domain, or system: %s.",
			q.path("role"), g.user.id, g.project.id)
	}
	if left := core.Without(has, func(role string) bool { return role == g.role }); len(left) > 0 {
		g.user.roles[g.project.id] = left
	} else {
		delete(g.user.roles, g.project.id)
	}
	svc.dropTokens(func(t *token) bool { return t.who.userID == g.user.id && t.who.projectID == g.project.id })
	return noContent()
}

// dropTokens revokes tokens.
func (svc *keystoneService) dropTokens(which func(*token) bool) {
	maps.DeleteFunc(svc.tokens, func(_ string, t *token) bool { return which(t) })
}
