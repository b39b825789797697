package agent

import (
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/trellis-garden/trellis/internal/gardenet/desired"
)

// splitNodes returns the own Node, if it exists, and all others, sorted by name.
func splitNodes(nodes []*corev1.Node, name string) (own *corev1.Node, others []desired.Node) {
	for _, node := range nodes {
		if node.Name == name {
			own = node
			continue
		}
		others = append(others, nodeOf(node))
	}
	slices.SortFunc(others, func(a, b desired.Node) int { return strings.Compare(a.Name, b.Name) })
	return own, others
}

// nodeOf reads a Node. Values that cannot be read are left out: the API server validates them, so they belong to a newer version of it.
func nodeOf(node *corev1.Node) desired.Node {
	result := desired.Node{Name: node.Name}
	for _, address := range node.Status.Addresses {
		if address.Type != corev1.NodeInternalIP {
			continue
		}
		if parsed, err := netip.ParseAddr(address.Address); err == nil {
			result.Addresses = append(result.Addresses, parsed.Unmap())
		}
	}
	ranges := node.Spec.PodCIDRs
	if len(ranges) == 0 && node.Spec.PodCIDR != "" {
		ranges = []string{node.Spec.PodCIDR}
	}
	for _, text := range ranges {
		if parsed, err := netip.ParsePrefix(text); err == nil {
			result.PodRanges = append(result.PodRanges, parsed.Masked())
		}
	}
	return result
}
