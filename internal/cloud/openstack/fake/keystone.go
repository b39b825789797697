package fake

import (
	"fmt"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

const (
	domainID   = "default"
	roleReader = "reader"
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

type keystoneState struct {
	onProject func(projectID string) // called for each new project
	projects  []*project
	users     []*user
	appCreds  []*appCredential
	tokens    map[string]*token
	roles     map[string]string // ID by name
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

func (c *Cloud) addProject(name string) *project {
	p := &project{id: core.NewHexID(), name: name}
	c.keystone.projects = append(c.keystone.projects, p)
	c.keystone.onProject(p.id)
	return p
}

func (c *Cloud) addUser(name, password string, roles []string, projects ...*project) *user {
	u := &user{id: core.NewHexID(), name: name, password: password, roles: map[string][]string{}}
	for _, p := range projects {
		u.roles[p.id] = roles
	}
	c.keystone.users = append(c.keystone.users, u)
	return u
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

func memberRoles() []string { return []string{roleMember, roleBalancers} }

// addMember adds a user who is a plain member of the projects, given by name or ID, and returns the user's ID.
func (c *Cloud) addMember(name, password string, projects ...string) (string, error) {
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

// operatorOf is an administrator who acts inside a project, as its member user where there is one.
func (c *Cloud) operatorOf(nameOrID string) (*identity, error) {
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
