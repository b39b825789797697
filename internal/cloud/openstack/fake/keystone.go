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

// keystoneService is Keystone of the fake cloud. Its methods run while the lock of the cloud is held.
type keystoneService struct {
	*shared

	onProject func(projectID string) // called for each new project
	projects  []*project
	users     []*user
	appCreds  []*appCredential
	tokens    map[string]*token
	roles     map[string]string // ID by name
}

// newKeystone serves the API of Keystone on the cloud, and authenticates the callers of all services. It calls onProject for each new project.
func newKeystone(cloud *shared, onProject func(projectID string)) *keystoneService {
	svc := &keystoneService{shared: cloud, onProject: onProject}
	cloud.identifier = svc.identify
	svc.registerKeystone()
	return svc
}

func (k *keystoneService) project(nameOrID string) *project {
	for _, p := range k.projects {
		if p.id == nameOrID || p.name == nameOrID {
			return p
		}
	}
	return nil
}

func (k *keystoneService) user(nameOrID string) *user {
	for _, u := range k.users {
		if u.id == nameOrID || u.name == nameOrID {
			return u
		}
	}
	return nil
}

func (svc *keystoneService) addProject(name string) *project {
	p := &project{id: core.NewHexID(), name: name}
	svc.projects = append(svc.projects, p)
	svc.onProject(p.id)
	return p
}

func (svc *keystoneService) addUser(name, password string, roles []string, projects ...*project) *user {
	u := &user{id: core.NewHexID(), name: name, password: password, roles: map[string][]string{}}
	for _, p := range projects {
		u.roles[p.id] = roles
	}
	svc.users = append(svc.users, u)
	return u
}

// identify is the middleware in front of every service.
func (svc *keystoneService) identify(tokenID string, service wire.Service) (*identity, *wire.Error) {
	t := svc.tokens[tokenID]
	if t == nil || !svc.now().Before(t.expires) {
		return nil, core.UnauthenticatedAt(service)
	}
	if a := t.who.appCredentialID; a != "" && svc.appCredential(a) == nil {
		if service == wire.Keystone {
			return nil, missingIdentity("Application Credential", a)
		}
		return nil, core.UnauthenticatedAt(service)
	}
	return &t.who, nil
}

func memberRoles() []string { return []string{roleMember, roleBalancers} }

// addMember adds a user who is a plain member of the projects, given by name or ID, and returns the user's ID.
func (svc *keystoneService) addMember(name, password string, projects ...string) (string, error) {
	var found []*project
	for _, nameOrID := range projects {
		p := svc.project(nameOrID)
		if p == nil {
			return "", fmt.Errorf("adding user %q: no project %q", name, nameOrID)
		}
		found = append(found, p)
	}
	return svc.addUser(name, password, memberRoles(), found...).id, nil
}

// operatorOf is an administrator who acts inside a project, as its member user where there is one.
func (svc *keystoneService) operatorOf(nameOrID string) (*identity, error) {
	p := svc.project(nameOrID)
	if p == nil {
		return nil, fmt.Errorf("no project %q", nameOrID)
	}
	caller := &identity{projectID: p.id, projectName: p.name, roles: []string{roleAdmin}}
	for _, u := range svc.users {
		if u.roles[p.id] != nil {
			caller.userID, caller.userName = u.id, u.name
			break
		}
	}
	return caller, nil
}
