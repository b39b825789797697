package aws

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/e2e/internal/tree"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
)

// Draw returns the resources of the account as lines of a tree: VPCs with what is in them, then roles and key pairs. What AWS makes with a VPC, and
// deleted NAT gateways, are left out.
func (c *Cloud) Draw() ([]string, error) {
	s, err := c.read()
	if err != nil {
		return nil, err
	}
	var roots []tree.Node
	for _, vpc := range s.vpcs {
		roots = append(roots, s.vpc(vpc))
	}
	for _, role := range s.roles {
		node := tree.Node{Name: role.name, Kind: "role of nodes"}
		for _, policy := range role.policies {
			node.Below = append(node.Below, tree.Node{Name: policy, Kind: "policy"})
		}
		for _, profile := range role.profiles {
			node.Below = append(node.Below, tree.Node{Name: profile, Kind: "instance profile"})
		}
		roots = append(roots, node)
	}
	for _, pair := range s.keyPairs {
		roots = append(roots, tree.Node{Name: pair.String("KeyName"), Kind: "key pair " + pair.String("KeyFingerprint")})
	}
	return tree.Lines(roots), nil
}

func (s state) vpc(vpc protocol.Struct) tree.Node {
	id := vpc.String("VpcId")
	node := tree.Node{Name: nameOf(vpc, "VpcId"), Kind: "VPC " + vpc.String("CidrBlock")}
	for _, options := range s.dhcpOptions {
		if options.String("DhcpOptionsId") == vpc.String("DhcpOptionsId") {
			node.Below = append(node.Below, tree.Node{Name: nameOf(options, "DhcpOptionsId"), Kind: "DHCP options" + domainOf(options)})
		}
	}
	for _, gateway := range s.gateways {
		if slices.ContainsFunc(gateway.Structs("Attachments"), func(a protocol.Struct) bool { return a.String("VpcId") == id }) {
			node.Below = append(node.Below, tree.Node{Name: nameOf(gateway, "InternetGatewayId"), Kind: "internet gateway"})
		}
	}
	drawn := map[string]bool{} // route tables of zones, which have the name of the zone
	var zones []tree.Node
	for _, zone := range s.zonesOf(id) {
		zones = append(zones, s.zone(id, zone, drawn))
	}
	for _, table := range s.tablesOf(id) {
		if !drawn[table.String("RouteTableId")] {
			node.Below = append(node.Below, s.table(table))
		}
	}
	node.Below = append(node.Below, zones...)
	for _, group := range s.groups {
		if group.String("VpcId") == id && group.String("GroupName") != "default" {
			node.Below = append(node.Below, drawGroup(group))
		}
	}
	return node
}

func domainOf(options protocol.Struct) string {
	for _, option := range options.Structs("DhcpConfigurations") {
		if option.String("Key") == "domain-name" && len(option.Structs("Values")) > 0 {
			return ", domain " + option.Structs("Values")[0].String("Value")
		}
	}
	return ""
}

// zonesOf returns the names of the zones of a VPC's subnets, sorted.
func (s state) zonesOf(vpc string) []string {
	var zones []string
	for _, subnet := range s.subnets {
		if subnet.String("VpcId") == vpc {
			zones = append(zones, subnet.String("AvailabilityZone"))
		}
	}
	slices.Sort(zones)
	return slices.Compact(zones)
}

// tablesOf returns the route tables of a VPC that somebody created, sorted by their names.
func (s state) tablesOf(vpc string) []protocol.Struct {
	tables := slices.DeleteFunc(slices.Clone(s.tables), func(table protocol.Struct) bool {
		return table.String("VpcId") != vpc || slices.ContainsFunc(table.Structs("Associations"), func(a protocol.Struct) bool { return a.Bool("Main") })
	})
	slices.SortFunc(tables, func(a, b protocol.Struct) int {
		return strings.Compare(nameOf(a, "RouteTableId"), nameOf(b, "RouteTableId"))
	})
	return tables
}

