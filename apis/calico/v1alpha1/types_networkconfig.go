package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NetworkConfig is the user's configuration of Calico (Shoot.spec.networking.providerConfig, Network.spec.providerConfig).
// The effective configuration, with all defaults, is in the NetworkStatus.
//
// +kubebuilder:object:root=true
type NetworkConfig struct {
	metav1.TypeMeta `json:",inline"`

	// Backend distributes the routes to the pods of other nodes: bird uses BGP, vxlan uses VXLAN alone, none distributes no
	// routes, so that another component must. If overlay is set, it determines the backend: bird, or vxlan for VXLAN pools,
	// with the overlay on; none, or bird with overlay.createPodRoutes, with the overlay off. It is none in shoots with IPv6
	// without an overlay setting, and where the infrastructure drops the pool's packets.
	//
	// Default: bird; vxlan for VXLAN pools where the infrastructure drops IP-in-IP.
	// +optional
	Backend *Backend `json:"backend,omitempty"`
	// IPAM configures how pods get their addresses.
	// +optional
	IPAM *IPAM `json:"ipam,omitempty"`
	// IPv4 configures the pods' IPv4 network. Not allowed in a shoot without IPv4.
	// +optional
	IPv4 *IPv4 `json:"ipv4,omitempty"`
	// IPv6 configures the pods' IPv6 network. Not allowed in a shoot without IPv6.
	// +optional
	IPv6 *IPv6 `json:"ipv6,omitempty"`
	// Typha configures Typha, the cache between the nodes and the API server.
	// +optional
	Typha *Typha `json:"typha,omitempty"`
	// VethMTU is the MTU of the pods' interfaces, a whole number of bytes in quotes. With "0" Calico detects it.
	//
	// Default: "0".
	// +optional
	VethMTU *string `json:"vethMTU,omitempty"`
	// EbpfDataplane configures the eBPF data plane. A shoot without kube-proxy needs it.
	// +optional
	EbpfDataplane *EbpfDataplane `json:"ebpfDataplane,omitempty"`
	// Overlay switches the encapsulation of packets between pods on or off. It takes precedence over backend and ipv4.mode,
	// which apply only if it is absent.
	// +optional
	Overlay *Overlay `json:"overlay,omitempty"`
	// SnatToUpstreamDNS configures source NAT of packets to the nodes' DNS servers: they get the address of the node.
	// +optional
	SnatToUpstreamDNS *SnatToUpstreamDNS `json:"snatToUpstreamDNS,omitempty"`
	// AutoScaling configures how the resource requests of Calico's components are determined.
	// +optional
	AutoScaling *AutoScaling `json:"autoScaling,omitempty"`
	// VXLAN selects VXLAN for the encapsulation of IPv4 packets. With the overlay on it takes precedence over ipv4.pool.
	// It implies calico-ipam.
	// +optional
	VXLAN *VXLAN `json:"vxlan,omitempty"`
	// IPIP is deprecated and accepted for old shoots only. It is the former name of ipv4.mode, which takes precedence: use
	// that.
	// +optional
	IPIP *PoolMode `json:"ipip,omitempty"`
	// IPAutoDetectionMethod is deprecated and accepted for old shoots only. It is the former name of
	// ipv4.autoDetectionMethod, which takes precedence: use that.
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
	// ServiceLoopPrevention configures the handling of packets to service addresses that no service has: Disabled lets
	// them loop between node and router, Drop drops them, Reject drops them and notifies the sender.
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
	// Pool is the encapsulation: ipip or vxlan. With the overlay on, vxlan in a shoot that the upstream extension has deployed with IP-in-IP takes
	// effect only if vxlan.enabled is true: upstream evaluates that field alone, and its deployment is kept.
	//
	// Default: vxlan with vxlan.enabled or backend vxlan, else ipip.
	// +optional
	Pool *Pool `json:"pool,omitempty"`
	// Mode selects the packets that are encapsulated: Always all of them, Never and Off none, CrossSubnet those that leave the subnet. VXLAN pools
	// support Always and Never. It is Always with the overlay on; Never with the overlay off, with backend none, in shoots with IPv6 without an overlay
	// setting, and where the infrastructure drops the pool's packets.
	//
	// Default: Always.
	// +optional
	Mode *PoolMode `json:"mode,omitempty"`
	// AutoDetectionMethod is the method by which a node detects its IPv4 address: first-found, kubernetes-internal-ip,
	// can-reach= and an address or DNS name, interface= or skip-interface= and regular expressions, cidr= and ranges.
	// Expressions and ranges are separated by commas. As in upstream, the value has an effect only if the node ranges are
	// not known.
	//
	// Default: cidr= with the shoot's IPv4 node ranges if they are known, else first-found.
	// +optional
	AutoDetectionMethod *string `json:"autoDetectionMethod,omitempty"`
}

