package aws

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/e2e/internal/tree"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
)

// drawGroup draws a security group with its rules. Rules that differ in their peers only are a line.
func drawGroup(group protocol.Struct) tree.Node {
	node := tree.Node{Name: nameOf(group, "GroupId"), Kind: "security group"}
	for _, direction := range []struct{ member, name, to string }{{"IpPermissions", "in ", "from"}, {"IpPermissionsEgress", "out", "to"}} {
		var lines []string
		for _, permission := range group.Structs(direction.member) {
			peers := strings.Join(peersOf(permission, group.String("GroupId")), ", ")
			lines = append(lines, fmt.Sprintf("%s  %s %s %s", direction.name, portsOf(permission), direction.to, peers))
		}
		slices.Sort(lines)
		for _, line := range lines {
			node.Below = append(node.Below, tree.Node{Name: line})
		}
	}
	return node
}

// portsOf describes the protocol and ports of rules.
func portsOf(permission protocol.Struct) string {
	if permission.String("IpProtocol") == "-1" {
		return "all"
	}
	return fmt.Sprintf("%s %d-%d", permission.String("IpProtocol"), permission.Int("FromPort"), permission.Int("ToPort"))
}

// peersOf lists the peers of rules of a group, ranges by their addresses.
func peersOf(permission protocol.Struct, group string) []string {
	var peers []string
	for _, pair := range permission.Structs("UserIdGroupPairs") {
		if id := pair.String("GroupId"); id == group {
			peers = append(peers, "the group itself")
		} else {
			peers = append(peers, id)
		}
	}
	for _, list := range []struct{ name, member string }{{"IpRanges", "CidrIp"}, {"Ipv6Ranges", "CidrIpv6"}} {
		for _, one := range permission.Structs(list.name) {
			peers = append(peers, one.String(list.member))
		}
	}
	slices.SortFunc(peers, func(a, b string) int {
		one, errOfOne := netip.ParsePrefix(a)
		other, errOfOther := netip.ParsePrefix(b)
		if errOfOne != nil || errOfOther != nil {
			return strings.Compare(a, b)
		}
		return one.Compare(other)
	})
	return peers
}
