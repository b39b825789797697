// Package policy turns NetworkPolicies into sets, chains and rules of nftables for the pods of one node: a pure function of what the API server knows. It must
// not know where that comes from, nor how rules get into the kernel.
package policy

import (
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/trellis-garden/trellis/internal/gardenet/nft"
)

// Cluster is what the API server knows.
type Cluster struct {
	// Node is the name of the node that the rules are for.
	Node string
	// LocalRanges are the ranges of the pods of that node.
	LocalRanges []netip.Prefix

	Pods       []*corev1.Pod
	Namespaces []*corev1.Namespace
	Policies   []*networkingv1.NetworkPolicy
}

// Options are the settings of the enforcement.
type Options struct {
	// Recheck is true if connections that are established are checked again when Generation has changed.
	Recheck bool
	// Generation is that of the rules, 1 to 255. It is stored in the conntrack mark of each connection that they have accepted.
	Generation uint8
}

// Rules are a part of a table.
type Rules struct {
	Sets   []nft.Set
	Chains []nft.Chain
}