// IPv6 configures the pods' IPv6 network.
type IPv6 struct {
	// Pool is the encapsulation: vxlan. ipip is accepted for old shoots and means vxlan: IP-in-IP supports IPv4 only.
	//
	// Default: vxlan.
	// +optional
	Pool *Pool `json:"pool,omitempty"`
	// Mode selects the packets that are encapsulated. It is always Never, whatever is set: VXLAN requires calico-ipam,
	// which does not support IPv6.
	//
	// Default: Never.
	// +optional
	Mode *PoolMode `json:"mode,omitempty"`
	// AutoDetectionMethod is the method by which a node detects its IPv6 address, in the notation of
	// ipv4.autoDetectionMethod.
	//
	// Default: cidr= with the shoot's IPv6 node ranges if they are known, else first-found.
	// +optional
	AutoDetectionMethod *string `json:"autoDetectionMethod,omitempty"`
	// SourceNATEnabled enables source NAT of packets that leave the pods' network: they get the address of the node.
	//
	// Default: true with wireguardEncryption, else false.
	// +optional
	SourceNATEnabled *bool `json:"sourceNATEnabled,omitempty"`
}

// IPAM configures how pods get their addresses.
type IPAM struct {
	// Type is the IPAM plugin: with host-local a pod gets an address of its node's range, with calico-ipam an address of a
	// block that Calico allocates. VXLAN requires calico-ipam, and calico-ipam requires a shoot with IPv4 only. A shoot can
	// change from host-local to calico-ipam, but not back.
	//
	// Default: calico-ipam with vxlan.enabled or a VXLAN pool that encapsulates, and where it is already deployed, else
	// host-local.
	// +optional
	Type string `json:"type"`
	// CIDR is the range from which host-local allocates addresses: usePodCIDR for the range of the node, or a range
	// (CIDR). It has no effect in a dual-stack shoot.
	//
	// Default: usePodCIDR.
	// +optional
	CIDR *CIDR `json:"cidr,omitempty"`
}

// Typha configures Typha.
type Typha struct {
	// Enabled is false if nodes watch the API server directly. Shoots with more than a few dozen nodes need Typha.
	//
	// Default: true.
	Enabled bool `json:"enabled"`
}

// EbpfDataplane configures the eBPF data plane.
type EbpfDataplane struct {
	// Enabled replaces iptables by eBPF programs, and kube-proxy too if the shoot has none.
	//
	// Default: false.
	Enabled bool `json:"enabled"`
}

// Overlay switches the encapsulation of packets.
type Overlay struct {
	// Enabled is true to encapsulate all IPv4 packets between pods of different nodes, and false to send them unchanged,
	// for which the infrastructure needs routes to the pods. An overlay block without this field means false. It must not
	// be true in a shoot with IPv6.
	//
	// Default: the infrastructure's, if it has one; else ipv4.mode and ipv6.mode apply.
	Enabled bool `json:"enabled"`
	// CreatePodRoutes makes the nodes distribute the routes to their pods among themselves. This requires that all nodes
	// are in one subnet. It has an effect only with the overlay off.
	//
	// Default: true if the overlay is off and the infrastructure leaves routes to the network plugin, else false.
	// +optional
	CreatePodRoutes *bool `json:"createPodRoutes,omitempty"`
}

// SnatToUpstreamDNS configures source NAT to the nodes' DNS servers.
type SnatToUpstreamDNS struct {
	// Enabled is true for source NAT. It has an effect only with the overlay off.
	//
	// Default: true with overlay.enabled false, else false.
	Enabled bool `json:"enabled"`
}

// AutoScaling configures how the resource requests of Calico's components are determined.
type AutoScaling struct {
	// Mode is the method: with cluster-proportional, requests grow with the number of nodes; with vpa, they follow the usage;
	// with static, they are fixed. vpa requires that the shoot has the vertical pod autoscaler.
	//
	// Default: cluster-proportional.
	// +optional
	Mode AutoscalingMode `json:"mode"`
	// Resources are the requests in mode static, and the minimum requests in mode vpa.
	// +optional
	Resources *Resources `json:"resources,omitempty"`
}

// Resources are the resource requests of Calico's components. Each sets cpu, memory, or both.
type Resources struct {
	// Node are the requests of each calico-node.
	// +optional
	Node *corev1.ResourceList `json:"node,omitempty"`
	// Typha are the requests of each Typha.
	// +optional
	Typha *corev1.ResourceList `json:"typha,omitempty"`
}

// VXLAN configures VXLAN.
type VXLAN struct {
	// Enabled is true to encapsulate with VXLAN.
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
