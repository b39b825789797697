package core

import "slices"

// Identity is a caller in a project.
type Identity struct {
	UserID, UserName       string
	ProjectID, ProjectName string // empty without a scope
	Roles                  []string
	AppCredentialID        string
}

// Admin reports whether the caller is an administrator.
func (i *Identity) Admin() bool { return slices.Contains(i.Roles, RoleAdmin) }

// Owns reports whether a resource of the project is the caller's, or the caller is an administrator.
func (i *Identity) Owns(projectID string) bool { return i.Admin() || i.ProjectID == projectID }

// DefaultDomain is the name of the only domain.
const DefaultDomain = "Default"

// The roles that services require.
const (
	RoleMember = "member"
	RoleAdmin  = "admin"
	// RoleBalancers is the role that Octavia requires for changes of load balancers.
	RoleBalancers = "load-balancer_member"
)
