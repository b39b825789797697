package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NetworkConfig is what a user says about Calico (Shoot.spec.networking.providerConfig, Network.spec.providerConfig). What
// is in force, with all defaults, stands in the NetworkStatus.
//
// +kubebuilder:object:root=true
type NetworkConfig struct {
	metav1.TypeMeta `json:",inline"`

	// Backend makes the ways to pods of other nodes known: bird by BGP, vxlan by VXLAN alone, none not at all, so that
	// somebody else must. Where overlay is given it follows from that: bird, or vxlan for VXLAN pools, with the overlay on;
	// none, or bird with overlay.createPodRoutes, with the overlay off. It is none in shoots with IPv6 without an overlay
	// switch, and where the infrastructure does not let the pool's packets through.
	//
	// Default: bird; vxlan for VXLAN pools where the infrastructure does not let IP-in-IP through.
	// +optional
	Backend *Backend `json:"backend,omitempty"`
	// IPAM says who gives pods their addresses.
	// +optional
	IPAM *IPAM `json:"ipam,omitempty"`
	// IPv4 configures the pods' IPv4 network. Not allowed in a shoot without IPv4.
	// +optional
	IPv4 *IPv4 `json:"ipv4,omitempty"`
	// IPv6 configures the pods' IPv6 network. Not allowed in a shoot without IPv6.
	// +optional
	IPv6 *IPv6 `json:"ipv6,omitempty"`
	// Typha configures Typha, which stands between the nodes and the API server.
	// +optional
	Typha *Typha `json:"typha,omitempty"`
	// VethMTU is the MTU of the pods' interfaces, a whole number of bytes in quotes. With "0" Calico finds it out.
	//
	// Default: "0".
	// +optional
	VethMTU *string `json:"vethMTU,omitempty"`
	// EbpfDataplane configures the eBPF data plane. A shoot without kube-proxy needs it.
	// +optional
	EbpfDataplane *EbpfDataplane `json:"ebpfDataplane,omitempty"`
	// Overlay switches the wrapping of pods' packets into packets of the nodes on or off. It outranks backend and ipv4.mode.
	// Where it is absent they stand.
	// +optional
	Overlay *Overlay `json:"overlay,omitempty"`
	// SnatToUpstreamDNS makes packets to the nodes' DNS servers carry the address of the node.
	// +optional
	SnatToUpstreamDNS *SnatToUpstreamDNS `json:"snatToUpstreamDNS,omitempty"`
	// AutoScaling says how the components of Calico get their resources.
	// +optional
	AutoScaling *AutoScaling `json:"autoScaling,omitempty"`
	// VXLAN makes VXLAN the way in which IPv4 packets are wrapped. With the overlay on it outranks ipv4.pool. It brings
	// calico-ipam.
	// +optional
	VXLAN *VXLAN `json:"vxlan,omitempty"`
	// IPIP is deprecated, and read for the sake of old shoots. It is the former name of ipv4.mode, which wins: use that.
	// +optional
	IPIP *PoolMode `json:"ipip,omitempty"`
	// IPAutoDetectionMethod is deprecated, and read for the sake of old shoots. It is the former name of
	// ipv4.autoDetectionMethod, which wins: use that.
	// +optional
	IPAutoDetectionMethod *string `json:"ipAutodetectionMethod,omitempty"`
	// WireguardEncryption encrypts packets between nodes with WireGuard.
	//
	// Default: false.
	// +optional
	WireguardEncryption bool `json:"wireguardEncryption,omitempty"`
	// BirdExporter configures the exporter of BGP metrics.
	// +optional
	BirdExporter *BirdExporter `json:"birdExporter,omitempty"`
	// Multus configures Multus, which gives pods more than one network.
	// +optional
	Multus *Multus `json:"multus,omitempty"`
	// ServiceLoopPrevention says what becomes of packets to service addresses that no service has: Disabled lets them go
	// round between node and router, Drop drops them, Reject tells the sender.
	//
	// Default: Drop.
	// +optional
	ServiceLoopPrevention *ServiceLoopPrevention `json:"serviceLoopPrevention,omitempty"`
	// KubeAPIServerEndpoints configures a GlobalNetworkSet with the addresses under which pods reach the API server, for
	// use in network policies.
	// +optional
	KubeAPIServerEndpoints *KubeAPIServerEndpoints `json:"kubeAPIServerEndpoints,omitempty"`
}

// IPv4 configures the pods' IPv4 network.
type IPv4 struct {
	// Pool is how packets are wrapped: ipip or vxlan. With the overlay on, vxlan in a shoot that the upstream extension has deployed with IP-in-IP
	// counts once vxlan.enabled is true: upstream goes by that field alone, and what it has deployed stays.
	//
	// Default: vxlan with vxlan.enabled or backend vxlan, else ipip.
	// +optional
	Pool *Pool `json:"pool,omitempty"`
	// Mode says which packets are wrapped: Always all of them, Never and Off none, CrossSubnet those that leave the subnet.
	// VXLAN pools know Always and Never. It is Always with the overlay on; Never with the overlay off, with backend none, in shoots with IPv6 without an
	// overlay switch, and where the infrastructure does not let the pool's packets through.
	//
	// Default: Always.
	// +optional
	Mode *PoolMode `json:"mode,omitempty"`
	// AutoDetectionMethod says how a node finds its IPv4 address: first-found, kubernetes-internal-ip,
	// can-reach= and an address or DNS name, interface= or skip-interface= and regular expressions, cidr= and ranges, the
	// latter two separated by commas. As in upstream, what is given here counts only where the node ranges are not known.
	//
	// Default: cidr= with the shoot's IPv4 node ranges where they are known, else first-found.
	// +optional
	AutoDetectionMethod *string `json:"autoDetectionMethod,omitempty"`
}

