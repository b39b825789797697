package fake

import "slices"

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

// defaultDomain is the name of the only domain.
const defaultDomain = "Default"

// The roles that services ask for.
const (
	roleMember = "member"
	roleAdmin  = "admin"
	// roleBalancers is what Octavia requires of whoever makes load balancers.
	roleBalancers = "load-balancer_member"
)
