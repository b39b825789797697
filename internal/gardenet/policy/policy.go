// Package policy turns NetworkPolicies into sets, chains and rules of nftables for the pods of one node: a pure function of what the API server knows. It must
// not know where that comes from, nor how rules get into the kernel.
//
// NetworkPolicies are networking.k8s.io/v1, as their reference has them. What the reference leaves open, or what differs from it, is:
//   - What the own node sends to a pod always passes: kubelets probe pods. What a pod sends to its own node is subject to its egress policies, as it
//     is if the API server runs on another node. The reference lets it pass.
//   - Pods on the host's network are not isolated, and no selector finds them. The same is true of pods that have ended: their addresses may be others'
//     by now.
//   - If two pods claim an address, it belongs to the one that was created last.
//   - Pods of the node that are not known yet, by their addresses in LocalRanges, receive nothing but what the node sends, and send nothing but replies
//     to that.
//   - Protocols without ports, such as ICMP, match only rules without ports. ICMPv6 neighbour discovery always passes, and so do ICMP errors that belong to
//     a connection.
//   - A block matches the addresses in packets as the pod's node forwards them: after the address of a Service has been replaced by that of an endpoint, before
//     the address of a pod is replaced by its node's. Blocks match pods, too.
//   - A name of a port in an egress rule means the ports of that name of those pods that the rule's other peers select, or of all pods if it has no peers. With
//     a block it means nothing.
//
// # Connections
//
// A policy is about who may connect to whom, so replies need no rule of their own. Without Options.Recheck a connection that is established stays.
//
// With it, each connection carries the generation of the rules that have accepted it in its conntrack mark. When the generation changes, the next packet of each
// connection is checked, whatever its direction: for replies there is a second form of all chains, in which source and destination have changed places. Otherwise
// a UDP server could go on sending after the requests to it have been forbidden.
//
// Rules read addresses and ports of packets, not those that conntrack keeps: some packets are not tracked. NodeLocalDNS exempts what pods send to its address from
// tracking. These packets have no state, no direction and no mark, so each of them is checked, in chain input. Its replies are sent by the node, where no chain of
// this package is. A reply that a pod itself sends without tracking would be checked as what it looks like: a packet of its own. There is no such reply as long as
// only addresses of nodes are exempted.
//
// # Limits
//
// A pod is known by the source address of its packets. A pod that may send from other addresses (it needs CAP_NET_RAW, or uses the link-local address of its
// device towards its node) is stopped by reverse path filters at most. Replies that a pod gets from its own node in a connection that has been forbidden
// go on, as all that the node sends.
package policy

import (
	"cmp"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/trellis-garden/trellis/internal/gardenet/nft"
)

// Names of the counters of packets that are dropped.
const (
	// CounterIngress and CounterEgress count what policies forbid.
	CounterIngress = "dropped-ingress"
	CounterEgress  = "dropped-egress"
	// CounterUnknown counts packets of pods, or to pods, that are not known.
	CounterUnknown = "dropped-unknown"
)

// LogGroup is the group of the kernel's packet log (NFLOG) for packets that policies forbid. LogIngress and LogEgress are the prefixes: what a pod must not receive,
// and what it must not send.
const (
	LogGroup   = 100
	LogIngress = "ingress"
	LogEgress  = "egress"
)

// MarkMask are the bits of conntrack marks that hold the generation. Other bits are left as they are.
const MarkMask = 0xff00

// Cluster is what the API server knows.
type Cluster struct {
	// Node is the name of the node that the rules are for.
	Node string
	// LocalRanges are the ranges of the pods of that node.
	LocalRanges []netip.Prefix

	Pods       []*corev1.Pod
	Namespaces []*corev1.Namespace
	Policies   []*networkingv1.NetworkPolicy
}

// Options are the settings of the enforcement.
type Options struct {
	// Recheck is true if connections that are established are checked again when Generation has changed.
	Recheck bool
	// Generation is that of the rules, 1 to 255. It is stored in the conntrack mark of each connection that they have accepted. It has to be another one when
	// rules become narrower. After 255 comes 1: a connection that sent nothing during 254 changes is not checked again.
	Generation uint8
	// LogDenied is how many packets that policies forbid are sent to LogGroup in a second in each direction, with LogIngress or LogEgress; 0 is none.
	LogDenied int
}

// Rules are a part of a table.
type Rules struct {
	Counters []string
	Sets     []nft.Set
	Chains   []nft.Chain
}

// For returns the rules that enforce policies for the pods of a node. The order of the cluster's lists makes no difference.
func For(c Cluster, o Options) Rules { return new(Memo).For(c, o) }

func sortByName[T any](all []T, name func(T) string) {
	slices.SortFunc(all, func(a, b T) int { return cmp.Compare(name(a), name(b)) })
}