// zone draws a zone with its subnets, and the route tables that only subnets of this zone use.
func (s state) zone(vpc, zone string, drawn map[string]bool) tree.Node {
	node := tree.Node{Name: zone, Kind: "zone"}
	inZone := map[string]bool{}
	subnets := slices.DeleteFunc(slices.Clone(s.subnets), func(subnet protocol.Struct) bool {
		return subnet.String("VpcId") != vpc || subnet.String("AvailabilityZone") != zone
	})
	slices.SortFunc(subnets, func(a, b protocol.Struct) int { return strings.Compare(nameOf(a, "SubnetId"), nameOf(b, "SubnetId")) })
	for _, subnet := range subnets {
		inZone[subnet.String("SubnetId")] = true
		node.Below = append(node.Below, s.subnet(subnet))
	}
	for _, table := range s.tablesOf(vpc) {
		associations := table.Structs("Associations")
		elsewhere := func(a protocol.Struct) bool { return !inZone[a.String("SubnetId")] }
		if len(associations) > 0 && !slices.ContainsFunc(associations, elsewhere) && !s.toInternet(table) {
			drawn[table.String("RouteTableId")] = true
			node.Below = append(node.Below, s.table(table))
		}
	}
	return node
}

// toInternet reports whether a table has a route to an internet gateway: such a table belongs to all zones, even if there is one.
func (s state) toInternet(table protocol.Struct) bool {
	return slices.ContainsFunc(table.Structs("Routes"), func(r protocol.Struct) bool { return strings.HasPrefix(r.String("GatewayId"), "igw-") })
}

// subnet draws a subnet with its NAT gateway, the elastic IPs of that, and its instances.
func (s state) subnet(subnet protocol.Struct) tree.Node {
	node := tree.Node{Name: nameOf(subnet, "SubnetId"), Kind: "subnet " + subnet.String("CidrBlock"), Below: s.instancesIn(subnet.String("SubnetId"))}
	for _, gateway := range s.natGateways {
		if gateway.String("SubnetId") != subnet.String("SubnetId") || gateway.String("State") == "deleted" {
			continue
		}
		drawn := tree.Node{Name: nameOf(gateway, "NatGatewayId"), Kind: "NAT gateway, " + gateway.String("State")}
		for _, used := range gateway.Structs("NatGatewayAddresses") {
			for _, address := range s.addresses {
				if address.String("AllocationId") == used.String("AllocationId") {
					drawn.Below = append(drawn.Below, tree.Node{Name: nameOf(address, "AllocationId"), Kind: "elastic IP " + address.String("PublicIp")})
				}
			}
		}
		node.Below = append(node.Below, drawn)
	}
	return node
}

// instancesIn draws the instances of a subnet that are not terminated, sorted by their names.
func (s state) instancesIn(subnet string) []tree.Node {
	var drawn []tree.Node
	for _, reservation := range s.reservations {
		for _, one := range reservation.Structs("Instances") {
			instance := newInstance(one, nil)
			if one.String("SubnetId") == subnet && instance.State != "terminated" {
				kind := fmt.Sprintf("instance %s, %s, %s", instance.Type, instance.Address, instance.State)
				drawn = append(drawn, tree.Node{Name: instance.Name, Kind: kind})
			}
		}
	}
	slices.SortFunc(drawn, func(a, b tree.Node) int { return strings.Compare(a.Name, b.Name) })
	return drawn
}

// table draws a route table with its routes, except those within the VPC.
func (s state) table(table protocol.Struct) tree.Node {
	node := tree.Node{Name: nameOf(table, "RouteTableId"), Kind: fmt.Sprintf("route table of %s", count(len(table.Structs("Associations")), "subnet"))}
	for _, route := range table.Structs("Routes") {
		if target := s.targetOf(route); target != "" {
			node.Below = append(node.Below, tree.Node{Name: route.String("DestinationCidrBlock"), Kind: "route to " + target})
		}
	}
	return node
}

// targetOf describes the target of a route; empty for one within the VPC.
func (s state) targetOf(route protocol.Struct) string {
	if id := route.String("NatGatewayId"); id != "" {
		for _, gateway := range s.natGateways {
			if gateway.String("NatGatewayId") == id {
				return "NAT gateway " + nameOf(gateway, "NatGatewayId")
			}
		}
		return "NAT gateway " + id
	}
	switch id := route.String("GatewayId"); {
	case id == "local":
		return ""
	case strings.HasPrefix(id, "igw-"):
		return "internet gateway"
	default:
		return id
	}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
