package calico

import (
	"net/netip"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"

	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
	"github.com/trellis-garden/trellis/internal/network"
)

// settings is everything that the objects of one rendering depend on. Code that renders an object decides nothing: renderings with equal settings are
// equal to the byte.
type settings struct {
	// config is the effective configuration: every field that has an effect in this shoot has a value.
	config *calicov1alpha1.NetworkConfig
	// form is the part on which all nodes must agree.
	form form
	// ipv4 and ipv6 are the IP families that pods have addresses of. At least one is true.
	ipv4, ipv6 bool
	ipv6First  bool
	// podRanges and nodeRanges are in CIDR notation, only those of deployed families.
	podRanges4, podRanges6   []string
	nodeRanges4, nodeRanges6 []string

	kubernetesVersion string
	// namespace is the shoot's in the seed.
	namespace      string
	infrastructure network.Infrastructure

	// kubeProxy is true when kube-proxy routes Services, in the mode given.
	kubeProxy     bool
	kubeProxyMode gardencorev1beta1.ProxyMode
	// apiServerHost and apiServerPort are for an eBPF data plane that replaces kube-proxy: it cannot reach the kube-apiserver by a Service before it
	// routes Services itself.
	apiServerHost string
	apiServerPort int
	// apiServerAddresses are for users' network policies.
	apiServerAddresses []netip.Addr

	// verticalAutoscaling is true when the shoot has a vertical pod autoscaler.
	verticalAutoscaling bool
	// nodeLocalDNS is true when pods use a DNS server on their node.
	nodeLocalDNS bool

	image func(name string) (string, error)
}

// form is what may have to change in stages. It is kept in status.state and read by later versions of this driver: fields are never renamed, and a new
// one must have a meaningful zero value.
type form struct {
	// IPAM is "host-local" or "calico-ipam".
	IPAM string `json:"ipam"`
	// Backend is "bird", "vxlan" or "none": the component that programs routes on nodes.
	Backend string `json:"backend"`
	// IPIP and VXLAN are the tunnels that nodes have, whether or not packets use them.
	IPIP  bool `json:"ipip,omitempty"`
	VXLAN bool `json:"vxlan,omitempty"`
	// IPv4 and IPv6 are which packets between pods use which tunnel. A family that is not deployed has none.
	IPv4 *encapsulation `json:"ipv4,omitempty"`
	IPv6 *encapsulation `json:"ipv6,omitempty"`
	// Typha is true when Typha is deployed, NodesUseTypha when nodes connect to it instead of the kube-apiserver.
	Typha         bool `json:"typha,omitempty"`
	NodesUseTypha bool `json:"nodesUseTypha,omitempty"`
	// TyphaIPAM is "calico-ipam" when Typha sends calico-ipam's address ranges although nodes do not use it yet. Otherwise Typha follows IPAM.
	TyphaIPAM string `json:"typhaIPAM,omitempty"`
	// WaitsForRoutes is true when the cloud's route controller is about to take over. It changes no rendered object: a restarted pod of calico-node
	// would write the node's network condition, which the route controller sets from then on.
	WaitsForRoutes bool `json:"awaitsRoutes,omitempty"`
	// UpstreamDNS is true when nodes masquerade requests of pods to the nodes' DNS servers, which may accept requests from nodes only.
	UpstreamDNS bool `json:"upstreamDNS,omitempty"`
	// BPF is true when the data plane is eBPF.
	BPF bool `json:"bpf,omitempty"`
	// NFTables is true when rules are programmed with nftables.
	NFTables bool `json:"nftables,omitempty"`
	// WireGuard is true when packets between nodes are encrypted.
	WireGuard bool `json:"wireGuard,omitempty"`
	// UpstreamIPIP is true when upstream's extension deployed IP-in-IP and the user has set no field that upstream reads to change that. It changes no
	// rendered object.
	UpstreamIPIP bool `json:"upstreamIPIP,omitempty"`
}

// encapsulation holds the modes of an IPPool in Calico's words: "Always", "CrossSubnet" or "Never". At most one is not "Never".
type encapsulation struct {
	IPIP  string `json:"ipip"`
	VXLAN string `json:"vxlan"`
}
