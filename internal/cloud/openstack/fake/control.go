package fake

import (
	"fmt"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// SetMissingServices replaces the services that the catalog of tokens issued from now on lacks.
func (c *Cloud) SetMissingServices(services ...wire.Service) {
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	c.core.config.missingServices = services
}

// SetPolicy replaces the policy for plain members while the cloud runs.
func (c *Cloud) SetPolicy(p Policy) {
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	c.core.config.policy = p
}

// SetTransition makes resources that are created or deleted from now on take their time. Kinds without one are
// instantaneous.
func (c *Cloud) SetTransition(kind string, t Transition) {
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	c.core.config.transitions[kind] = t
}

// AddProject adds a project with a default security group and returns its ID.
func (c *Cloud) AddProject(name string) string {
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	return c.keystone.addProject(name).id
}

// SetPassword changes a user's password and, as Keystone does, revokes the user's tokens.
func (c *Cloud) SetPassword(user, password string) error {
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	u := c.keystone.user(user)
	if u == nil {
		return fmt.Errorf("setting a password: no user %q", user)
	}
	u.password = password
	c.keystone.dropTokens(func(t *token) bool { return t.who.userID == u.id })
	return nil
}

// RevokeTokens makes every token that was issued so far invalid: the next call with it is answered 401.
func (c *Cloud) RevokeTokens() {
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	clear(c.keystone.tokens)
}

// ProjectID returns the ID of a project given by name or ID, or "".
func (c *Cloud) ProjectID(nameOrID string) string {
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	if p := c.keystone.project(nameOrID); p != nil {
		return p.id
	}
	return ""
}

// UserID returns the ID of a user given by name or ID, or "".
func (c *Cloud) UserID(nameOrID string) string {
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	if u := c.keystone.user(nameOrID); u != nil {
		return u.id
	}
	return ""
}

// AppCredentialID returns the ID of the user's application credential of that name, or "".
func (c *Cloud) AppCredentialID(userNameOrID, name string) string {
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	u := c.keystone.user(userNameOrID)
	for _, a := range c.keystone.appCreds {
		if u != nil && a.userID == u.id && a.name == name {
			return a.id
		}
	}
	return ""
}

// SetQuota limits how many of a resource a project, given by name or ID, may have; Unlimited lifts the limit. Resources
// are named as the services do: network, subnet, subnetpool, port, router, floatingip, security_group,
// security_group_rule; instances, cores, ram, key_pairs, server_groups, server_group_members; load_balancer; share_networks; volumes, gigabytes.
func (c *Cloud) SetQuota(project, resource string, limit int) error {
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	p := c.keystone.project(project)
	if p == nil {
		return fmt.Errorf("setting a quota: no project %q", project)
	}
	c.core.setQuota(p.id, resource, limit)
	return nil
}

// AddUser adds a user who is a plain member of the projects, given by name or ID, and returns the user's ID.
func (c *Cloud) AddUser(name, password string, projects ...string) (string, error) {
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	return c.keystone.addMember(name, password, projects...)
}

// AddFlavor adds a public flavor and returns its ID.
func (c *Cloud) AddFlavor(f Flavor) string {
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	return c.nova.addFlavor(f)
}

// AddVolumeType adds a type of volumes and returns its ID. A type that is there already stays.
func (c *Cloud) AddVolumeType(name string) string {
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	return c.cinder.addVolumeType(name)
}

// ExhaustSubnet makes a subnet, given by name or ID, give out no address any more; or again, when full is false.
func (c *Cloud) ExhaustSubnet(nameOrID string, full bool) error {
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	return c.neutron.exhaustSubnet(nameOrID, full)
}

// AddImage adds a public image and returns its ID.
func (c *Cloud) AddImage(name, architecture string) string {
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	owner := ""
	if p := c.keystone.project(AdminProject); p != nil {
		owner = p.id
	}
	return c.glance.addPublicImage(name, architecture, owner)
}

// operator is an administrator who acts inside a project, as its member user where there is one.
func (c *Cloud) operator(project string) (*identity, error) {
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	return c.keystone.operatorOf(project)
}
