package desired

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/internal/gardenet/config"
	"github.com/trellis-garden/trellis/internal/gardenet/policy"
)

// dualStack is node a of three nodes in one layer 2 network, with a tunnel, two families and all options.
func dualStack() Input {
	return Input{
		Config: config.Config{
			PodRanges: prefixes("100.96.0.0/11", "fd00:96::/64"), NodeRanges: prefixes("10.250.0.0/16", "fd00:250::/64"),
			Tunnel: &config.Tunnel{ID: 1, Port: 8472}, Routes: config.RoutesTunnel,
			Masquerade: config.Masquerade{Enabled: true}, NetworkPolicy: &config.NetworkPolicy{Recheck: true},
			HostPorts: true, Bandwidth: true,
		},
		Node:   nodeOf("a", "10.250.0.11 fd00:250::11", "100.96.0.0/24 fd00:96::/80"),
		Others: []Node{nodeOf("b", "10.250.0.12 fd00:250::12", "100.96.1.0/24 fd00:96:0:0:1::/80"), nodeOf("c", "10.250.0.13 fd00:250::13", "100.96.2.0/24 fd00:96:0:0:2::/80")},
		Cluster: policy.Cluster{
			Node: "a", LocalRanges: prefixes("100.96.0.0/24", "fd00:96::/80"),
			Namespaces: []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}},
			Pods:       []*corev1.Pod{podOf("web", "a", "100.96.0.2", "fd00:96::2"), podOf("client", "b", "100.96.1.2", "fd00:96:0:0:1::2")},
			Policies:   []*networkingv1.NetworkPolicy{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "nothing-enters"}}},
		},
		Generation: 7,
		Facts: Facts{
			Uplinks:    []Uplink{{Name: "eth0", MTU: 1500}},
			OnLink:     addresses("10.250.0.12", "fd00:250::12", "10.250.0.13", "fd00:250::13"),
			HostHasNFT: true,
		},
	}
}

// onlyIPv6 removes IPv4 from the shoot.
func onlyIPv6(input *Input) {
	input.Config.PodRanges, input.Config.NodeRanges = input.Config.PodRanges[1:], input.Config.NodeRanges[1:]
	without := func(node Node) Node {
		return Node{Name: node.Name, Addresses: node.Addresses[1:], PodRanges: node.PodRanges[1:]}
	}
	input.Node = without(input.Node)
	for i, other := range input.Others {
		input.Others[i] = without(other)
	}
	input.Cluster.LocalRanges = input.Cluster.LocalRanges[1:]
	for _, pod := range input.Cluster.Pods {
		pod.Status.PodIPs = pod.Status.PodIPs[1:]
		pod.Status.PodIP = pod.Status.PodIPs[0].IP
	}
}

// onlyIPv4 removes IPv6 from the configuration. Nodes have ranges and addresses of it nevertheless.
func onlyIPv4(input *Input) {
	input.Config.PodRanges, input.Config.NodeRanges = input.Config.PodRanges[:1], input.Config.NodeRanges[:1]
}

// withoutTunnel makes the agent's routes go by the addresses of the nodes.
func withoutTunnel(input *Input) {
	input.Config.Routes, input.Config.Tunnel = config.RoutesNodes, nil
}

// compute returns the state of the node after a change of its input.
func compute(t *testing.T, change func(*Input)) State {
	t.Helper()
	input := dualStack()
	change(&input)
	require.NoError(t, input.Config.Validate())
	state, err := Compute(input)
	require.NoError(t, err)
	return state
}

// nodeOf takes lists that are separated by spaces.
func nodeOf(name, addressList, rangeList string) Node {
	return Node{Name: name, Addresses: addresses(strings.Fields(addressList)...), PodRanges: prefixes(strings.Fields(rangeList)...)}
}

func podOf(name, node, ipv4, ipv6 string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Spec: corev1.PodSpec{NodeName: node},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: ipv4, PodIPs: []corev1.PodIP{{IP: ipv4}, {IP: ipv6}}},
	}
}

func prefixes(texts ...string) (all []netip.Prefix) {
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

func addresses(texts ...string) (all []netip.Addr) {
	for _, text := range texts {
		all = append(all, netip.MustParseAddr(text))
	}
	return all
}
