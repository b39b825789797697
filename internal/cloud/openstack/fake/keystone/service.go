package keystone

import (
	"fmt"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

const (
	domainID   = "default"
	roleReader = "reader"
)

// Project is a project of the domain.
type Project struct {
	ID, name, description string
	disabled              bool
}

// User is a user of the domain, with roles in projects.
type User struct {
	ID, name, Password, defaultProject string
	disabled                           bool
	// PasswordExpires is zero for never.
	PasswordExpires time.Time
	Roles           map[string][]string // by project ID
}

// Token is a login.
type Token struct {
	id              string
	audits          []string // its own, and that of the login from which it descends
	Who             core.Identity
	methods         []string
	issued, expires time.Time
}

// Service is Keystone of the fake cloud. Its methods run while the lock of the cloud is held.
type Service struct {
	*core.Cloud

	onProject func(projectID string) // called for each new project
	projects  []*Project
	Users     []*User
	AppCreds  []*appCredential
	Tokens    map[string]*Token
	roles     map[string]string // ID by name
}

// New serves the API of Keystone on the cloud, and authenticates the callers of all services. It calls onProject for each new project.
func New(cloud *core.Cloud, onProject func(projectID string)) *Service {
	svc := &Service{Cloud: cloud, onProject: onProject}
	cloud.Identifier = svc.identify
	svc.registerKeystone()
	return svc
}

// Project returns a project by name or ID, or nil.
func (svc *Service) Project(nameOrID string) *Project {
	for _, p := range svc.projects {
		if p.ID == nameOrID || p.name == nameOrID {
			return p
		}
	}
	return nil
}

// User returns a user by name or ID, or nil.
func (svc *Service) User(nameOrID string) *User {
	for _, u := range svc.Users {
		if u.ID == nameOrID || u.name == nameOrID {
			return u
		}
	}
	return nil
}

// AddProject adds a project.
func (svc *Service) AddProject(name string) *Project {
	p := &Project{ID: core.NewHexID(), name: name}
	svc.projects = append(svc.projects, p)
	svc.onProject(p.ID)
	return p
}

// AddUser adds a user who has the roles in each of the projects.
func (svc *Service) AddUser(name, password string, roles []string, projects ...*Project) *User {
	u := &User{ID: core.NewHexID(), name: name, Password: password, Roles: map[string][]string{}}
	for _, p := range projects {
		u.Roles[p.ID] = roles
	}
	svc.Users = append(svc.Users, u)
	return u
}

// identify is the middleware in front of every service.
func (svc *Service) identify(tokenID string, service wire.Service) (*core.Identity, *wire.Error) {
	t := svc.Tokens[tokenID]
	if t == nil || !svc.Now().Before(t.expires) {
		return nil, core.UnauthenticatedAt(service)
	}
	if a := t.Who.AppCredentialID; a != "" && svc.appCredential(a) == nil {
		if service == services.Keystone {
			return nil, missingIdentity("Application Credential", a)
		}
		return nil, core.UnauthenticatedAt(service)
	}
	return &t.Who, nil
}

// MemberRoles returns the roles of a plain member of a project.
func MemberRoles() []string { return []string{core.RoleMember, core.RoleBalancers} }

// AddMember adds a user who is a plain member of the projects, given by name or ID, and returns the user's ID.
func (svc *Service) AddMember(name, password string, projects ...string) (string, error) {
	var found []*Project
	for _, nameOrID := range projects {
		p := svc.Project(nameOrID)
		if p == nil {
			return "", fmt.Errorf("adding user %q: no project %q", name, nameOrID)
		}
		found = append(found, p)
	}
	return svc.AddUser(name, password, MemberRoles(), found...).ID, nil
}

// OperatorOf is an administrator who acts inside a project, as its member user where there is one.
func (svc *Service) OperatorOf(nameOrID string) (*core.Identity, error) {
	p := svc.Project(nameOrID)
	if p == nil {
		return nil, fmt.Errorf("no project %q", nameOrID)
	}
	caller := &core.Identity{ProjectID: p.ID, ProjectName: p.name, Roles: []string{core.RoleAdmin}}
	for _, u := range svc.Users {
		if u.Roles[p.ID] != nil {
			caller.UserID, caller.UserName = u.ID, u.name
			break
		}
	}
	return caller, nil
}
