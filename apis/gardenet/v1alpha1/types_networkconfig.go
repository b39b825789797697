package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NetworkConfig is the user's configuration of gardenet (Shoot.spec.networking.providerConfig, Network.spec.providerConfig). The effective configuration, with
// all defaults, is in the NetworkStatus.
//
// +kubebuilder:object:root=true
type NetworkConfig struct {
	metav1.TypeMeta `json:",inline"`

	// IPAM configures how pods get their addresses.
	// +optional
	IPAM *IPAM `json:"ipam,omitempty"`
	// Overlay configures how packets get to pods of other nodes.
	// +optional
	Overlay *Overlay `json:"overlay,omitempty"`
	// MTU is the MTU of pods in bytes, 1280 to 9216. With 0, each node takes the smallest one of its network interfaces, less what the overlay adds to a packet.
	// Pods keep the MTU with which they have been started.
	//
	// Default: 0.
	// +optional
	MTU *int `json:"mtu,omitempty"`
	// Masquerade configures which packets of pods get the address of their node.
	// +optional
	Masquerade *Masquerade `json:"masquerade,omitempty"`
	// SnatToUpstreamDNS gives packets of pods to DNS servers outside of the shoot the address of their node, where masquerade.enabled is false. Such servers
	// often answer nodes only.
	// +optional
	SnatToUpstreamDNS *SnatToUpstreamDNS `json:"snatToUpstreamDNS,omitempty"`
	// NetworkPolicy configures the enforcement of NetworkPolicies.
	// +optional
	NetworkPolicy *NetworkPolicy `json:"networkPolicy,omitempty"`
	// ServiceRouting routes Services without kube-proxy.
	// +optional
	ServiceRouting *ServiceRouting `json:"serviceRouting,omitempty"`
	// HostPorts serves the host ports of containers.
	// +optional
	HostPorts *Feature `json:"hostPorts,omitempty"`
	// Bandwidth limits the bandwidth of pods with the annotations kubernetes.io/ingress-bandwidth and kubernetes.io/egress-bandwidth.
	// +optional
	Bandwidth *Feature `json:"bandwidth,omitempty"`
	// Logging configures what agents log of packets.
	// +optional
	Logging *Logging `json:"logging,omitempty"`
	// Resources are the resources of gardenet's components.
	// +optional
	Resources *Resources `json:"resources,omitempty"`
}

// IPAM configures how pods get their addresses.
type IPAM struct {
	// Type is the IPAM plugin. There is only host-local: a pod gets an address of its node's range.
	//
	// Default: host-local.
	// +optional
	Type string `json:"type,omitempty"`
	// CIDR is the range from which a node takes addresses. There is only usePodCIDR: that of the Node (spec.podCIDRs).
	//
	// Default: usePodCIDR.
	// +optional
	CIDR string `json:"cidr,omitempty"`
}

// Overlay configures how packets get to pods of other nodes.
type Overlay struct {
	// Enabled encapsulates all packets to pods of other nodes in VXLAN. Otherwise they have the addresses of pods, to which the cloud or the nodes need routes.
	//
	// Default: true where the cloud cannot have such routes, else false.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// CreatePodRoutes makes each node have routes to the pods of the others, by the addresses of these nodes. It is for nodes in one layer 2 network, and is
	// not allowed with enabled.
	//
	// Default: true on OpenStack with the overlay off, else false.
	// +optional
	CreatePodRoutes *bool `json:"createPodRoutes,omitempty"`
	// VXLAN configures the encapsulation. It has an effect with the overlay on. It cannot be changed while packets are encapsulated.
	// +optional
	VXLAN *VXLAN `json:"vxlan,omitempty"`
}

// VXLAN configures the encapsulation of packets. All nodes use the same.
type VXLAN struct {
	// Port is the UDP port to which nodes send encapsulated packets, 1 to 65535. Nothing else may use it on a node.
	//
	// Default: 8472.
	// +optional
	Port *int `json:"port,omitempty"`
	// ID is the VXLAN network identifier, 1 to 16777215.
	//
	// Default: 1.
	// +optional
	ID *int `json:"id,omitempty"`
}

// Masquerade configures which packets of pods get the address of their node.
type Masquerade struct {
	// Enabled gives the address of the node to packets that leave the ranges of pods and nodes.
	//
	// Default: true.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// NonMasqueradeCIDRs are more ranges (CIDR) to which packets keep the addresses of pods, at most 100. Their networks need routes to pods.
	// +optional
	NonMasqueradeCIDRs []string `json:"nonMasqueradeCIDRs,omitempty"`
}

// SnatToUpstreamDNS configures source NAT of packets to DNS servers.
type SnatToUpstreamDNS struct {
	// Enabled is true to give them the address of the node.
	//
	// Default: true with the overlay off, else false.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
}

// NetworkPolicy configures the enforcement of NetworkPolicies.
type NetworkPolicy struct {
	// Enabled enforces NetworkPolicies. Without it they have no effect, neither those of users nor those by which Gardener protects its components in the shoot.
	//
	// Default: true.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// Established is what happens to connections that exist when NetworkPolicies become stricter: with recheck, those that are not allowed any more end, with
	// keep, they go on. It is not allowed where enabled is false.
	//
	// Default: recheck.
	// +optional
	Established Established `json:"established,omitempty"`
}

// Established is what happens to connections that exist when NetworkPolicies become stricter.
type Established string

// The values of networkPolicy.established.
const (
	EstablishedRecheck Established = "recheck" // those that are not allowed any more end
	EstablishedKeep    Established = "keep"    // they go on
)

// ServiceRouting configures who routes Services.
type ServiceRouting struct {
	// Enabled lets gardenet route Services on each node, as kube-proxy does. It is required where spec.kubernetes.kubeProxy.enabled of the Shoot is false, and
	// not allowed where that is true.
	//
	// Default: false.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
}

// Feature is a part of the plugin that can be switched off.
type Feature struct {
	// Enabled is true if the shoot has it.
	//
	// Default: true.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
}

// Logging configures what agents log of packets.
type Logging struct {
	// DeniedPackets are those that NetworkPolicies forbid.
	// +optional
	DeniedPackets *DeniedPackets `json:"deniedPackets,omitempty"`
}

// DeniedPackets configures the log of packets that NetworkPolicies forbid.
type DeniedPackets struct {
	// Enabled makes the agent of a node log packets to and from its pods that NetworkPolicies forbid, with addresses, protocol and ports, and the names of the pods.
	// It needs networkPolicy.enabled.
	//
	// Default: false.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// PerSecond bounds how many packets a node logs in a second of those that pods must not receive, and how many of those that they must not send, 1 to 1000.
	// Further ones are dropped and counted all the same.
	//
	// Default: 10.
	// +optional
	PerSecond *int `json:"perSecond,omitempty"`
}

// Resources are the resources of gardenet's components.
type Resources struct {
	// Node are those of the agent on each node.
	// +optional
	Node *ComponentResources `json:"node,omitempty"`
}

// ComponentResources are the resources of a component. Both lists may have cpu and memory.
type ComponentResources struct {
	// Requests are the requests; with a vertical pod autoscaler in the shoot, the least ones.
	//
	// Default: cpu 10m, memory 40Mi.
	// +optional
	Requests corev1.ResourceList `json:"requests,omitempty"`
	// Limits are the limits.
	//
	// Default: memory 200Mi, or the request if that is more.
	// +optional
	Limits corev1.ResourceList `json:"limits,omitempty"`
}
