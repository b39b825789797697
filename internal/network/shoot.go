package network

import (
	"net/netip"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
)

// Shoot is everything that a driver may know about the shoot. It is read-only.
type Shoot struct {
	// Network is the object as it was read at the start of the reconciliation.
	Network *extensionsv1alpha1.Network
	// TechnicalID is the shoot's name, e.g. "shoot--dev--one".
	TechnicalID string
	// KubernetesVersion is the shoot's, e.g. "1.36.2".
	KubernetesVersion string
	// Infrastructure is what the network of the shoot's machines allows.
	Infrastructure Infrastructure
	// Families are the IP families that pods have addresses of now, in the order of preference. There is one while the nodes of a shoot that requests
	// two are not ready for the second.
	Families []extensionsv1alpha1.IPFamily
	// PodRanges, ServiceRanges and NodeRanges are the effective ranges in CIDR notation, those of the shoot's status before those
	// of its spec. They may be of families that are not deployed yet; those of nodes may be unknown.
	PodRanges, ServiceRanges, NodeRanges []string
	// KubeProxy is the configuration of kube-proxy.
	KubeProxy KubeProxy
	// APIServerHost is the name or address at which nodes reach the kube-apiserver without any Service, e.g. "api.one.dev.example.org".
	// It is empty while it is unknown.
	APIServerHost string
	// APIServerPort is its port there.
	APIServerPort int
	// APIServerAddresses are the addresses that the names of the kube-apiserver lead to, as far as Gardener knows them, sorted.
	APIServerAddresses []netip.Addr
	// VerticalAutoscaling is true when the shoot has a vertical pod autoscaler.
	VerticalAutoscaling bool
	// NodeLocalDNS is true when pods use a DNS server on their node.
	NodeLocalDNS bool
	// Hibernated is true when the shoot is hibernated and has no nodes.
	Hibernated bool
	// Image looks up a name in the image vector for this shoot.
	Image func(name string) (string, error)
	// Deployed is what is in the shoot already.
	Deployed Deployed
}

// KubeProxy is the configuration of kube-proxy in a shoot.
type KubeProxy struct {
	// Enabled is false when the plugin has to route Services.
	Enabled bool
	// Mode is kube-proxy's mode. Gardener sets a default even where kube-proxy is disabled.
	Mode gardencorev1beta1.ProxyMode
}
