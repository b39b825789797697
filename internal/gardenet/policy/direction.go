package policy

import (
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
)

// direction is one of the two in which policies isolate. Its value is a part of names.
type direction string

const (
	ingress direction = "in"
	egress  direction = "out"
)

// counter is that of the packets that are dropped.
func (d direction) counter() string {
	if d == ingress {
		return CounterIngress
	}
	return CounterEgress
}

// logPrefix is the prefix in the log of packets that are denied.
func (d direction) logPrefix() string {
	if d == ingress {
		return LogIngress
	}
	return LogEgress
}

// isolates reports whether a policy isolates the pods that it selects.
func (d direction) isolates(policy *networkingv1.NetworkPolicy) bool {
	if len(policy.Spec.PolicyTypes) == 0 {
		return d == ingress || len(policy.Spec.Egress) > 0
	}
	wanted := networkingv1.PolicyTypeIngress
	if d == egress {
		wanted = networkingv1.PolicyTypeEgress
	}
	return slices.Contains(policy.Spec.PolicyTypes, wanted)
}

// side is a form of chains: for packets from client to server, or for replies, in which source and destination have changed places. Its value is a part of names.
type side string

const (
	requests side = ""
	replies  side = "-reply"
)

// self is the header field with the address of the pod that is isolated.
func (d direction) self(s side) string {
	if (d == egress) == (s == requests) {
		return "saddr"
	}
	return "daddr"
}

// peer is the header field with the address of the other end.
func (d direction) peer(s side) string {
	if d.self(s) == "saddr" {
		return "daddr"
	}
	return "saddr"
}

// port is the header field with the port of the server.
func (s side) port() string {
	if s == requests {
		return "dport"
	}
	return "sport"
}

// ip is the keyword of a family.
func (f family) ip() string {
	if f == v4 {
		return "ip"
	}
	return "ip6"
}

// address is the type of addresses.
func (f family) address() string {
	if f == v4 {
		return "ipv4_addr"
	}
	return "ipv6_addr"
}
