// Package policy decides what a node has to do so that NetworkPolicies hold for its pods: a pure function from what the API
// server knows to a ruleset of nftables. It must not know how either is come by.
//
// NetworkPolicies are networking.k8s.io/v1, as their reference has them; IPv4 only. What the reference leaves open is decided
// like this:
//   - What a node itself sends to its pods always arrives: kubelets probe them. What pods send to their node is subject to policies,
//     as it would be if the API server were on another machine.
//   - Pods on the host's network are not isolated, and no selector of pods finds them.
//   - Connections that are established go on when a policy comes that would not have let them begin.
//   - A pod that is too new to be known sends and gets nothing until it is: a second at most, as TCP tries again.
package policy

import (
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Cluster is what is known.
type Cluster struct {
	// Node is the name of the node that the ruleset is for; Pods of it have addresses of NodePods, those of all nodes of AllPods.
	Node              string
	NodePods, AllPods netip.Prefix

	Pods       []*corev1.Pod
	Namespaces []*corev1.Namespace
	Policies   []*networkingv1.NetworkPolicy
}

// direction is one of the two that traffic of a pod has.
type direction string

const (
	in  direction = "ingress"
	out direction = "egress"
)

// peerField is the field of a packet that the other end stands in.
func (d direction) peerField() string {
	if d == in {
		return "ip saddr"
	}
	return "ip daddr"
}

// selfField is the field of a packet that the pod itself stands in.
func (d direction) selfField() string {
	if d == in {
		return "ip daddr"
	}
	return "ip saddr"
}

// chain is what is checked for the traffic of one isolated pod in one direction.
type chain struct {
	direction direction
	pod       *corev1.Pod
	allowed   []string // what matches one of these may pass
}

// index is a Cluster in a form that can be searched.
type index struct {
	Cluster
	namespaces map[string]labels.Set
	pods       []*corev1.Pod // that have an address of their own, by address
}

func newIndex(c Cluster) index {
	idx := index{Cluster: c, namespaces: map[string]labels.Set{}}
	for _, namespace := range c.Namespaces {
		idx.namespaces[namespace.Name] = namespace.Labels
	}
	for _, pod := range c.Pods {
		if address, err := netip.ParseAddr(pod.Status.PodIP); err == nil && address.Is4() && !pod.Spec.HostNetwork && !hasEnded(pod) {
			idx.pods = append(idx.pods, pod)
		}
	}
	slices.SortFunc(idx.pods, func(a, b *corev1.Pod) int { return strings.Compare(a.Status.PodIP, b.Status.PodIP) })
	return idx
}

// hasEnded reports whether the address of a pod may be another's by now.
func hasEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// chains returns those of all isolated pods of the node, and the addresses of all its pods.
func (idx index) chains() (chains []chain, known []string) {
	for _, pod := range idx.pods {
		if pod.Spec.NodeName != idx.Node {
			continue
		}
		known = append(known, pod.Status.PodIP)
		for _, d := range []direction{in, out} {
			if c := (chain{direction: d, pod: pod}); idx.isolate(&c) {
				chains = append(chains, c)
			}
		}
	}
	return chains, known
}

// isolate reports whether some policy isolates the pod of a chain, and adds what the policies allow.
func (idx index) isolate(c *chain) bool {
	isolated := false
	for _, policy := range idx.Policies {
		if policy.Namespace != c.pod.Namespace || !concerns(policy, c.direction) || !matches(&policy.Spec.PodSelector, c.pod.Labels) {
			continue
		}
		isolated = true
		if c.direction == in {
			for _, rule := range policy.Spec.Ingress {
				c.allowed = append(c.allowed, idx.allowedBy(c, rule.From, rule.Ports)...)
			}
			continue
		}
		for _, rule := range policy.Spec.Egress {
			c.allowed = append(c.allowed, idx.allowedBy(c, rule.To, rule.Ports)...)
		}
	}
	slices.Sort(c.allowed)
	c.allowed = slices.Compact(c.allowed)
	return isolated
}

// concerns reports whether a policy isolates in a direction.
func concerns(policy *networkingv1.NetworkPolicy, d direction) bool {
	if len(policy.Spec.PolicyTypes) == 0 {
		return d == in || len(policy.Spec.Egress) > 0
	}
	wanted := networkingv1.PolicyTypeIngress
	if d == out {
		wanted = networkingv1.PolicyTypeEgress
	}
	return slices.Contains(policy.Spec.PolicyTypes, wanted)
}

// matches reports whether a selector finds labels. One that cannot be read, which the API server does not take, finds nothing.
func matches(selector *metav1.LabelSelector, set labels.Set) bool {
	s, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && s.Matches(set)
}
