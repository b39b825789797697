package policy

import (
	"fmt"
	"math/rand/v2"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// choices are random numbers, or those that a fuzzer chooses.
type choices struct {
	random *rand.Rand
	data   []byte
}

// n returns a number below a limit.
func (c *choices) n(limit int) int {
	if c.random != nil {
		return c.random.IntN(limit)
	}
	if len(c.data) == 0 {
		return 0
	}
	chosen := int(c.data[0])
	c.data = c.data[1:]
	return chosen % limit
}

func pick[T any](c *choices, from ...T) T { return from[c.n(len(from))] }

func prefixes(texts ...string) (parsed []netip.Prefix) {
	for _, text := range texts {
		parsed = append(parsed, netip.MustParsePrefix(text))
	}
	return parsed
}

func addresses(texts ...string) (parsed []netip.Addr) {
	for _, text := range texts {
		parsed = append(parsed, netip.MustParseAddr(text))
	}
	return parsed
}

// twoNodes are those of all clusters here.
func twoNodes() []place {
	return []place{
		{"one", addresses("172.16.0.1", "fd00:172::1"), prefixes("10.0.1.0/24", "fd00:10:0:1::/64")},
		{"two", addresses("172.16.0.2", "fd00:172::2"), prefixes("10.0.2.0/24", "fd00:10:0:2::/64")},
	}
}

// outside are addresses that are neither nodes' nor pods'.
func outside() []netip.Addr {
	return addresses("192.168.0.5", "192.168.0.200", "8.8.8.8", "fd00:192::5", "2001:db8::1")
}

// randomCluster has namespaces x, y, z with pods a, b, c, on two nodes.
func randomCluster(c *choices) oracle {
	o := oracle{nodes: twoNodes()}
	for i, name := range []string{"x", "y", "z"} {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"ns": name, "team": pick(c, "red", "blue")}}}
		if c.n(8) == 0 {
			namespace.Labels = nil
		}
		o.Namespaces = append(o.Namespaces, namespace)
		for j, pod := range []string{"a", "b", "c"} {
			o.Pods = append(o.Pods, randomPod(c, name, pod, 10*(i+1)+j))
		}
	}
	for i := range c.n(6) {
		o.Policies = append(o.Policies, randomPolicy(c, fmt.Sprintf("policy-%d", i)))
	}
	return o
}

func randomPod(c *choices, namespace, name string, number int) *corev1.Pod {
	node := c.n(2)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: map[string]string{"pod": name, "tier": pick(c, "web", "db")}},
		Spec:       corev1.PodSpec{NodeName: twoNodes()[node].name},
	}
	four, six := fmt.Sprintf("10.0.%d.%d", node+1, number), fmt.Sprintf("fd00:10:0:%d::%x", node+1, number)
	switch c.n(12) {
	case 0:
		pod.Status.PodIPs = []corev1.PodIP{{IP: four}}
	case 1:
		pod.Status.PodIPs = []corev1.PodIP{{IP: six}}
	default:
		pod.Status.PodIPs = []corev1.PodIP{{IP: four}, {IP: six}}
	}
	switch c.n(24) {
	case 0:
		pod.Status.Phase = pick(c, corev1.PodSucceeded, corev1.PodFailed)
	case 1:
		pod.Spec.HostNetwork = true
		pod.Status.PodIPs = nil
		for _, address := range twoNodes()[node].addresses {
			pod.Status.PodIPs = append(pod.Status.PodIPs, corev1.PodIP{IP: address.String()})
		}
	}
	pod.Status.PodIP = pod.Status.PodIPs[0].IP
	ports := []corev1.ContainerPort{{Name: "http", ContainerPort: pick[int32](c, 80, 81)}, {Name: "dns", Protocol: corev1.ProtocolUDP, ContainerPort: 80}}
	if c.n(3) == 0 {
		ports = append(ports, corev1.ContainerPort{Name: "http", Protocol: corev1.ProtocolSCTP, ContainerPort: 80})
	}
	pod.Spec.Containers = []corev1.Container{{Ports: ports}}
	if c.n(6) == 0 {
		pod.Spec.InitContainers = []corev1.Container{{Ports: []corev1.ContainerPort{{Name: "http", Protocol: corev1.ProtocolTCP, ContainerPort: 82}}}}
	}
	return pod
}

