package network

import (
	"net/netip"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
)

// Shoot is everything that a driver may know about the shoot. It is read-only.
type Shoot struct {
	// Network is the object as it was read at the start of the pass.
	Network *extensionsv1alpha1.Network
	// TechnicalID is the shoot's name, e.g. "shoot--dev--one".
	TechnicalID string
	// KubernetesVersion is the shoot's, e.g. "1.36.2".
	KubernetesVersion string
	// Infrastructure is what the network of the shoot's machines is like.
	Infrastructure Infrastructure
	// Families are those that pods have addresses of now, in the order of preference. There is one of them while the nodes of a
	// shoot that asks for two are not ready for the second.
	Families []extensionsv1alpha1.IPFamily
	// PodRanges, ServiceRanges and NodeRanges are the effective ranges in CIDR notation, those of the shoot's status before those
	// of its spec. They may be of families that are not deployed yet; those of nodes may be unknown.
	PodRanges, ServiceRanges, NodeRanges []string
	// KubeProxy says who routes Services.
	KubeProxy KubeProxy
	// APIServerHost is the name or address at which nodes reach the kube-apiserver without any Service, e.g. "api.one.dev.example.org"; the port
	// is 443. It is empty when nobody knows it yet.
	APIServerHost string
	// APIServerAddresses are the addresses that the names of the kube-apiserver lead to, as far as Gardener knows them, sorted.
	APIServerAddresses []netip.Addr
	// VerticalAutoscaling is true when the shoot has a vertical pod autoscaler.
	VerticalAutoscaling bool
	// NodeLocalDNS is true when pods ask a DNS server on their node.
	NodeLocalDNS bool
	// Hibernated is true when there are no nodes, on purpose.
	Hibernated bool
	// Image looks up a name in the image vector for this shoot.
	Image func(name string) (string, error)
	// Deployed is what is in the shoot already.
	Deployed Deployed
}

// KubeProxy is what the shoot says of kube-proxy.
type KubeProxy struct {
	// Enabled is false when the plugin has to route Services.
	Enabled bool
	// Mode is how kube-proxy works, if it is enabled. Gardener gives it a default even where it is not.
	Mode gardencorev1beta1.ProxyMode
}
