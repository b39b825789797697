package calico

import (
	"net/netip"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"

	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
	"github.com/trellis-garden/trellis/internal/network"
)

// settings is everything that the objects of one rendering depend on. Whoever renders an object decides nothing: two
// renderings with the same settings are the same bytes.
type settings struct {
	// config is the effective configuration: every field that matters in this shoot has a value.
	config *calicov1alpha1.NetworkConfig
	// form is what nodes have to agree upon.
	form form
	// ipv4 and ipv6 say which families of addresses pods have. One of them is preferred.
	ipv4, ipv6 bool
	ipv6First  bool
	// podRanges and nodeRanges are in CIDR notation, those of deployed families only.
	podRanges4, podRanges6   []string
	nodeRanges4, nodeRanges6 []string

	kubernetesVersion string
	// namespace is the shoot's in the seed.
	namespace      string
	infrastructure network.Infrastructure

	// kubeProxy is true when kube-proxy routes Services, in the mode given.
	kubeProxy     bool
	kubeProxyMode gardencorev1beta1.ProxyMode
	// apiServerHost is for an eBPF data plane that replaces kube-proxy: it cannot reach the kube-apiserver by a Service before it
	// routes Services itself.
	apiServerHost string
	// apiServerAddresses are for users' network policies.
	apiServerAddresses []netip.Addr

	// verticalAutoscaling is true when the shoot has a vertical pod autoscaler.
	verticalAutoscaling bool
	// nodeLocalDNS is true when pods ask a DNS server on their node.
	nodeLocalDNS bool

	image func(name string) (string, error)
}

// form is what a change has to go over in stages, if at all. It is kept in status.state and read back by later versions of
// this driver: fields are never renamed, and a new one must make sense when it is empty.
type form struct {
	// IPAM is "host-local" or "calico-ipam".
	IPAM string `json:"ipam"`
	// Backend is "bird", "vxlan" or "none": who programs routes on nodes.
	Backend string `json:"backend"`
	// IPIP and VXLAN say which tunnels nodes have, whether or not packets go through them.
	IPIP  bool `json:"ipip,omitempty"`
	VXLAN bool `json:"vxlan,omitempty"`
	// IPv4 and IPv6 say which packets between pods go through which tunnel. A family that is not deployed has none.
	IPv4 *encapsulation `json:"ipv4,omitempty"`
	IPv6 *encapsulation `json:"ipv6,omitempty"`
	// Typha says whether Typha is there, NodesUseTypha whether nodes ask it instead of the kube-apiserver.
	Typha         bool `json:"typha,omitempty"`
	NodesUseTypha bool `json:"nodesUseTypha,omitempty"`
	// TyphaIPAM is "calico-ipam" when Typha tells of its ranges of addresses although nodes do not use it yet. Else Typha goes with
	// IPAM.
	TyphaIPAM string `json:"typhaIPAM,omitempty"`
	// WaitsForRoutes says that the cloud's route controller is about to take over. It changes nothing that is rendered: a pod of
	// calico-node that starts anew would claim the node's network condition, which is the route controller's to set now.
	WaitsForRoutes bool `json:"awaitsRoutes,omitempty"`
	// UpstreamDNS says whether nodes masquerade what pods ask of the nodes' DNS servers, which may answer to nodes alone.
	UpstreamDNS bool `json:"upstreamDNS,omitempty"`
	// BPF says whether the data plane is eBPF.
	BPF bool `json:"bpf,omitempty"`
	// NFTables says whether rules are made by nftables.
	NFTables bool `json:"nftables,omitempty"`
	// WireGuard says whether packets between nodes are encrypted.
	WireGuard bool `json:"wireGuard,omitempty"`
	// UpstreamIPIP says that IP-in-IP was deployed by upstream's extension and nobody has asked for anything else in a way that upstream heeds. It
	// changes nothing that is rendered.
	UpstreamIPIP bool `json:"upstreamIPIP,omitempty"`
}

// encapsulation is what an IPPool says, in Calico's words: "Always", "CrossSubnet" or "Never". At most one is not "Never".
type encapsulation struct {
	IPIP  string `json:"ipip"`
	VXLAN string `json:"vxlan"`
}
