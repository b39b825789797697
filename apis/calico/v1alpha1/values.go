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
	PoolIPIP  Pool = "ipip"
	PoolVXLAN Pool = "vxlan"
)

// PoolMode says which packets are wrapped.
type PoolMode string

// The pool modes.
const (
	PoolModeAlways      PoolMode = "Always"
	PoolModeNever       PoolMode = "Never"
	PoolModeCrossSubnet PoolMode = "CrossSubnet"
	PoolModeOff         PoolMode = "Off" // the same as Never, which Default makes of it
)

// Wraps reports whether any packets are wrapped.
func (m PoolMode) Wraps() bool {
	return m == PoolModeAlways || m == PoolModeCrossSubnet
}

// The values of ipam.type.
const (
	IPAMHostLocal = "host-local"
	IPAMCalico    = "calico-ipam"
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
	AutoscalingModeClusterProportional AutoscalingMode = "cluster-proportional"
	AutoscalingModeVPA                 AutoscalingMode = "vpa"
	AutoscalingModeStatic              AutoscalingMode = "static"
)

// ServiceLoopPrevention says what becomes of packets to service addresses that no service has.
type ServiceLoopPrevention string

// The ways to prevent service loops.
const (
	ServiceLoopPreventionDisabled ServiceLoopPrevention = "Disabled"
	ServiceLoopPreventionDrop     ServiceLoopPrevention = "Drop"
	ServiceLoopPreventionReject   ServiceLoopPrevention = "Reject"
)

// The methods by which nodes find their addresses; those that end with an equals sign take an argument.
const (
	DetectFirstFound    = "first-found"
	DetectInternalIP    = "kubernetes-internal-ip"
	DetectCanReach      = "can-reach="
	DetectInterface     = "interface="
	DetectSkipInterface = "skip-interface="
	DetectCIDR          = "cidr="
)

// The label that the GlobalNetworkSet of kubeAPIServerEndpoints always has. Upstream gives it, too.
const (
	KubeAPIServerEndpointsLabel      = "networking.gardener.cloud/endpoint"
	KubeAPIServerEndpointsLabelValue = "kube-apiserver"
)

// The defaults of fields that do not depend on others. Those that do are told at Default.
const (
	DefaultBackend               = BackendBird
	DefaultPoolIPv4              = PoolIPIP
	DefaultModeIPv4              = PoolModeAlways
	DefaultPoolIPv6              = PoolVXLAN
	DefaultModeIPv6              = PoolModeNever
	DefaultIPAMType              = IPAMHostLocal
	DefaultIPAMCIDR              = UsePodCIDR
	DefaultAutoDetectionMethod   = DetectFirstFound
	DefaultTyphaEnabled          = true
	DefaultVethMTU               = "0" // Calico finds it out
	DefaultAutoscalingMode       = AutoscalingModeClusterProportional
	DefaultServiceLoopPrevention = ServiceLoopPreventionDrop // Felix' own
	DefaultKubeAPIServerSetName  = "gardener-kube-apiserver"
)
