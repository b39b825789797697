package v1alpha1

import "strings"

// Backend distributes the routes to the pods of other nodes.
type Backend string

// The backends.
const (
	BackendBird  Backend = "bird"  // by BGP
	BackendVXLAN Backend = "vxlan" // by VXLAN alone
	BackendNone  Backend = "none"  // not at all
)

// Pool is the encapsulation of packets.
type Pool string

// The encapsulations.
const (
	PoolIPIP  Pool = "ipip"  // IP-in-IP, whose packets have another protocol number than TCP or UDP
	PoolVXLAN Pool = "vxlan" // VXLAN, whose packets are UDP
)

// PoolMode selects the packets that are encapsulated.
type PoolMode string

// The pool modes.
const (
	PoolModeAlways      PoolMode = "Always"      // all packets to pods of other nodes are encapsulated
	PoolModeNever       PoolMode = "Never"       // none is
	PoolModeCrossSubnet PoolMode = "CrossSubnet" // those to nodes in other subnets are
	PoolModeOff         PoolMode = "Off"         // a synonym of Never
)

// Encapsulates reports whether any packets are encapsulated. It is false for nil.
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

// AutoscalingMode is the method that determines the resource requests of Calico's components.
type AutoscalingMode string

// The modes of autoscaling.
const (
	AutoscalingModeClusterProportional AutoscalingMode = "cluster-proportional" // requests grow with the number of nodes
	AutoscalingModeVPA                 AutoscalingMode = "vpa"                  // requests follow the usage
	AutoscalingModeStatic              AutoscalingMode = "static"               // requests stay as they are given
)

// ServiceLoopPrevention is the handling of packets to service addresses that no service has.
type ServiceLoopPrevention string

// The ways to prevent service loops.
const (
	ServiceLoopPreventionDisabled ServiceLoopPrevention = "Disabled" // they may loop between node and router
	ServiceLoopPreventionDrop     ServiceLoopPrevention = "Drop"     // they are dropped
	ServiceLoopPreventionReject   ServiceLoopPrevention = "Reject"   // they are dropped and the sender is notified
)

// The methods by which nodes detect their addresses. Those that end with an equals sign take an argument.
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
	// DefaultBackend is the backend of shoots without an overlay setting and without IPv6, if the infrastructure supports
	// it.
	DefaultBackend = BackendBird
	// DefaultPoolIPv4 is the encapsulation of IPv4 packets.
	DefaultPoolIPv4 = PoolIPIP
	// DefaultModeIPv4 is the mode of shoots without an overlay setting and without IPv6, if the infrastructure supports
	// it.
	DefaultModeIPv4 = PoolModeAlways
	// DefaultPoolIPv6 has no effect, since the mode is always DefaultModeIPv6.
	DefaultPoolIPv6 = PoolVXLAN
	// DefaultModeIPv6 is the only mode for IPv6.
	DefaultModeIPv6 = PoolModeNever
	// DefaultIPAMType is for shoots without VXLAN.
	DefaultIPAMType = IPAMHostLocal
	// DefaultIPAMCIDR is for host-local.
	DefaultIPAMCIDR = UsePodCIDR
	// DefaultAutoDetectionMethod is for shoots whose node ranges are not known.
	DefaultAutoDetectionMethod = DetectFirstFound
	// DefaultTyphaEnabled deploys Typha.
	DefaultTyphaEnabled = true
	// DefaultVethMTU makes Calico detect the MTU.
	DefaultVethMTU = "0"
	// DefaultAutoscalingMode grows requests with the number of nodes.
	DefaultAutoscalingMode = AutoscalingModeClusterProportional
	// DefaultServiceLoopPrevention is Felix' own default.
	DefaultServiceLoopPrevention = ServiceLoopPreventionDrop
	// DefaultKubeAPIServerSetName is upstream's.
	DefaultKubeAPIServerSetName = "gardener-kube-apiserver"
)
