package router

import (
	"net/netip"
	"slices"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
)

// Options are what a router needs to know.
type Options struct {
	// Node is the name of the own Node.
	Node string
	// PodRanges are the ranges of all pods, at most one of each family. Their families are those that Services are routed for. ServiceRanges are those of Services.
	PodRanges, ServiceRanges []netip.Prefix
	// HandOver makes the router stop, and remove its rules, as soon as kube-proxy has made its own on this node. Until then it routes.
	HandOver bool
	// HealthAddress is where load balancers ask whether the node routes Services, kube-proxy's own by default. It is not served with HandOver.
	HealthAddress string
	// KubeProxy is the address of kube-proxy's metrics on this node.
	KubeProxy string
	// NFT is the program nft, by its name or path.
	NFT string
	// VerifyInterval is how often the rules in the kernel are compared with what the proxier has made.
	VerifyInterval time.Duration
	Client         kubernetes.Interface
	Log            logr.Logger
}

// families are those of the pods, in the order of the ranges.
func (o Options) families() []corev1.IPFamily {
	var found []corev1.IPFamily
	for _, prefix := range o.PodRanges {
		if family := familyOf(prefix.Addr()); !slices.Contains(found, family) {
			found = append(found, family)
		}
	}
	return found
}

func familyOf(address netip.Addr) corev1.IPFamily {
	if address.Is4() {
		return corev1.IPv4Protocol
	}
	return corev1.IPv6Protocol
}

// textsOf returns ranges in CIDR notation.
func textsOf(ranges []netip.Prefix) []string {
	var texts []string
	for _, prefix := range ranges {
		texts = append(texts, prefix.String())
	}
	return texts
}
