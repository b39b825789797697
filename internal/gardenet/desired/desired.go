// Package desired computes what a node has to have so that its pods have a network: links, routes, neighbours, rules and the CNI configuration. It is a pure function
// of the shoot's configuration, what the API server knows, and what only the node knows. It must not know how any of it is read or set.
package desired

import (
	"net/netip"

	"github.com/trellis-garden/trellis/internal/gardenet/config"
	"github.com/trellis-garden/trellis/internal/gardenet/nft"
	"github.com/trellis-garden/trellis/internal/gardenet/policy"
)

// Input is all that the state of a node depends on.
type Input struct {
	Config config.Config
	// Node is the own node, Others are all other nodes.
	Node   Node
	Others []Node
	// Cluster is for NetworkPolicies. Node and LocalRanges in it are those of the own node.
	Cluster policy.Cluster
	// Generation is that of the rules for NetworkPolicies.
	Generation uint8
	Facts      Facts
	// Memo, if there is one, has what former computations have found out. It saves time, and makes no difference to the state.
	Memo *policy.Memo
}

// Node is what the API server knows of a node.
type Node struct {
	Name string
	// Addresses are those of type InternalIP.
	Addresses []netip.Addr
	// PodRanges are spec.podCIDRs. A node without is not ready for pods yet.
	PodRanges []netip.Prefix
}

// Facts are what only the node knows.
type Facts struct {
	// Uplinks are the devices that have an address of the node.
	Uplinks []Uplink
	// OnLink are the addresses of other nodes that are reached without a gateway.
	OnLink []netip.Addr
	// HostHasNFT is true if the node has the program nft, which the CNI plugin portmap runs there. Otherwise it has to use iptables.
	HostHasNFT bool
}

// Uplink is a device of the node.
type Uplink struct {
	Name string
	MTU  int
}

// State is what the node has to have. Lists are sorted, so that equal inputs give equal states.
type State struct {
	// Device is the tunnel's, nil without.
	Device     *Device
	Routes     []Route
	Neighbours []Neighbour
	// Sysctls are values by the path below /proc/sys.
	Sysctls map[string]string
	Table   nft.Table
	// Conflist is the CNI configuration. It is written last: a node with it is ready for pods.
	Conflist string
	// Unreachable are the nodes whose pods this node cannot reach, with the reason by the node's name.
	Unreachable map[string]string
}

// Device is a VXLAN device.
type Device struct {
	Name string
	ID   int
	Port int
	MTU  int
	// Local is the own address that packets are sent from.
	Local netip.Addr
	// MAC is computed from the range of the node's pods, as it is for all nodes: no node has to be told.
	MAC string
	// Addresses are the own ones on the device.
	Addresses []netip.Prefix
}

// Route is a route to the pods of another node.
type Route struct {
	To  netip.Prefix
	Via netip.Addr
	// Device is the tunnel's name, or empty for a route by the address of the other node.
	Device string
	// OnLink is true if Via needs no route of its own.
	OnLink bool
}

// Neighbour is an entry of the tunnel: the next hop's MAC, and the node that has it.
type Neighbour struct {
	Address netip.Addr
	MAC     string
	Node    netip.Addr
}
