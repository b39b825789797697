//go:build gardenet

package gardenet

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// environment is a cluster with a pod of each namespace on each node, by key: x/a and y/a are on node a, x/b and y/b on node b.
type environment struct {
	*cluster
	pods map[string]*pod
}

// TestPackets runs everything in one cluster: starting one takes longer than the tests. The parts follow one another.
func TestPackets(t *testing.T) {
	env := &environment{cluster: newCluster(t), pods: map[string]*pod{}}
	env.runAll(t, native)
	for _, namespace := range []string{"x", "y"} {
		for _, node := range []string{"a", "b"} {
			p := env.nodes[node].newPod(t, namespace, node, map[string]string{})
			env.pods[p.key] = p
		}
	}
	outside, err := currentNamespace()
	require.NoError(t, err)
	(&namespace{file: outside}).serve(t, 8080)
	for _, part := range []struct {
		name string
		test func(*testing.T, *environment)
	}{
		{"Native", testPolicies},
		{"Addresses", testAddresses},
		{"Switch", testSwitch},
		{"Tunnel", testPolicies},
		{"AddressesInTunnel", testAddresses},
		{"Established", testEstablished},
		{"Agent", testAgent},
		{"Denied", testDenied},
		{"Services", testServices},
		{"ServiceRouter", testServiceRouter},
		{"HandOver", testHandOver},
	} {
		if !t.Run(part.name, func(t *testing.T) { part.test(t, env) }) {
			env.logRules(t)
			return
		}
	}
}

// testPolicies compares truth tables: all pods, both families, both protocols, both ports, without policies and with several.
func testPolicies(t *testing.T, env *environment) {
	for _, test := range policyCases(env) {
		if !t.Run(test.name, func(t *testing.T) {
			env.setPolicies(t, test.policies...)
			assert.Empty(t, env.differences(test.allowed))
			env.assertNodesReachTheirPods(t)
		}) {
			return
		}
	}
	env.setPolicies(t)
	assert.Empty(t, env.differences(func(string, string, string, int) bool { return true }), "without policies again")
}

// assertNodesReachTheirPods shows that policies do not stop kubelets' probes.
func (env *environment) assertNodesReachTheirPods(t *testing.T) {
	for _, p := range env.pods {
		for _, v6 := range []bool{false, true} {
			assert.True(t, probe{p.node.namespace, "tcp", p.address(v6), 81}.eventually(true), "the node reaches its pod %s", p.key)
		}
	}
}

// policyCase has policies, and what they allow.
type policyCase struct {
	name     string
	policies []*networkingv1.NetworkPolicy
	allowed  func(from, to, protocol string, port int) bool
}

func policyCases(env *environment) []policyCase {
	return []policyCase{
		{"no policy", nil, func(string, string, string, int) bool { return true }},
		{
			"nothing may enter x",
			[]*networkingv1.NetworkPolicy{policy("x", "none", networkingv1.PolicyTypeIngress)},
			func(from, to, _ string, _ int) bool { return from == to || namespaceOf(to) != "x" },
		},
		{
			"only y may enter x, at its port named web",
			[]*networkingv1.NetworkPolicy{withIngress(policy("x", "web", networkingv1.PolicyTypeIngress), "y", corev1.ProtocolTCP, intstr.FromString("web"))},
			func(from, to, protocol string, port int) bool {
				return from == to || namespaceOf(to) != "x" || namespaceOf(from) == "y" && protocol == "tcp" && port == 80
			},
		},
		{
			"y may leave to x only, at port 81 by UDP",
			[]*networkingv1.NetworkPolicy{withEgress(policy("y", "out", networkingv1.PolicyTypeEgress), "x", corev1.ProtocolUDP, intstr.FromInt32(81))},
			func(from, to, protocol string, port int) bool {
				return from == to || namespaceOf(from) != "y" || namespaceOf(to) == "x" && protocol == "udp" && port == 81
			},
		},
		{
			"a block without one pod may enter y",
			[]*networkingv1.NetworkPolicy{withBlocks(policy("y", "blocks", networkingv1.PolicyTypeIngress), env.pods["x/b"])},
			func(from, to, _ string, _ int) bool { return from == to || namespaceOf(to) != "y" || from != "x/b" },
		},
	}
}

func namespaceOf(key string) string {
	namespace, _, _ := strings.Cut(key, "/")
	return namespace
}

// differences returns a line for each probe that does not have the expected result in time.
func (env *environment) differences(allowed func(from, to, protocol string, port int) bool) []string {
	var found []string
	var mutex sync.Mutex
	var all sync.WaitGroup
	for _, from := range env.pods {
		for _, to := range env.pods {
			for _, protocol := range []string{"tcp", "udp"} {
				for _, port := range []int{80, 81} {
					for _, v6 := range []bool{false, true} {
						p, want := probe{from.namespace, protocol, to.address(v6), port}, allowed(from.key, to.key, protocol, port)
						all.Go(func() {
							if p.eventually(want) {
								return
							}
							mutex.Lock()
							defer mutex.Unlock()
							found = append(found, fmt.Sprintf("%s to %s, %s %d at %s: allowed is %t", from.key, to.key, protocol, port, p.to, want))
						})
					}
				}
			}
		}
	}
	all.Wait()
	slices.Sort(found)
	return found
}