func randomPolicy(c *choices, name string) *networkingv1.NetworkPolicy {
	in, out := networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress
	policy := &networkingv1.NetworkPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: pick(c, "x", "y", "z")},
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: *randomSelector(c, "pod", "tier"),
			PolicyTypes: pick(c, nil, []networkingv1.PolicyType{in}, []networkingv1.PolicyType{out}, []networkingv1.PolicyType{in, out}),
		},
	}
	for range c.n(3) {
		policy.Spec.Ingress = append(policy.Spec.Ingress, networkingv1.NetworkPolicyIngressRule{From: randomPeers(c), Ports: randomPorts(c)})
	}
	for range c.n(3) {
		policy.Spec.Egress = append(policy.Spec.Egress, networkingv1.NetworkPolicyEgressRule{To: randomPeers(c), Ports: randomPorts(c)})
	}
	return policy
}

func randomSelector(c *choices, keys ...string) *metav1.LabelSelector {
	values := []string{"a", "b", "c", "web", "db", "x", "y", "z", "red", "blue"}
	key := pick(c, keys...)
	some := map[string][]string{"pod": values[:3], "tier": values[3:5], "ns": values[5:8], "team": values[8:]}[key]
	switch c.n(6) {
	case 0:
		return &metav1.LabelSelector{}
	case 1, 2:
		return &metav1.LabelSelector{MatchLabels: map[string]string{key: pick(c, some...)}}
	case 3:
		return &metav1.LabelSelector{MatchLabels: map[string]string{keys[0]: pick(c, values[:8]...), key: pick(c, some...)}}
	}
	requirement := metav1.LabelSelectorRequirement{
		Key: key, Operator: pick(c, metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist),
	}
	if requirement.Operator == metav1.LabelSelectorOpIn || requirement.Operator == metav1.LabelSelectorOpNotIn {
		requirement.Values = some[:1+c.n(len(some)-1)]
	}
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{requirement}}
}

func randomPeers(c *choices) (peers []networkingv1.NetworkPolicyPeer) {
	for range c.n(3) {
		peer := networkingv1.NetworkPolicyPeer{}
		switch c.n(4) {
		case 0:
			peer.PodSelector = randomSelector(c, "pod", "tier")
		case 1:
			peer.NamespaceSelector = randomSelector(c, "ns", "team")
		case 2:
			peer.PodSelector, peer.NamespaceSelector = randomSelector(c, "pod", "tier"), randomSelector(c, "ns", "team")
		default:
			peer.IPBlock = randomBlock(c)
		}
		peers = append(peers, peer)
	}
	return peers
}

func randomBlock(c *choices) *networkingv1.IPBlock {
	blocks := map[string][]string{
		"0.0.0.0/0": {"10.0.0.0/8", "192.168.0.0/25", "172.16.0.1/32", "8.8.8.8/32"}, "10.0.0.0/16": {"10.0.1.0/24", "10.0.2.20/31", "10.0.0.0/17"},
		"192.168.0.5/32": nil, "172.16.0.0/30": {"172.16.0.2/32"}, "10.0.1.16/28": {"10.0.1.20/32", "10.0.1.22/31"},
		"::/0": {"fd00::/8", "fd00:10:0:1::/64", "2001:db8::/32"}, "fd00:10::/32": {"fd00:10:0:1::/64", "fd00:10:0:2::14/127"}, "fd00:172::1/128": nil,
	}
	block := &networkingv1.IPBlock{CIDR: pick(c, "0.0.0.0/0", "10.0.0.0/16", "192.168.0.5/32", "172.16.0.0/30", "10.0.1.16/28", "::/0", "fd00:10::/32", "fd00:172::1/128")}
	for _, except := range blocks[block.CIDR] {
		if c.n(2) == 0 {
			block.Except = append(block.Except, except)
		}
	}
	return block
}

func randomPorts(c *choices) (ports []networkingv1.NetworkPolicyPort) {
	for range c.n(3) {
		port := networkingv1.NetworkPolicyPort{}
		if c.n(4) > 0 {
			protocol := pick(c, corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP)
			port.Protocol = &protocol
		}
		switch c.n(4) {
		case 0:
			name := intstr.FromString(pick(c, "http", "dns", "none"))
			port.Port = &name
		case 1, 2:
			number := intstr.FromInt32(pick[int32](c, 80, 81, 82))
			port.Port = &number
			if end := number.IntVal + int32(c.n(3)); c.n(2) == 0 {
				port.EndPort = &end
			}
		}
		ports = append(ports, port)
	}
	return ports
}
