package openstack

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/e2e/internal/tree"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

// Draw returns the resources of a cloud as lines of a tree: external networks, routers, their subnets, and these subnets' networks; then the
// other resources. Default security groups, which belong to projects, and external networks' subnets are left out.
func Draw(state fake.State) []string {
	d := drawing{state}
	return tree.Lines(slices.Concat(d.externalNetworks(), d.unroutedNetworks(), d.unattachedResources()))
}

// drawing finds related resources in a state.
type drawing struct{ fake.State }

func (d drawing) externalNetworks() []tree.Node {
	var nodes []tree.Node
	for _, network := range d.Networks {
		if !network.External {
			continue
		}
		external := tree.Node{Name: network.Name, Kind: "external network"}
		for _, router := range d.Routers {
			if router.Gateway != nil && router.Gateway.NetworkID == network.ID {
				external.Below = append(external.Below, d.router(router))
			}
		}
		nodes = append(nodes, external)
	}
	return nodes
}

func (d drawing) router(router fake.Router) tree.Node {
	var addresses []string
	for _, ip := range router.Gateway.ExternalFixedIPs {
		addresses = append(addresses, ip.IPAddress)
	}
	drawn := tree.Node{Name: router.Name, Kind: "router, outside " + strings.Join(addresses, ", ")}
	for _, port := range d.Ports {
		if port.DeviceID != router.ID || !strings.HasPrefix(port.DeviceOwner, "network:router_interface") {
			continue
		}
		for _, ip := range port.FixedIPs {
			drawn.Below = append(drawn.Below, d.interfaceIn(ip))
		}
	}
	return drawn
}

func (d drawing) interfaceIn(ip fake.FixedIP) tree.Node {
	drawn := tree.Node{Name: ip.IPAddress, Kind: "interface"}
	for _, subnet := range d.Subnets {
		if subnet.ID == ip.SubnetID {
			drawn.Below = append(drawn.Below, d.subnet(subnet))
		}
	}
	return drawn
}

func (d drawing) subnet(subnet fake.Subnet) tree.Node {
	kind := "subnet " + subnet.CIDR
	if len(subnet.DNSNameservers) > 0 {
		kind += ", DNS " + strings.Join(subnet.DNSNameservers, " ")
	}
	drawn := tree.Node{Name: subnet.Name, Kind: kind}
	for _, network := range d.Networks {
		if network.ID == subnet.NetworkID {
			drawn.Below = append(drawn.Below, tree.Node{Name: network.Name, Kind: fmt.Sprintf("network, MTU %d", network.MTU)})
		}
	}
	return drawn
}

// unroutedNetworks are networks without a router.
func (d drawing) unroutedNetworks() []tree.Node {
	reached := map[string]bool{}
	for _, port := range d.Ports {
		if strings.HasPrefix(port.DeviceOwner, "network:router_interface") {
			reached[port.NetworkID] = true
		}
	}
	var nodes []tree.Node
	for _, network := range d.Networks {
		if !network.External && !reached[network.ID] {
			nodes = append(nodes, tree.Node{Name: network.Name, Kind: "network, not connected"})
		}
	}
	return nodes
}

func (d drawing) unattachedResources() []tree.Node {
	var nodes []tree.Node
	for _, group := range d.SecurityGroups {
		if group.Name != "default" {
			nodes = append(nodes, tree.Node{Name: group.Name, Kind: fmt.Sprintf("security group, %d rules", len(group.Rules))})
		}
	}
	for _, pair := range d.KeyPairs {
		nodes = append(nodes, tree.Node{Name: pair.Name, Kind: "key pair " + pair.Fingerprint})
	}
	return nodes
}
