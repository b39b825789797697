package apply

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vishvananda/netlink"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/internal/gardenet/config"
	"github.com/trellis-garden/trellis/internal/gardenet/desired"
	"github.com/trellis-garden/trellis/internal/gardenet/policy"
)

// environment is a network namespace with an uplink, and the file system of a node.
type environment struct {
	*Applier
	root  string
	input desired.Input
}

// newEnvironment prepares node a of two nodes, with a tunnel, policies and two families.
func newEnvironment(t *testing.T) *environment {
	addUplink(t)
	env := &environment{root: t.TempDir()}
	require.NoError(t, os.Symlink("/proc", filepath.Join(env.root, "proc")))
	var err error
	env.Applier, err = New(Options{NFT: "nft", HostRoot: env.root})
	require.NoError(t, err)
	env.input = desired.Input{
		Config: config.Config{
			PodRanges:  prefixes("100.96.0.0/11", "fd00:96::/64"),
			NodeRanges: prefixes("10.250.0.0/24"),
			Tunnel:     &config.Tunnel{ID: 1, Port: 8472}, Routes: config.RoutesTunnel,
			Masquerade:    config.Masquerade{Enabled: true},
			NetworkPolicy: &config.NetworkPolicy{Recheck: true},
			HostPorts:     true, Bandwidth: true, ServiceRouting: true,
		},
		Node:       testNode("a", "10.250.0.11", "fd00:250::11", "100.96.0.0/24", "fd00:96::/80"),
		Others:     []desired.Node{testNode("b", "10.250.0.12", "fd00:250::12", "100.96.1.0/24", "fd00:96:0:0:1::/80")},
		Generation: 7,
		Cluster: policy.Cluster{
			Node: "a", LocalRanges: prefixes("100.96.0.0/24", "fd00:96::/80"),
			Namespaces: []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "x"}}},
			Pods:       []*corev1.Pod{testPod("one", "100.96.0.2"), testPod("two", "100.96.0.3")},
			Policies: []*networkingv1.NetworkPolicy{{
				ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: "own"},
				Spec: networkingv1.NetworkPolicySpec{Ingress: []networkingv1.NetworkPolicyIngressRule{{
					From: []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{}}},
				}}},
			}},
		},
	}
	return env
}

func addUplink(t *testing.T) {
	attributes := netlink.NewLinkAttrs()
	attributes.Name = "uplink"
	require.NoError(t, netlink.LinkAdd(&netlink.Veth{LinkAttrs: attributes, PeerName: "peer"}))
	for _, name := range []string{"lo", "uplink", "peer"} {
		link, err := netlink.LinkByName(name)
		require.NoError(t, err)
		require.NoError(t, netlink.LinkSetUp(link))
	}
	link, err := netlink.LinkByName("uplink")
	require.NoError(t, err)
	for _, address := range []string{"10.250.0.11/24", "fd00:250::11/64"} {
		parsed, err := netlink.ParseAddr(address)
		require.NoError(t, err)
		if parsed.IP.To4() == nil {
			parsed.Flags = 0x02 // without duplicate address detection
		}
		require.NoError(t, netlink.AddrAdd(link, parsed))
	}
}

func prefixes(texts ...string) (all []netip.Prefix) {
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

func testNode(name, address4, address6, pods4, pods6 string) desired.Node {
	return desired.Node{
		Name: name, Addresses: []netip.Addr{netip.MustParseAddr(address4), netip.MustParseAddr(address6)}, PodRanges: prefixes(pods4, pods6),
	}
}

func testPod(name, address string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: name}, Spec: corev1.PodSpec{NodeName: "a"},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIPs: []corev1.PodIP{{IP: address}}},
	}
}

// state computes what the node has to have.
func (env *environment) state(t *testing.T) desired.State {
	facts, err := env.Facts(t.Context(), env.input.Node, env.input.Others)
	require.NoError(t, err)
	env.input.Facts = facts
	state, err := desired.Compute(env.input)
	require.NoError(t, err)
	return state
}

// apply applies the state of the input, and shows that nothing is left to do.
func (env *environment) apply(t *testing.T) []string {
	state := env.state(t)
	changes, err := env.Apply(t.Context(), state)
	require.NoError(t, err)
	again, err := env.Apply(t.Context(), state)
	require.NoError(t, err)
	require.Empty(t, again, "after it was applied")
	repairs, err := env.Verify(t.Context(), state)
	require.NoError(t, err)
	require.Empty(t, repairs, "after it was applied")
	return changes
}
