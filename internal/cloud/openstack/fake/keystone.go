package fake

import (
	"fmt"
	"slices"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

const keystonePrefix = "/identity"

const (
	domainID   = "default"
	roleMember = "member"
	roleAdmin  = "admin"
	roleReader = "reader"

	// roleBalancers is what Octavia wants of whoever makes load balancers.
	roleBalancers = "load-balancer_member"
)

type project struct {
	id, name, description string
	disabled              bool
}

type user struct {
	id, name, password, defaultProject string
	disabled                           bool
	roles                              map[string][]string // by project ID
}

type token struct {
	id              string
	audits          []string // its own, and that of the login from which it descends
	who             identity
	methods         []string
	issued, expires time.Time
}

// identity is who makes a call, in which project.
type identity struct {
	userID, userName       string
	projectID, projectName string // empty without a scope
	roles                  []string
	appCredentialID        string
}

func (i *identity) admin() bool { return slices.Contains(i.roles, roleAdmin) }

// owns reports whether a resource of the project is the caller's, or the caller may do anything.
func (i *identity) owns(projectID string) bool { return i.admin() || i.projectID == projectID }

type keystoneState struct {
	projects []*project
	users    []*user
	appCreds []*appCredential
	tokens   map[string]*token
	roles    map[string]string // ID by name
}

func (k *keystoneState) project(nameOrID string) *project {
	for _, p := range k.projects {
		if p.id == nameOrID || p.name == nameOrID {
			return p
		}
	}
	return nil
}

func (k *keystoneState) user(nameOrID string) *user {
	for _, u := range k.users {
		if u.id == nameOrID || u.name == nameOrID {
			return u
		}
	}
	return nil
}

// AddProject adds a project with a default security group and returns its ID.
func (c *Cloud) AddProject(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.addProject(name).id
}

func (c *Cloud) addProject(name string) *project {
	p := &project{id: core.NewHexID(), name: name}
	c.keystone.projects = append(c.keystone.projects, p)
	c.ensureDefaultGroup(p.id)
	return p
}

// AddUser adds a user who is a plain member of the projects, given by name or ID, and returns the user's ID.
func (c *Cloud) AddUser(name, password string, projects ...string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []*project
	for _, nameOrID := range projects {
		p := c.keystone.project(nameOrID)
		if p == nil {
			return "", fmt.Errorf("adding user %q: no project %q", name, nameOrID)
		}
		found = append(found, p)
	}
	return c.addUser(name, password, memberRoles(), found...).id, nil
}

func (c *Cloud) addUser(name, password string, roles []string, projects ...*project) *user {
	u := &user{id: core.NewHexID(), name: name, password: password, roles: map[string][]string{}}
	for _, p := range projects {
		u.roles[p.id] = roles
	}
	c.keystone.users = append(c.keystone.users, u)
	return u
}

// SetPassword changes a user's password and, as Keystone does, revokes the user's tokens.
func (c *Cloud) SetPassword(user, password string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.keystone.user(user)
	if u == nil {
		return fmt.Errorf("setting a password: no user %q", user)
	}
	u.password = password
	c.dropTokens(func(t *token) bool { return t.who.userID == u.id })
	return nil
}

// RevokeTokens makes every token that was issued so far invalid: the next call with it is answered 401.
func (c *Cloud) RevokeTokens() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.keystone.tokens)
}

// ProjectID returns the ID of a project given by name or ID, or "".
func (c *Cloud) ProjectID(nameOrID string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.keystone.project(nameOrID); p != nil {
		return p.id
	}
	return ""
}

// UserID returns the ID of a user given by name or ID, or "".
func (c *Cloud) UserID(nameOrID string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if u := c.keystone.user(nameOrID); u != nil {
		return u.id
	}
	return ""
}

// operator is an administrator who acts inside a project, as its member user where there is one.
func (c *Cloud) operator(nameOrID string) (*identity, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.keystone.project(nameOrID)
	if p == nil {
		return nil, fmt.Errorf("no project %q", nameOrID)
	}
	caller := &identity{projectID: p.id, projectName: p.name, roles: []string{roleAdmin}}
	for _, u := range c.keystone.users {
		if u.roles[p.id] != nil {
			caller.userID, caller.userName = u.id, u.name
			break
		}
	}
	return caller, nil
}

// identify is the middleware in front of every service.
func (c *Cloud) identify(tokenID string, service wire.Service) (*identity, *wire.Error) {
	t := c.keystone.tokens[tokenID]
	if t == nil || !c.now().Before(t.expires) {
		return nil, core.UnauthenticatedAt(service)
	}
	if a := t.who.appCredentialID; a != "" && c.keystone.appCredential(a) == nil {
		if service == wire.Keystone {
			return nil, missingIdentity("Application Credential", a)
		}
		return nil, core.UnauthenticatedAt(service)
	}
	return &t.who, nil
}
