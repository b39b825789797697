package calico

import (
	"fmt"
	"net/netip"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// The names are upstream's. The first two are also those that calico-node gives to pools that it makes itself.
	poolIPv4   = "default-ipv4-ippool"
	poolIPv6   = "default-ipv6-ippool"
	poolNoSNAT = "no-snat-for-node-cidr"

	// The sizes of the blocks that calico-ipam hands out, as prefix lengths. A pool cannot change its own, and these are those of
	// upstream and of calico-node.
	blockSize4 = 26
	blockSize6 = 122
)

// poolSpec is what the driver says in an IPPool of crd.projectcalico.org/v1.
type poolSpec struct {
	AllowedUses []string `json:"allowedUses,omitempty"`
	// AssignmentMode is since Calico v3.30, whose own definition of the kind has it by default. Ours is older and has not.
	AssignmentMode   string `json:"assignmentMode,omitempty"`
	BlockSize        int    `json:"blockSize,omitempty"`
	CIDR             string `json:"cidr"`
	Disabled         bool   `json:"disabled,omitempty"`
	DisableBGPExport bool   `json:"disableBGPExport,omitempty"`
	IPIPMode         string `json:"ipipMode"`
	NATOutgoing      bool   `json:"natOutgoing"`
	NodeSelector     string `json:"nodeSelector"`
	VXLANMode        string `json:"vxlanMode"`
}

// poolObjects are the IPPools. There is one for each range of pods in every case: else calico-node would make one as it likes. One
// that it has made is taken over, since it has the name, the range and the size of blocks that are given here.
func (s *settings) poolObjects() ([]client.Object, error) {
	var (
		objects []client.Object
		problem error
	)
	add := func(name string, spec *poolSpec) {
		object, err := calicoObject("IPPool", name, spec)
		if err != nil && problem == nil {
			problem = fmt.Errorf("building IPPool %s: %w", name, err)
		}
		objects = append(objects, object)
	}
	for i, cidr := range s.podRanges4 {
		add(numbered(poolIPv4, i), podPool(cidr, blockSize4, s.form.IPv4, true))
	}
	for i, cidr := range s.podRanges6 {
		add(numbered(poolIPv6, i), podPool(cidr, blockSize6, s.form.IPv6, *s.config.IPv6.SourceNATEnabled))
	}
	for i, cidr := range s.rangesWithoutSNAT() {
		add(numbered(poolNoSNAT, i), &poolSpec{
			CIDR: cidr, Disabled: true, DisableBGPExport: true, IPIPMode: never, VXLANMode: never, NodeSelector: "all()",
		})
	}
	return objects, problem
}

func podPool(cidr string, blockSize int, encap *encapsulation, nat bool) *poolSpec {
	modes := encap.orNever()
	if parsed, err := netip.ParsePrefix(cidr); err == nil {
		// A block does not fit into a pool that is smaller, which Calico refuses.
		blockSize = max(blockSize, parsed.Bits())
	}
	return &poolSpec{
		AllowedUses: []string{"Workload", "Tunnel"}, AssignmentMode: "Automatic", BlockSize: blockSize, CIDR: cidr, IPIPMode: modes.IPIP, NATOutgoing: nat,
		NodeSelector: "all()", VXLANMode: modes.VXLAN,
	}
}

// rangesWithoutSNAT are the ranges of nodes in whose packets from pods the address of the pod stays. Calico replaces it in all packets that
// leave the pools, if it does that at all; a pool that is disabled gives no addresses, but counts there. It makes sense only where
// packets between nodes carry addresses of pods anyway. Pools must not overlap.
func (s *settings) rangesWithoutSNAT() []string {
	if !s.form.native() {
		return nil
	}
	var ranges []string
	if s.ipv4 {
		ranges = append(ranges, nonOverlapping(s.nodeRanges4, s.podRanges4)...)
	}
	if s.ipv6 && *s.config.IPv6.SourceNATEnabled {
		ranges = append(ranges, nonOverlapping(s.nodeRanges6, s.podRanges6)...)
	}
	return ranges
}

// nonOverlapping returns the ranges that do not overlap with any of the others.
func nonOverlapping(ranges, others []string) []string {
	var found []string
	for _, text := range ranges {
		candidate, err := netip.ParsePrefix(text)
		overlaps := err != nil
		for _, other := range others {
			parsed, err := netip.ParsePrefix(other)
			overlaps = overlaps || err != nil || parsed.Overlaps(candidate)
		}
		if !overlaps {
			found = append(found, text)
		}
	}
	return found
}

// numbered leaves the first of its kind the bare name.
func numbered(name string, index int) string {
	if index == 0 {
		return name
	}
	return fmt.Sprintf("%s-%d", name, index+1)
}
