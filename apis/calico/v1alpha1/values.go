package v1alpha1

import "strings"

// Backend makes the ways to pods of other nodes known.
type Backend string

// The backends.
const (
	BackendBird  Backend = "bird"  // by BGP
	BackendVXLAN Backend = "vxlan" // by VXLAN alone
	BackendNone  Backend = "none"  // not at all
)

// Pool is how packets are wrapped.
type Pool string

// The ways to wrap packets.
const (
	PoolIPIP  Pool = "ipip"  // IP-in-IP, whose packets have another protocol number than TCP or UDP
	PoolVXLAN Pool = "vxlan" // VXLAN, whose packets are UDP
)

// PoolMode says which packets are wrapped.
type PoolMode string

// The pool modes.
const (
	PoolModeAlways      PoolMode = "Always"      // all packets to pods of other nodes are wrapped
	PoolModeNever       PoolMode = "Never"       // none are
	PoolModeCrossSubnet PoolMode = "CrossSubnet" // those to nodes in other subnets are
	PoolModeOff         PoolMode = "Off"         // another word for Never
)

// Encapsulates reports whether any packets are wrapped. No mode wraps nothing.
func (m *PoolMode) Encapsulates() bool {
	return m != nil && (*m == PoolModeAlways || *m == PoolModeCrossSubnet)
}

// The values of ipam.type.
const (
	IPAMHostLocal = "host-local"  // pods have addresses of their node's range, which Kubernetes gave it
	IPAMCalico    = "calico-ipam" // nodes take blocks of addresses out of the pods' range as they need them
)

// CIDR is a range, or UsePodCIDR.
type CIDR string

// UsePodCIDR stands for the range that Kubernetes gave the node. Case does not matter.
const UsePodCIDR CIDR = "usePodCIDR"

// IsPodCIDR reports whether c stands for the node's range.
func (c CIDR) IsPodCIDR() bool {
	return strings.EqualFold(string(c), string(UsePodCIDR))
}

// AutoscalingMode says how the components of Calico get their resources.
type AutoscalingMode string

// The modes of autoscaling.
const (
	AutoscalingModeClusterProportional AutoscalingMode = "cluster-proportional" // requests grow with the number of nodes
	AutoscalingModeVPA                 AutoscalingMode = "vpa"                  // requests follow the use
	AutoscalingModeStatic              AutoscalingMode = "static"               // requests stay as they are given
)

// ServiceLoopPrevention says what becomes of packets to service addresses that no service has.
type ServiceLoopPrevention string

// The ways to prevent service loops.
const (
	ServiceLoopPreventionDisabled ServiceLoopPrevention = "Disabled" // they may go round between node and router
	ServiceLoopPreventionDrop     ServiceLoopPrevention = "Drop"     // they vanish
	ServiceLoopPreventionReject   ServiceLoopPrevention = "Reject"   // the sender is told
)

// The methods by which nodes find their addresses. Those that end with an equals sign take an argument.
const (
	DetectFirstFound    = "first-found"            // the first address of the first interface that looks like one
	DetectInternalIP    = "kubernetes-internal-ip" // the internal address of the Node object
	DetectCanReach      = "can-reach="             // the address from which packets to an address or DNS name go
	DetectInterface     = "interface="             // that of an interface with a name like this
	DetectSkipInterface = "skip-interface="        // that of an interface with another name
	DetectCIDR          = "cidr="                  // one of these ranges
)

const (
	// KubeAPIServerEndpointsLabel is on the GlobalNetworkSet of kubeAPIServerEndpoints, here as in upstream.
	KubeAPIServerEndpointsLabel = "networking.gardener.cloud/endpoint"
	// KubeAPIServerEndpointsLabelValue is its value there.
	KubeAPIServerEndpointsLabelValue = "kube-apiserver"
)

const (
	// DefaultBackend is that of shoots without an overlay switch and without IPv6, if the infrastructure allows.
	DefaultBackend = BackendBird
	// DefaultPoolIPv4 is how IPv4 packets are wrapped where nothing says otherwise.
	DefaultPoolIPv4 = PoolIPIP
	// DefaultModeIPv4 is that of shoots without an overlay switch and without IPv6, if the infrastructure allows.
	DefaultModeIPv4 = PoolModeAlways
	// DefaultPoolIPv6 has no consequences, since DefaultModeIPv6 is always in force.
	DefaultPoolIPv6 = PoolVXLAN
	// DefaultModeIPv6 is always in force.
	DefaultModeIPv6 = PoolModeNever
	// DefaultIPAMType is for shoots without VXLAN.
	DefaultIPAMType = IPAMHostLocal
	// DefaultIPAMCIDR is for host-local.
	DefaultIPAMCIDR = UsePodCIDR
	// DefaultAutoDetectionMethod is for shoots whose node ranges are not known.
	DefaultAutoDetectionMethod = DetectFirstFound
	// DefaultTyphaEnabled puts Typha between nodes and API server.
	DefaultTyphaEnabled = true
	// DefaultVethMTU leaves it to Calico to find the MTU out.
	DefaultVethMTU = "0"
	// DefaultAutoscalingMode grows requests with the number of nodes.
	DefaultAutoscalingMode = AutoscalingModeClusterProportional
	// DefaultServiceLoopPrevention is Felix' own default.
	DefaultServiceLoopPrevention = ServiceLoopPreventionDrop
	// DefaultKubeAPIServerSetName is upstream's.
	DefaultKubeAPIServerSetName = "gardener-kube-apiserver"
)
