package openstack

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

// node is a line of a drawn tree, with its children.
type node struct {
	name, kind string
	below      []node
}

// Draw returns the resources of a cloud as lines of a tree: external networks, routers, their subnets, and these subnets' networks; then the
// other resources. Default security groups, which belong to projects, and external networks' subnets are left out.
func Draw(state fake.State) []string {
	d := drawing{state}
	var lines []string
	for _, top := range slices.Concat(d.externalNetworks(), d.unroutedNetworks(), d.unattachedResources()) {
		lines = append(lines, top.lines()...)
	}
	return lines
}

// drawing finds related resources in a state.
type drawing struct{ fake.State }

func (n node) lines() []string {
	lines := []string{strings.TrimSpace(n.name + "  " + n.kind)}
	for i, below := range n.below {
		branch, trunk := "├─ ", "│  "
		if i == len(n.below)-1 {
			branch, trunk = "└─ ", "   "
		}
		for j, line := range below.lines() {
			if j == 0 {
				lines = append(lines, branch+line)
			} else {
				lines = append(lines, trunk+line)
			}
		}
	}
	return lines
}

func (d drawing) externalNetworks() []node {
	var nodes []node
	for _, network := range d.Networks {
		if !network.External {
			continue
		}
		external := node{name: network.Name, kind: "external network"}
		for _, router := range d.Routers {
			if router.Gateway != nil && router.Gateway.NetworkID == network.ID {
				external.below = append(external.below, d.router(router))
			}
		}
		nodes = append(nodes, external)
	}
	return nodes
}

func (d drawing) router(router fake.Router) node {
	var addresses []string
	for _, ip := range router.Gateway.ExternalFixedIPs {
		addresses = append(addresses, ip.IPAddress)
	}
	drawn := node{name: router.Name, kind: "router, outside " + strings.Join(addresses, ", ")}
	for _, port := range d.Ports {
		if port.DeviceID != router.ID || !strings.HasPrefix(port.DeviceOwner, "network:router_interface") {
			continue
		}
		for _, ip := range port.FixedIPs {
			drawn.below = append(drawn.below, d.interfaceIn(ip))
		}
	}
	return drawn
}

func (d drawing) interfaceIn(ip fake.FixedIP) node {
	drawn := node{name: ip.IPAddress, kind: "interface"}
	for _, subnet := range d.Subnets {
		if subnet.ID == ip.SubnetID {
			drawn.below = append(drawn.below, d.subnet(subnet))
		}
	}
	return drawn
}

func (d drawing) subnet(subnet fake.Subnet) node {
	kind := "subnet " + subnet.CIDR
	if len(subnet.DNSNameservers) > 0 {
		kind += ", DNS " + strings.Join(subnet.DNSNameservers, " ")
	}
	drawn := node{name: subnet.Name, kind: kind}
	for _, network := range d.Networks {
		if network.ID == subnet.NetworkID {
			drawn.below = append(drawn.below, node{name: network.Name, kind: fmt.Sprintf("network, MTU %d", network.MTU)})
		}
	}
	return drawn
}

// unroutedNetworks are networks without a router.
func (d drawing) unroutedNetworks() []node {
	reached := map[string]bool{}
	for _, port := range d.Ports {
		if strings.HasPrefix(port.DeviceOwner, "network:router_interface") {
			reached[port.NetworkID] = true
		}
	}
	var nodes []node
	for _, network := range d.Networks {
		if !network.External && !reached[network.ID] {
			nodes = append(nodes, node{name: network.Name, kind: "network, not connected"})
		}
	}
	return nodes
}

func (d drawing) unattachedResources() []node {
	var nodes []node
	for _, group := range d.SecurityGroups {
		if group.Name != "default" {
			nodes = append(nodes, node{name: group.Name, kind: fmt.Sprintf("security group, %d rules", len(group.Rules))})
		}
	}
	for _, pair := range d.KeyPairs {
		nodes = append(nodes, node{name: pair.Name, kind: "key pair " + pair.Fingerprint})
	}
	return nodes
}
