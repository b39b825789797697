package calico

import (
	"fmt"
	"net/netip"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// The names are upstream's. The first two are also those that calico-node gives to pools that it creates itself.
	poolIPv4   = "default-ipv4-ippool"
	poolIPv6   = "default-ipv6-ippool"
	poolNoSNAT = "no-snat-for-node-cidr"

	// The sizes of calico-ipam's blocks, as prefix lengths. They are those of upstream and of calico-node; a pool's size is immutable.
	blockSize4 = 26
	blockSize6 = 122
)

// poolSpec is the part of an IPPool of crd.projectcalico.org/v1 that the driver sets.
type poolSpec struct {
	AllowedUses []string `json:"allowedUses,omitempty"`
	// AssignmentMode exists since Calico v3.30, whose own definition of the kind sets its default. Ours is older and does not.
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

// poolObjects returns the IPPools. There is always one for each range of pods: otherwise calico-node would create one with its defaults. A pool that
// calico-node has created is adopted, since it has the same name, range and block size.
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
		// A block must fit into the pool; Calico refuses a smaller pool.
		blockSize = max(blockSize, parsed.Bits())
	}
	return &poolSpec{
		AllowedUses: []string{"Workload", "Tunnel"}, AssignmentMode: "Automatic", BlockSize: blockSize, CIDR: cidr, IPIPMode: modes.IPIP, NATOutgoing: nat,
		NodeSelector: "all()", VXLANMode: modes.VXLAN,
	}
}

// rangesWithoutSNAT returns the ranges of nodes to which packets keep the address of the pod. With source NAT, Calico replaces it in all packets that
// leave the pools; a disabled pool assigns no addresses, but counts as a pool there. This makes sense only where packets between nodes carry addresses
// of pods anyway. Pools must not overlap.
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

// numbered returns the name without a number for the first of its kind.
func numbered(name string, index int) string {
	if index == 0 {
		return name
	}
	return fmt.Sprintf("%s-%d", name, index+1)
}