// IPv6 configures the pods' IPv6 network.
type IPv6 struct {
	// Pool is how packets are wrapped: vxlan. ipip is read for the sake of old shoots and counts as vxlan: IP-in-IP carries IPv4 alone.
	//
	// Default: vxlan.
	// +optional
	Pool *Pool `json:"pool,omitempty"`
	// Mode says which packets are wrapped. That is Never, whatever is given: VXLAN needs calico-ipam, which knows no IPv6.
	//
	// Default: Never.
	// +optional
	Mode *PoolMode `json:"mode,omitempty"`
	// AutoDetectionMethod says how a node finds its IPv6 address, in the notation of ipv4.autoDetectionMethod.
	//
	// Default: cidr= with the shoot's IPv6 node ranges where they are known, else first-found.
	// +optional
	AutoDetectionMethod *string `json:"autoDetectionMethod,omitempty"`
	// SourceNATEnabled makes packets that leave the shoot's pods carry the address of the node.
	//
	// Default: true with wireguardEncryption, else false.
	// +optional
	SourceNATEnabled *bool `json:"sourceNATEnabled,omitempty"`
}

// IPAM says who gives pods their addresses.
type IPAM struct {
	// Type is how: by host-local a pod gets an address of its node's range, by calico-ipam one of a block that Calico hands
	// out. VXLAN needs calico-ipam, and calico-ipam a shoot with IPv4 alone. A shoot goes from host-local to calico-ipam, not
	// back.
	//
	// Default: calico-ipam with vxlan.enabled or a VXLAN pool that wraps, and where it is deployed already, else host-local.
	// +optional
	Type string `json:"type"`
	// CIDR is the range from which host-local takes addresses: usePodCIDR for that of the node, or a range (CIDR). Without
	// effect in a dual-stack shoot.
	//
	// Default: usePodCIDR.
	// +optional
	CIDR *CIDR `json:"cidr,omitempty"`
}

// Typha configures Typha.
type Typha struct {
	// Enabled is false for nodes that watch the API server themselves. Shoots with more than some dozen nodes need Typha.
	//
	// Default: true.
	Enabled bool `json:"enabled"`
}

// EbpfDataplane configures the eBPF data plane.
type EbpfDataplane struct {
	// Enabled replaces iptables, and kube-proxy where the shoot has none, by eBPF programs.
	//
	// Default: false.
	Enabled bool `json:"enabled"`
}

// Overlay switches the wrapping of packets.
type Overlay struct {
	// Enabled is true to wrap all IPv4 packets between pods of different nodes, and false to send them as they are, for
	// which the infrastructure must know the way. An overlay block without it says false. Not allowed to be true in a
	// shoot with IPv6.
	//
	// Default: the infrastructure's, if it has one; else ipv4.mode and ipv6.mode decide.
	Enabled bool `json:"enabled"`
	// CreatePodRoutes makes nodes tell each other the ways to their pods. That works if all are in one subnet. It counts
	// with the overlay off.
	//
	// Default: true where the overlay is off and the infrastructure leaves routes to the network, else false.
	// +optional
	CreatePodRoutes *bool `json:"createPodRoutes,omitempty"`
}

// SnatToUpstreamDNS configures source NAT to the nodes' DNS servers.
type SnatToUpstreamDNS struct {
	// Enabled is true for source NAT. It counts with the overlay off.
	//
	// Default: true with overlay.enabled false, else false.
	Enabled bool `json:"enabled"`
}

// AutoScaling says how the components of Calico get their resources.
type AutoScaling struct {
	// Mode is how: by cluster-proportional requests grow with the number of nodes, by vpa they follow the use, by static they
	// stay. A shoot without vertical pod autoscaler has no vpa.
	//
	// Default: cluster-proportional.
	// +optional
	Mode AutoscalingMode `json:"mode"`
	// Resources are the requests in mode static, and the least requests in mode vpa.
	// +optional
	Resources *Resources `json:"resources,omitempty"`
}

// Resources are requests of the components of Calico. Each has cpu, memory, or both.
type Resources struct {
	// Node is what each calico-node requests.
	// +optional
	Node *corev1.ResourceList `json:"node,omitempty"`
	// Typha is what each Typha requests.
	// +optional
	Typha *corev1.ResourceList `json:"typha,omitempty"`
}

// VXLAN configures VXLAN.
type VXLAN struct {
	// Enabled is true to wrap with VXLAN.
	//
	// Default: false.
	Enabled bool `json:"enabled"`
}

// BirdExporter configures the exporter of BGP metrics.
type BirdExporter struct {
	// Enabled is true for an exporter on every node.
	//
	// Default: false.
	Enabled bool `json:"enabled"`
}

// Multus configures Multus.
type Multus struct {
	// Enabled is true for Multus on every node.
	//
	// Default: false.
	Enabled bool `json:"enabled"`
	// InstallCNIPlugins is true to install the common CNI plugins (bridge, macvlan and so on) on every node, too.
	//
	// Default: false.
	// +optional
	InstallCNIPlugins *bool `json:"installCNIPlugins,omitempty"`
}

// KubeAPIServerEndpoints configures a GlobalNetworkSet with the addresses under which pods reach the API server.
type KubeAPIServerEndpoints struct {
	// Enabled is true for the GlobalNetworkSet.
	//
	// Default: false.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// Name is the name of the GlobalNetworkSet.
	//
	// Default: gardener-kube-apiserver.
	// +optional
	Name *string `json:"name,omitempty"`
	// Labels are labels of the GlobalNetworkSet besides networking.gardener.cloud/endpoint, which it always has.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
}
