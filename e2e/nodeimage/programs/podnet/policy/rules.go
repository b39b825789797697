package policy

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// allowedBy returns what matches one rule of a policy: one of its peers, or anybody if it names none, at one of its ports, or
// at any if it names none.
func (idx index) allowedBy(c *chain, peers []networkingv1.NetworkPolicyPeer, ports []networkingv1.NetworkPolicyPort) []string {
	var matches []string
	if len(peers) == 0 {
		return idx.atPorts(c, "", idx.pods, ports)
	}
	var pods []*corev1.Pod
	for _, peer := range peers {
		if peer.IPBlock == nil {
			pods = append(pods, idx.peerPods(c.pod.Namespace, peer)...)
			continue
		}
		if block, ok := blockMatch(c.direction, peer.IPBlock); ok {
			matches = append(matches, idx.atPorts(c, block, nil, ports)...)
		}
	}
	if len(pods) > 0 {
		matches = append(matches, idx.atPorts(c, podsMatch(c.direction, pods), pods, ports)...)
	}
	return matches
}

// peerPods returns the pods that a peer of a policy means.
func (idx index) peerPods(namespace string, peer networkingv1.NetworkPolicyPeer) []*corev1.Pod {
	var found []*corev1.Pod
	for _, pod := range idx.pods {
		if peer.NamespaceSelector == nil && pod.Namespace != namespace {
			continue
		}
		if peer.NamespaceSelector != nil {
			set, known := idx.namespaces[pod.Namespace]
			if !known || !matches(peer.NamespaceSelector, set) {
				continue
			}
		}
		if peer.PodSelector == nil || matches(peer.PodSelector, pod.Labels) {
			found = append(found, pod)
		}
	}
	return found
}

func podsMatch(d direction, pods []*corev1.Pod) string {
	var addresses []string
	for _, pod := range pods {
		addresses = append(addresses, pod.Status.PodIP)
	}
	slices.Sort(addresses)
	return d.peerField() + " " + set(slices.Compact(addresses))
}

// blockMatch is not ok for what is no IPv4.
func blockMatch(d direction, block *networkingv1.IPBlock) (match string, ok bool) {
	prefix, err := netip.ParsePrefix(block.CIDR)
	if err != nil || !prefix.Addr().Is4() {
		return "", false
	}
	match = d.peerField() + " " + prefix.Masked().String()
	var except []netip.Prefix
	for _, cidr := range block.Except {
		if prefix, err := netip.ParsePrefix(cidr); err == nil {
			except = append(except, prefix.Masked())
		}
	}
	if except := withoutOverlaps(except); len(except) > 0 {
		match += " " + d.peerField() + " != " + set(except)
	}
	return match, true
}

// withoutOverlaps drops those of some blocks that lie in another of them: the elements of a set must not overlap.
func withoutOverlaps(blocks []netip.Prefix) []string {
	slices.SortFunc(blocks, func(a, b netip.Prefix) int {
		if c := a.Addr().Compare(b.Addr()); c != 0 {
			return c
		}
		return a.Bits() - b.Bits()
	})
	var kept []string
	var last netip.Prefix
	for _, block := range blocks {
		if !last.IsValid() || !last.Contains(block.Addr()) {
			kept, last = append(kept, block.String()), block
		}
	}
	return kept
}

// atPorts narrows a match of peers down to ports. Pods are the peers that are pods: where traffic leaves, names of ports are
// those of the pods that it goes to.
func (idx index) atPorts(c *chain, match string, pods []*corev1.Pod, ports []networkingv1.NetworkPolicyPort) []string {
	if len(ports) == 0 {
		return []string{match}
	}
	var matches []string
	for _, port := range ports {
		protocol := protocolOf(port.Protocol)
		if port.Port == nil || port.Port.Type == intstr.Int {
			matches = append(matches, join(match, portMatch(protocol, port)))
			continue
		}
		if c.direction == in {
			for _, number := range namedPorts(c.pod, port.Port.StrVal, protocol) {
				matches = append(matches, join(match, fmt.Sprintf("%s dport %d", protocol, number)))
			}
			continue
		}
		for number, those := range byPort(pods, port.Port.StrVal, protocol) {
			matches = append(matches, join(podsMatch(out, those), fmt.Sprintf("%s dport %d", protocol, number)))
		}
	}
	return matches
}

// portMatch matches a port by number, a range of them, or all of a protocol.
func portMatch(protocol string, port networkingv1.NetworkPolicyPort) string {
	switch {
	case port.Port == nil:
		return "meta l4proto " + protocol
	case port.EndPort != nil && *port.EndPort > port.Port.IntVal:
		return fmt.Sprintf("%s dport %d-%d", protocol, port.Port.IntVal, *port.EndPort)
	default:
		return fmt.Sprintf("%s dport %d", protocol, port.Port.IntVal)
	}
}

func protocolOf(protocol *corev1.Protocol) string {
	if protocol == nil {
		return "tcp"
	}
	return strings.ToLower(string(*protocol))
}

// namedPorts returns the numbers of the ports of a pod that have a name and a protocol, those of sidecars included.
func namedPorts(pod *corev1.Pod, name, protocol string) []int32 {
	var numbers []int32
	for _, container := range slices.Concat(pod.Spec.Containers, pod.Spec.InitContainers) {
		for _, port := range container.Ports {
			if port.Name == name && (port.Protocol == "" && protocol == "tcp" || strings.EqualFold(string(port.Protocol), protocol)) {
				numbers = append(numbers, port.ContainerPort)
			}
		}
	}
	return numbers
}

// byPort groups pods by the number that a named port has with them.
func byPort(pods []*corev1.Pod, name, protocol string) map[int32][]*corev1.Pod {
	groups := map[int32][]*corev1.Pod{}
	for _, pod := range pods {
		for _, number := range namedPorts(pod, name, protocol) {
			groups[number] = append(groups[number], pod)
		}
	}
	return groups
}

func set(elements []string) string { return "{ " + strings.Join(elements, ", ") + " }" }

func join(matches ...string) string { return strings.TrimSpace(strings.Join(matches, " ")) }
