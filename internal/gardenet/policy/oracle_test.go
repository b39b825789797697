package policy

import (
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The oracle says what policies allow. It follows the reference of the API, one field after the other, as slowly as that takes. It knows nothing of nftables, and
// shares nothing with the code that it checks.

// connection is what a client asks for.
type connection struct {
	from, to netip.Addr
	// protocol is one of corev1.Protocol, or "ICMP", which has no ports.
	protocol corev1.Protocol
	port     int32
}

const protocolICMP corev1.Protocol = "ICMP"

// place is a node with its own addresses and those of its pods.
type place struct {
	name      string
	addresses []netip.Addr
	ranges    []netip.Prefix
}

type oracle struct {
	Cluster
	nodes []place
}

// allows reports whether a connection is allowed on its whole way.
func (o oracle) allows(c connection) bool {
	client, server := o.podAt(c.from), o.podAt(c.to)
	switch {
	case client != nil && client == server:
		return true
	case server != nil && o.isNode(c.from, server.Spec.NodeName): // the node of a pod always reaches it
		return true
	case client == nil && o.inPodRange(c.from), server == nil && o.inPodRange(c.to): // not known, or not any more
		return false
	}
	return o.allowsEgress(client, server, c) && o.allowsIngress(client, server, c)
}

// podAt returns the pod that has an address of its own.
func (o oracle) podAt(address netip.Addr) *corev1.Pod {
	text := address.String()
	for _, pod := range o.Pods {
		if pod.Spec.HostNetwork || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		for _, ip := range pod.Status.PodIPs {
			if ip.IP == text {
				return pod
			}
		}
	}
	return nil
}

func (o oracle) isNode(address netip.Addr, name string) bool {
	for _, node := range o.nodes {
		if node.name == name && slices.Contains(node.addresses, address) {
			return true
		}
	}
	return false
}

func (o oracle) inPodRange(address netip.Addr) bool {
	for _, node := range o.nodes {
		for _, pods := range node.ranges {
			if pods.Contains(address) {
				return true
			}
		}
	}
	return false
}

// allowsIngress: "If this field is empty [no policy selects the pod], traffic is allowed ... if the traffic matches at least one ingress rule across all of the
// NetworkPolicy objects whose podSelector matches the pod".
func (o oracle) allowsIngress(client, server *corev1.Pod, c connection) bool {
	if server == nil {
		return true
	}
	isolated := false
	for _, policy := range o.Policies {
		if policy.Namespace != server.Namespace || !selects(&policy.Spec.PodSelector, server.Labels) || !affects(policy, networkingv1.PolicyTypeIngress) {
			continue
		}
		isolated = true
		for _, rule := range policy.Spec.Ingress {
			if o.matchesPeers(rule.From, policy.Namespace, client, c.from) && matchesPorts(rule.Ports, server, c) {
				return true
			}
		}
	}
	return !isolated
}

func (o oracle) allowsEgress(client, server *corev1.Pod, c connection) bool {
	if client == nil {
		return true
	}
	isolated := false
	for _, policy := range o.Policies {
		if policy.Namespace != client.Namespace || !selects(&policy.Spec.PodSelector, client.Labels) || !affects(policy, networkingv1.PolicyTypeEgress) {
			continue
		}
		isolated = true
		for _, rule := range policy.Spec.Egress {
			if o.allowsEgressRule(rule, policy.Namespace, server, c) {
				return true
			}
		}
	}
	return !isolated
}

// allowsEgressRule checks names of ports with peers that are pods only: a block has no names.
func (o oracle) allowsEgressRule(rule networkingv1.NetworkPolicyEgressRule, namespace string, server *corev1.Pod, c connection) bool {
	if len(rule.To) == 0 {
		return matchesPorts(rule.Ports, server, c)
	}
	for _, peer := range rule.To {
		named := server
		if peer.IPBlock != nil {
			named = nil
		}
		if o.matchesPeer(peer, namespace, server, c.to) && matchesPorts(rule.Ports, named, c) {
			return true
		}
	}
	return false
}

// affects: "If this field is not specified, it will default based on the existence of ingress or egress rules; policies that contain an egress section are assumed
// to affect egress, and all policies (whether or not they contain an ingress section) are assumed to affect ingress".
func affects(policy *networkingv1.NetworkPolicy, wanted networkingv1.PolicyType) bool {
	if policy.Spec.PolicyTypes != nil {
		return slices.Contains(policy.Spec.PolicyTypes, wanted)
	}
	return wanted == networkingv1.PolicyTypeIngress || len(policy.Spec.Egress) != 0
}

// matchesPeers: "Items in this list are combined using a logical OR operation. If this field is empty or missing, this rule matches all sources".
func (o oracle) matchesPeers(peers []networkingv1.NetworkPolicyPeer, namespace string, pod *corev1.Pod, address netip.Addr) bool {
	for _, peer := range peers {
		if o.matchesPeer(peer, namespace, pod, address) {
			return true
		}
	}
	return len(peers) == 0
}

func (o oracle) matchesPeer(peer networkingv1.NetworkPolicyPeer, namespace string, pod *corev1.Pod, address netip.Addr) bool {
	if peer.IPBlock != nil {
		for _, except := range peer.IPBlock.Except {
			if netip.MustParsePrefix(except).Contains(address) {
				return false
			}
		}
		return netip.MustParsePrefix(peer.IPBlock.CIDR).Contains(address)
	}
	switch {
	case pod == nil:
		return false
	case peer.NamespaceSelector == nil && pod.Namespace != namespace:
		return false
	case peer.NamespaceSelector != nil && !o.selectsNamespace(peer.NamespaceSelector, pod.Namespace):
		return false
	}
	return peer.PodSelector == nil || selects(peer.PodSelector, pod.Labels)
}

func (o oracle) selectsNamespace(selector *metav1.LabelSelector, name string) bool {
	for _, namespace := range o.Namespaces {
		if namespace.Name == name {
			return selects(selector, namespace.Labels)
		}
	}
	return false
}

// matchesPorts: "Each item in this list is combined using a logical OR. If this field is empty or missing, this rule matches all ports (traffic not restricted
// by port)". Names are those of the server's ports.
func matchesPorts(ports []networkingv1.NetworkPolicyPort, server *corev1.Pod, c connection) bool {
	for _, port := range ports {
		protocol := corev1.ProtocolTCP
		if port.Protocol != nil {
			protocol = *port.Protocol
		}
		if protocol != c.protocol {
			continue
		}
		switch {
		case port.Port == nil:
			return true
		case port.Port.Type == intstr.String:
			if hasPort(server, port.Port.StrVal, c) {
				return true
			}
		case port.EndPort != nil:
			if port.Port.IntVal <= c.port && c.port <= *port.EndPort {
				return true
			}
		case port.Port.IntVal == c.port:
			return true
		}
	}
	return len(ports) == 0
}

func hasPort(server *corev1.Pod, name string, c connection) bool {
	if server == nil {
		return false
	}
	for _, container := range append(slices.Clone(server.Spec.Containers), server.Spec.InitContainers...) {
		for _, port := range container.Ports {
			protocol := port.Protocol
			if protocol == "" {
				protocol = corev1.ProtocolTCP
			}
			if port.Name == name && protocol == c.protocol && port.ContainerPort == c.port {
				return true
			}
		}
	}
	return false
}

// selects: "The result of matchLabels and matchExpressions are ANDed. An empty label selector matches all objects. A null label selector matches no objects."
func selects(selector *metav1.LabelSelector, labels map[string]string) bool {
	for key, value := range selector.MatchLabels {
		if actual, found := labels[key]; !found || actual != value {
			return false
		}
	}
	for _, requirement := range selector.MatchExpressions {
		value, found := labels[requirement.Key]
		listed := found && slices.Contains(requirement.Values, value)
		switch requirement.Operator {
		case metav1.LabelSelectorOpIn:
			if !listed {
				return false
			}
		case metav1.LabelSelectorOpNotIn:
			if listed {
				return false
			}
		case metav1.LabelSelectorOpExists:
			if !found {
				return false
			}
		case metav1.LabelSelectorOpDoesNotExist:
			if found {
				return false
			}
		}
	}
	return true
}
