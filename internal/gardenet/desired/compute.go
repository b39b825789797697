package desired

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"github.com/trellis-garden/trellis/internal/gardenet/config"
	"github.com/trellis-garden/trellis/internal/gardenet/nft"
	"github.com/trellis-garden/trellis/internal/gardenet/policy"
)

// TableName is the name of the table of nftables. It belongs to the agent alone.
const TableName = "gardenet"

// Compute returns what the node has to have. It fails as long as the API server does not know the addresses of the node or the ranges of its pods. Other nodes
// for which that is true are left out.
func Compute(input Input) (State, error) {
	n, err := newNode(input)
	if err != nil {
		return State{}, err
	}
	state := State{Sysctls: n.sysctls(), Unreachable: map[string]string{}}
	if input.Config.Tunnel != nil {
		state.Device = n.device()
	}
	for _, other := range input.Others {
		n.reach(other, &state)
	}
	slices.SortFunc(state.Routes, func(a, b Route) int { return cmp.Compare(a.To.String(), b.To.String()) })
	slices.SortFunc(state.Neighbours, func(a, b Neighbour) int { return a.Address.Compare(b.Address) })
	state.Table = n.table()
	state.Conflist, err = n.conflist()
	return state, err
}

// node is the input with what follows from it for the own node.
type node struct {
	Input
	// underlay is the address that tunneled packets are sent from. Its family follows from the shoot, since all nodes have to agree on it: a node receives
	// packets in the family of its own device only.
	underlay netip.Addr
	// ranges are the own ranges of pods, of the shoot's families.
	ranges []netip.Prefix
}

func newNode(input Input) (*node, error) {
	n := &node{Input: input, ranges: inFamilies(input.Config, input.Node.PodRanges)}
	if len(n.ranges) == 0 {
		return nil, fmt.Errorf("node %s has no range for pods yet (spec.podCIDRs)", input.Node.Name)
	}
	if len(input.Node.Addresses) == 0 {
		return nil, fmt.Errorf("node %s has no address yet (status.addresses of type InternalIP)", input.Node.Name)
	}
	family := input.Config.PodRanges[0].Addr()
	if len(input.Config.NodeRanges) > 0 {
		family = input.Config.NodeRanges[0].Addr()
	}
	var found bool
	if n.underlay, found = ofFamily(input.Node.Addresses, family); !found && input.Config.Tunnel != nil {
		return nil, fmt.Errorf("node %s has no address of the family of %s, in which the nodes of this shoot send to each other", input.Node.Name, family)
	}
	return n, nil
}

// inFamilies returns the ranges whose address family the shoot has: while a family is added, some nodes have ranges of it early.
func inFamilies(c config.Config, ranges []netip.Prefix) []netip.Prefix {
	return slices.DeleteFunc(slices.Clone(ranges), func(r netip.Prefix) bool {
		return !slices.ContainsFunc(c.PodRanges, func(all netip.Prefix) bool { return all.Addr().Is4() == r.Addr().Is4() })
	})
}

// table has the rules for NetworkPolicies and for masquerading.
func (n *node) table() nft.Table {
	t := nft.Table{Name: TableName}
	if p := n.Config.NetworkPolicy; p != nil {
		rules := cmp.Or(n.Memo, &policy.Memo{}).For(n.Cluster, policy.Options{Recheck: p.Recheck, Generation: n.Generation, LogDenied: p.LogDenied})
		t.Counters, t.Sets, t.Chains = rules.Counters, rules.Sets, rules.Chains
	}
	n.addMasquerade(&t)
	return t
}

// The times in seconds for which kube-proxy has nodes remember connections. The kernel's own are 60 s for one that its client has closed and its server has not yet:
// packets that the server sends later would lose the address of the Service; and 5 days for one without any packets.
const (
	closeWaitTimeout   = "3600"
	establishedTimeout = "86400"
)

// sysctls are settings for forwarding, and for connections to Services. Packets from pods of other nodes arrive by the tunnel or by an uplink, whichever the other node uses: a reverse path filter
// must not require the way that this node uses itself (2 is loose, and wins over a strict setting for all devices).
func (n *node) sysctls() map[string]string {
	values := map[string]string{}
	for _, r := range n.Config.PodRanges {
		if r.Addr().Is4() {
			values["net/ipv4/ip_forward"] = "1"
		} else {
			values["net/ipv6/conf/all/forwarding"] = "1"
		}
	}
	if n.Config.ServiceRouting {
		values["net/netfilter/nf_conntrack_tcp_timeout_close_wait"] = closeWaitTimeout
		values["net/netfilter/nf_conntrack_tcp_timeout_established"] = establishedTimeout
	}
	if n.Config.Tunnel == nil || values["net/ipv4/ip_forward"] == "" {
		return values
	}
	for _, device := range append(uplinkNames(n.Facts.Uplinks), DeviceName) {
		values["net/ipv4/conf/"+device+"/rp_filter"] = "2"
	}
	return values
}

func uplinkNames(uplinks []Uplink) []string {
	var names []string
	for _, uplink := range uplinks {
		names = append(names, uplink.Name)
	}
	return names
}
