package fake

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/cinder"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/manila"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/neutron"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/nova"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/octavia"
)

// State is what exists, oldest first in each list. It is a copy: reading it needs no care.
type State struct {
	Networks       []neutron.Network       `json:"networks"`
	Subnets        []neutron.Subnet        `json:"subnets"`
	SubnetPools    []neutron.SubnetPool    `json:"subnetPools"`
	Routers        []neutron.Router        `json:"routers"`
	Ports          []neutron.Port          `json:"ports"`
	FloatingIPs    []neutron.FloatingIP    `json:"floatingIPs"`
	SecurityGroups []neutron.SecurityGroup `json:"securityGroups"`
	KeyPairs       []nova.KeyPair          `json:"keyPairs"`
	Servers        []nova.Server           `json:"servers"`
	ServerGroups   []nova.ServerGroup      `json:"serverGroups"`
	LoadBalancers  []octavia.LoadBalancer  `json:"loadBalancers"`
	ShareNetworks  []manila.ShareNetwork   `json:"shareNetworks"`
	Volumes        []cinder.Volume         `json:"volumes"`
}

// State returns what a project owns, given by name or ID, and the key pairs of its users; with "" all there is. Ports
// that belong to nobody (router gateways, floating IPs) count to the project of what they serve.
func (c *Cloud) State(project string) State {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	c.core.FinishTransitions()
	all, id := project == "", project
	if p := c.keystone.Project(project); p != nil {
		id = p.ID
	}
	mine := func(owner string) bool { return all || owner == id }
	users := map[string]bool{}
	for _, u := range c.keystone.Users {
		users[u.ID] = all || u.Roles[id] != nil
	}
	return State{
		Networks:       selectCopies(c.neutron.Networks, func(n *neutron.Network) bool { return mine(n.ProjectID) }),
		Subnets:        selectCopies(c.neutron.Subnets, func(s *neutron.Subnet) bool { return mine(s.ProjectID) }),
		SubnetPools:    selectCopies(c.neutron.Pools, func(p *neutron.SubnetPool) bool { return mine(p.ProjectID) }),
		Routers:        selectCopies(c.neutron.Routers, func(r *neutron.Router) bool { return mine(r.ProjectID) }),
		Ports:          selectCopies(c.neutron.Ports, func(p *neutron.Port) bool { return mine(c.ownerProject(p)) }),
		FloatingIPs:    selectCopies(c.neutron.Fips, func(f *neutron.FloatingIP) bool { return mine(f.ProjectID) }),
		SecurityGroups: selectCopies(c.neutron.Groups, func(g *neutron.SecurityGroup) bool { return mine(g.ProjectID) }),
		KeyPairs:       selectCopies(c.nova.KeyPairs, func(k *nova.KeyPair) bool { return users[k.UserID] }),
		Servers:        selectCopies(c.nova.Servers, func(s *nova.Server) bool { return mine(s.ProjectID) }),
		ServerGroups:   selectCopies(c.nova.Groups, func(g *nova.ServerGroup) bool { return mine(g.ProjectID) }),
		LoadBalancers:  selectCopies(c.octavia.Balancers, func(b *octavia.LoadBalancer) bool { return mine(b.ProjectID) }),
		ShareNetworks:  selectCopies(c.manila.Networks, func(n *manila.ShareNetwork) bool { return mine(n.ProjectID) }),
		Volumes:        selectCopies(c.cinder.Volumes, func(v *cinder.Volume) bool { return mine(v.ProjectID) }),
	}
}

func selectCopies[T any](t *core.Table[T], match func(*T) bool) []T {
	return core.Copies(t.Where(match))
}

// ownerProject is the project of a port, or of the router or floating IP that it serves.
func (c *Cloud) ownerProject(p *neutron.Port) string {
	if p.ProjectID != "" {
		return p.ProjectID
	}
	if r := c.neutron.Routers.Get(p.DeviceID); r != nil {
		return r.ProjectID
	}
	if f := c.neutron.Fips.Get(p.DeviceID); f != nil {
		return f.ProjectID
	}
	return ""
}

// List names every resource on a line of its own: "network foo 1d2c...". Rules are listed beside their groups.
func (s State) List() []string {
	var out []string
	add := func(kind, name, id string) { out = append(out, strings.Join([]string{kind, name, id}, " ")) }
	for _, r := range s.Networks {
		add("network", r.Name, r.ID)
	}
	for _, r := range s.Subnets {
		add("subnet", r.Name, r.ID)
	}
	for _, r := range s.SubnetPools {
		add("subnet pool", r.Name, r.ID)
	}
	for _, r := range s.Routers {
		add("router", r.Name, r.ID)
	}
	for _, r := range s.Ports {
		add("port", r.DeviceOwner+" "+r.Name, r.ID)
	}
	for _, r := range s.FloatingIPs {
		add("floating IP", r.FloatingIPAddress, r.ID)
	}
	for _, r := range s.SecurityGroups {
		add("security group", r.Name, r.ID)
		for _, rule := range r.Rules {
			add("rule", fmt.Sprintf("of %s: %s", r.Name, brief(&rule)), rule.ID)
		}
	}
	return append(out, s.listMore()...)
}

// listMore names what is not Neutron's.
func (s State) listMore() []string {
	var out []string
	add := func(kind, name, id string) { out = append(out, strings.Join([]string{kind, name, id}, " ")) }
	for _, r := range s.KeyPairs {
		add("key pair", r.Name, r.Fingerprint)
	}
	for _, r := range s.Servers {
		add("server", r.Name, r.ID)
	}
	for _, r := range s.ServerGroups {
		add("server group", r.Name, r.ID)
	}
	for _, r := range s.LoadBalancers {
		add("load balancer", r.Name, r.ID)
	}
	for _, r := range s.ShareNetworks {
		add("share network", r.Name, r.ID)
	}
	for _, r := range s.Volumes {
		add("volume", r.Name, r.ID)
	}
	return out
}

// Count is the number of resources, rules included.
func (s State) Count() int { return len(s.List()) }

// Diff names what came and what went between two states.
func Diff(before, after State) (came, went []string) {
	old, now := before.List(), after.List()
	came = core.Without(now, func(line string) bool { return slices.Contains(old, line) })
	went = core.Without(old, func(line string) bool { return slices.Contains(now, line) })
	return came, went
}

// brief is a rule in a few words: "ingress IPv4 tcp 30000-32767 from 0.0.0.0/0".
func brief(r *neutron.SecurityGroupRule) string {
	parts := []string{r.Direction, r.EtherType}
	if r.Protocol != "" {
		parts = append(parts, string(r.Protocol))
	}
	if r.PortRangeMin != neutron.AnyPort || r.PortRangeMax != neutron.AnyPort {
		parts = append(parts, fmt.Sprintf("%d-%d", r.PortRangeMin, r.PortRangeMax))
	}
	side := "from"
	if r.Direction == "egress" {
		side = "to"
	}
	switch {
	case r.RemoteIPPrefix != "":
		parts = append(parts, side, string(r.RemoteIPPrefix))
	case string(r.RemoteGroupID) == r.SecurityGroupID:
		parts = append(parts, side, "the group itself")
	case r.RemoteGroupID != "":
		parts = append(parts, side, "group", string(r.RemoteGroupID))
	default:
		parts = append(parts, side, "anywhere")
	}
	return strings.Join(parts, " ")
}
