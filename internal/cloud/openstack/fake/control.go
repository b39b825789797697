package fake

import (
	"fmt"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/keystone"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/nova"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// SetMissingServices replaces the services that are left out of the catalog of new tokens.
func (c *Cloud) SetMissingServices(services ...wire.Service) {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	c.core.Config.MissingServices = services
}

// SetPolicy replaces the policy for plain members while the cloud runs.
func (c *Cloud) SetPolicy(p core.Policy) {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	c.core.Config.Policy = p
}

// SetTransition delays the creation or deletion of resources from now on. Kinds without a transition change at once.
func (c *Cloud) SetTransition(kind string, t core.Transition) {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	c.core.Config.Transitions[kind] = t
}

// AddProject adds a project with a default security group and returns its ID.
func (c *Cloud) AddProject(name string) string {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	return c.keystone.AddProject(name).ID
}

// SetPassword changes a user's password and, as Keystone does, revokes the user's tokens.
func (c *Cloud) SetPassword(user, password string) error {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	u := c.keystone.User(user)
	if u == nil {
		return fmt.Errorf("setting a password: no user %q", user)
	}
	u.Password = password
	c.keystone.DropTokens(func(t *keystone.Token) bool { return t.Who.UserID == u.ID })
	return nil
}

// SetPasswordExpiry sets when a user's password expires; zero for never. An operator of a real cloud configures an age instead.
func (c *Cloud) SetPasswordExpiry(user string, at time.Time) error {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	u := c.keystone.User(user)
	if u == nil {
		return fmt.Errorf("setting the expiry of a password: no user %q", user)
	}
	u.PasswordExpires = at
	return nil
}

// SetAppCredentialExpiry sets when an application credential expires; zero for never.
func (c *Cloud) SetAppCredentialExpiry(user, name string, at time.Time) error {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	u := c.keystone.User(user)
	if u == nil || !c.keystone.SetAppCredentialExpiry(u.ID, name, at) {
		return fmt.Errorf("setting the expiry of an application credential: user %q has no %q", user, name)
	}
	return nil
}

// RevokeTokens makes all issued tokens invalid: the next call with one is answered 401.
func (c *Cloud) RevokeTokens() {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	clear(c.keystone.Tokens)
}

// SetClockOffset makes the cloud's clock differ from that of this machine, as on hosts without time synchronization. Tokens that the cloud's clock
// shows as expired are answered 401; the duration of transitions stays the same.
func (c *Cloud) SetClockOffset(offset time.Duration) { c.core.SetClockOffset(offset) }

// ProjectID returns the ID of a project given by name or ID, or "".
func (c *Cloud) ProjectID(nameOrID string) string {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	if p := c.keystone.Project(nameOrID); p != nil {
		return p.ID
	}
	return ""
}

// UserID returns the ID of a user given by name or ID, or "".
func (c *Cloud) UserID(nameOrID string) string {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	if u := c.keystone.User(nameOrID); u != nil {
		return u.ID
	}
	return ""
}

// AppCredentialID returns the ID of the user's application credential of that name, or "".
func (c *Cloud) AppCredentialID(userNameOrID, name string) string {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	u := c.keystone.User(userNameOrID)
	for _, a := range c.keystone.AppCreds {
		if u != nil && a.UserID == u.ID && a.Name == name {
			return a.ID
		}
	}
	return ""
}

// SetQuota limits how many of a resource a project, given by name or ID, may have; Unlimited lifts the limit. Resources
// are named as the services do: network, subnet, subnetpool, port, router, floatingip, security_group,
// security_group_rule; instances, cores, ram, key_pairs, server_groups, server_group_members; load_balancer; share_networks; volumes, gigabytes.
func (c *Cloud) SetQuota(project, resource string, limit int) error {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	p := c.keystone.Project(project)
	if p == nil {
		return fmt.Errorf("setting a quota: no project %q", project)
	}
	c.core.SetQuota(p.ID, resource, limit)
	return nil
}

// AddUser adds a user who is a plain member of the projects, given by name or ID, and returns the user's ID.
func (c *Cloud) AddUser(name, password string, projects ...string) (string, error) {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	return c.keystone.AddMember(name, password, projects...)
}

// AddFlavor adds a public flavor and returns its ID.
func (c *Cloud) AddFlavor(f nova.Flavor) string {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	return c.nova.AddFlavor(f)
}

// AddVolumeType adds a volume type and returns its ID. An existing type is kept.
func (c *Cloud) AddVolumeType(name string) string {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	return c.cinder.AddVolumeType(name)
}

// ExhaustSubnet makes a subnet, given by name or ID, have no free address; or again, when full is false.
func (c *Cloud) ExhaustSubnet(nameOrID string, full bool) error {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	return c.neutron.ExhaustSubnet(nameOrID, full)
}

// AddImage adds a public image and returns its ID.
func (c *Cloud) AddImage(name, architecture string) string {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	owner := ""
	if p := c.keystone.Project(AdminProject); p != nil {
		owner = p.ID
	}
	return c.glance.AddPublicImage(name, architecture, owner)
}

// operator is an administrator who acts in a project, as its member user if there is one.
func (c *Cloud) operator(project string) (*core.Identity, error) {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	return c.keystone.OperatorOf(project)
}
