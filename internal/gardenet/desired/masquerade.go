package desired

import (
	"net/netip"
	"slices"

	"github.com/trellis-garden/trellis/internal/gardenet/nft"
)

// Names of what masquerades.
const (
	chainPostrouting  = "postrouting"
	setLocalPods      = "local-pods-"
	setWithoutMasking = "not-masqueraded-"
)

// addMasquerade adds a chain that gives packets of local pods the node's address when they leave the shoot. It comes before the chains of others, such as
// kube-proxy's, at the priority srcnat. Name servers outside may answer nodes only, so their packets may be masqueraded alone.
func (n *node) addMasquerade(t *nft.Table) {
	m := n.Config.Masquerade
	if !m.Enabled && !m.DNS {
		return
	}
	suffix := " masquerade fully-random"
	if !m.Enabled {
		suffix = " meta l4proto { tcp, udp } th dport 53" + suffix
	}
	inside := slices.Concat(n.Config.PodRanges, n.Config.NodeRanges, m.Except)
	chain := nft.Chain{Name: chainPostrouting, Base: "type nat hook postrouting priority srcnat - 5; policy accept;"}
	for _, local := range n.ranges {
		family, setType := "ip", "ipv4_addr"
		if local.Addr().Is6() {
			family, setType = "ip6", "ipv6_addr"
		}
		excluded := slices.DeleteFunc(slices.Clone(inside), func(r netip.Prefix) bool { return r.Addr().Is4() != local.Addr().Is4() })
		t.Sets = append(t.Sets,
			nft.Set{Name: setLocalPods + family, Type: setType, Interval: true, Elements: disjoint([]netip.Prefix{local})},
			nft.Set{Name: setWithoutMasking + family, Type: setType, Interval: true, Elements: disjoint(excluded)},
		)
		chain.Rules = append(chain.Rules, family+" saddr @"+setLocalPods+family+" "+family+" daddr != @"+setWithoutMasking+family+suffix)
	}
	t.Chains = append(t.Chains, chain)
}

// disjoint returns the ranges without those that others contain: elements of a set must not overlap.
func disjoint(ranges []netip.Prefix) []string {
	ranges = slices.Clone(ranges)
	slices.SortFunc(ranges, func(a, b netip.Prefix) int {
		if c := a.Addr().Compare(b.Addr()); c != 0 {
			return c
		}
		return a.Bits() - b.Bits()
	})
	var kept []string
	var last netip.Prefix
	for _, r := range ranges {
		if last.IsValid() && last.Contains(r.Addr()) {
			continue
		}
		last = r
		text := r.String()
		if r.IsSingleIP() {
			text = r.Addr().String()
		}
		kept = append(kept, text)
	}
	slices.Sort(kept)
	return kept
}
