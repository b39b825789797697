package fake

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/neutron"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/octavia"
)

// branch is a line of a drawn tree with what hangs below it.
type branch struct {
	text  string
	below []*branch
}

func (b *branch) add(format string, args ...any) *branch {
	child := &branch{text: fmt.Sprintf(format, args...)}
	b.below = append(b.below, child)
	return child
}

func (b *branch) draw(out *strings.Builder, indent string) {
	for i, child := range b.below {
		joint, further := "├── ", "│   "
		if i == len(b.below)-1 {
			joint, further = "└── ", "    "
		}
		out.WriteString(indent + joint + child.text + "\n")
		child.draw(out, indent+further)
	}
}

// Tree draws what a project has: external networks, the routers on them, their interfaces and what is behind these;
// then security groups with their rules, key pairs and the rest. A default security group without users is left out.
func (c *Cloud) Tree(project string) string {
	all, mine := c.State(""), c.State(project)
	root := &branch{}
	drawn := map[string]bool{}
	for _, external := range all.Networks {
		if external.External {
			drawExternal(root, external, all, mine, drawn)
		}
	}
	for _, r := range mine.Routers {
		if r.Gateway == nil {
			drawRouter(root, r, mine, drawn)
		}
	}
	for _, n := range mine.Networks {
		if !drawn[n.ID] && !n.External {
			drawNetwork(root, n, mine, drawn)
		}
	}
	drawOthers(root, mine)
	var out strings.Builder
	out.WriteString(project + "\n")
	root.draw(&out, "")
	return out.String()
}

func drawExternal(root *branch, n neutron.Network, all, mine State, drawn map[string]bool) {
	drawn[n.ID] = true
	at := root.add("external network %s", n.Name)
	for _, r := range mine.Routers {
		if r.Gateway != nil && r.Gateway.NetworkID == n.ID {
			drawRouter(at, r, mine, drawn)
		}
	}
	for _, f := range mine.FloatingIPs {
		if f.FloatingNetworkID != n.ID {
			continue
		}
		target := "not associated"
		if i := slices.IndexFunc(all.Ports, func(p neutron.Port) bool { return p.ID == string(f.PortID) }); i >= 0 {
			target = "to " + string(f.FixedIPAddress) + " " + all.Ports[i].Name
		}
		at.add("floating IP %s %s", f.FloatingIPAddress, target)
	}
}

func drawRouter(at *branch, r neutron.Router, mine State, drawn map[string]bool) {
	text := "router " + r.Name
	if r.Gateway != nil {
		var ips []string
		for _, ip := range r.Gateway.ExternalFixedIPs {
			ips = append(ips, ip.IPAddress)
		}
		text += fmt.Sprintf(" (%s, SNAT %s)", strings.Join(ips, ", "), onOff(r.Gateway.EnableSNAT))
	}
	at = at.add("%s", text)
	for _, route := range r.Routes {
		at.add("route %s via %s", route.Destination, route.NextHop)
	}
	for _, p := range mine.Ports {
		if p.DeviceID != r.ID || !neutron.IsRouterInterface(p.DeviceOwner) {
			continue
		}
		via := at.add("interface %s", addresses(p))
		for _, n := range mine.Networks {
			if n.ID == p.NetworkID && !drawn[n.ID] {
				drawNetwork(via, n, mine, drawn)
			}
		}
	}
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func addresses(p neutron.Port) string {
	var ips []string
	for _, ip := range p.FixedIPs {
		ips = append(ips, ip.IPAddress)
	}
	return strings.Join(ips, ", ")
}

func drawNetwork(at *branch, n neutron.Network, mine State, drawn map[string]bool) {
	drawn[n.ID] = true
	at = at.add("network %s", n.Name)
	for _, s := range mine.Subnets {
		if s.NetworkID != n.ID {
			continue
		}
		below := at.add("subnet %s %s", s.Name, s.CIDR)
		for _, p := range mine.Ports {
			if neutron.IsRouterInterface(p.DeviceOwner) || len(p.FixedIPs) == 0 || p.FixedIPs[0].SubnetID != s.ID {
				continue
			}
			below.add("%s %s", portUser(p, mine), addresses(p))
		}
	}
}

// portUser says in words what a port belongs to.
func portUser(p neutron.Port, mine State) string {
	for _, s := range mine.Servers {
		if s.ID == p.DeviceID {
			return "server " + s.Name
		}
	}
	for _, b := range mine.LoadBalancers {
		if b.VIPPortID == p.ID {
			return fmt.Sprintf("load balancer %s (%s)", b.Name, b.ProvisioningStatus)
		}
	}
	return strings.TrimSpace("port " + p.Name + " " + p.DeviceOwner)
}

func drawOthers(root *branch, mine State) {
	for _, p := range mine.SubnetPools {
		root.add("subnet pool %s %s", p.Name, strings.Join(p.Prefixes, ", "))
	}
	for _, g := range mine.SecurityGroups {
		used := slices.ContainsFunc(mine.Ports, func(p neutron.Port) bool {
			return p.DeviceOwner != octavia.OwnerOctavia && slices.Contains(p.SecurityGroups, g.ID)
		})
		if g.Name == neutron.DefaultGroup && !used {
			continue
		}
		at := root.add("security group %s", g.Name)
		for _, r := range g.Rules {
			at.add("%s", brief(&r))
		}
	}
	for _, k := range mine.KeyPairs {
		root.add("key pair %s %s", k.Name, k.Fingerprint)
	}
	for _, g := range mine.ServerGroups {
		root.add("server group %s (%s)", g.Name, g.Policy)
	}
	for _, n := range mine.ShareNetworks {
		root.add("share network %s", n.Name)
	}
	for _, v := range mine.Volumes {
		root.add("volume %s, %d GiB", v.Name, v.Size)
	}
}