// testAddresses shows that pods see each other's own addresses, and everybody else the node's.
func testAddresses(t *testing.T, env *environment) {
	from := env.pods["x/a"]
	for _, v6 := range []bool{false, true} {
		to := env.pods["y/b"].address(v6)
		assert.Equal(t, from.address(v6), probe{from.namespace, "tcp", to, 80}.sourceSeen(t), "a pod on another node sees the pod")
	}
	for outside, node := range map[string]string{outside4: "10.250.0.11", outside6: "fd00:250::11"} {
		seen := probe{from.namespace, "tcp", netip.MustParseAddr(outside), 8080}.sourceSeen(t)
		assert.Equal(t, netip.MustParseAddr(node), seen, "everybody else sees the node")
	}
}

// testSwitch changes from native routing to the tunnel and back and again to the tunnel, in the stages of the driver: no connection ends, and none stops.
func testSwitch(t *testing.T, env *environment) {
	flows := env.startFlows(t)
	for _, way := range []string{both, tunnel, both, native, both, tunnel} {
		env.runAll(t, way)
		for _, f := range flows {
			f.awaitEcho(t)
		}
	}
	for _, f := range flows {
		f.end()
		sent, received, _, _ := f.state()
		t.Logf("%s: %d sent, %d echoed", f.name, sent, received)
		if strings.Contains(f.name, "tcp") {
			continue // an echo of the last messages may be under way
		}
		assert.GreaterOrEqual(t, received, sent*9/10, "datagrams on %s", f.name)
	}
}

// startFlows opens connections in both directions, by both families and protocols.
func (env *environment) startFlows(t *testing.T) []*flow {
	var flows []*flow
	for _, ends := range [][2]string{{"x/a", "y/b"}, {"x/b", "y/a"}} {
		for _, v6 := range []bool{false, true} {
			for _, protocol := range []string{"tcp", "udp"} {
				flows = append(flows, startFlow(t, env.pods[ends[0]], protocol, env.pods[ends[1]].address(v6)))
			}
		}
	}
	for _, f := range flows {
		f.awaitEcho(t)
	}
	return flows
}

// testEstablished cuts connections that a policy forbids after they were established, and no others.
func testEstablished(t *testing.T, env *environment) {
	flows := env.startFlows(t)
	env.setPolicies(t, withIngress(policy("y", "from-y", networkingv1.PolicyTypeIngress), "y", corev1.ProtocolTCP, intstr.FromInt32(80)))
	for _, f := range flows {
		f.awaitSilence(t)
	}
	allowed := startFlow(t, env.pods["y/a"], "tcp", env.pods["y/b"].address(false))
	allowed.awaitEcho(t)
	env.setPolicies(t)
	flows[0].awaitEcho(t)
	allowed.awaitEcho(t)
}

// testAgent kills agents and takes their rules away.
func testAgent(t *testing.T, env *environment) {
	forbidden := func(from, to, _ string, _ int) bool { return from == to || namespaceOf(to) != "x" }
	env.setPolicies(t, policy("x", "none", networkingv1.PolicyTypeIngress))
	require.Empty(t, env.differences(forbidden))
	a := env.nodes["a"]
	flow := startFlow(t, env.pods["x/a"], "tcp", env.pods["y/b"].address(false))
	flow.awaitEcho(t)
	a.killAgent()
	assert.Empty(t, env.differences(forbidden), "the rules stay without an agent")
	flow.awaitEcho(t)
	require.NoError(t, a.nft(t, "delete table inet gardenet"))
	require.True(t, probe{env.pods["y/a"].namespace, "tcp", env.pods["x/a"].address(false), 80}.eventually(true), "without rules everything passes")
	a.run(t, configuration(t, tunnel))
	assert.Empty(t, env.differences(forbidden), "a new agent restores the rules")
	flow.awaitEcho(t)
	before := a.listRules(t)
	a.run(t, configuration(t, tunnel))
	assert.Equal(t, before, a.listRules(t), "a new agent with the same task changes no rule, not even its handle")
}

func policy(namespace, name string, types ...networkingv1.PolicyType) *networkingv1.NetworkPolicy {
	return &networkingv1.NetworkPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: networkingv1.NetworkPolicySpec{PolicyTypes: types},
	}
}

func peer(namespace string) networkingv1.NetworkPolicyPeer {
	return networkingv1.NetworkPolicyPeer{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"name": namespace}}}
}

func withIngress(p *networkingv1.NetworkPolicy, from string, protocol corev1.Protocol, port intstr.IntOrString) *networkingv1.NetworkPolicy {
	p.Spec.Ingress = []networkingv1.NetworkPolicyIngressRule{{
		From: []networkingv1.NetworkPolicyPeer{peer(from)}, Ports: []networkingv1.NetworkPolicyPort{{Protocol: &protocol, Port: &port}},
	}}
	return p
}

func withEgress(p *networkingv1.NetworkPolicy, to string, protocol corev1.Protocol, port intstr.IntOrString) *networkingv1.NetworkPolicy {
	p.Spec.Egress = []networkingv1.NetworkPolicyEgressRule{{
		To: []networkingv1.NetworkPolicyPeer{peer(to)}, Ports: []networkingv1.NetworkPolicyPort{{Protocol: &protocol, Port: &port}},
	}}
	return p
}

// withBlocks allows all pods but one.
func withBlocks(p *networkingv1.NetworkPolicy, but *pod) *networkingv1.NetworkPolicy {
	p.Spec.Ingress = []networkingv1.NetworkPolicyIngressRule{{From: []networkingv1.NetworkPolicyPeer{
		{IPBlock: &networkingv1.IPBlock{CIDR: "100.96.0.0/11", Except: []string{but.address(false).String() + "/32"}}},
		{IPBlock: &networkingv1.IPBlock{CIDR: "fd00:96::/64", Except: []string{but.address(true).String() + "/128"}}},
	}}}
	return p
}
