package policy

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/trellis-garden/trellis/internal/gardenet/nft"
)

// generation is that of the rules in tests, old that of connections which were accepted before. Other users of marks have otherMark.
const (
	generation = 7
	newMark    = generation << 8
	oldMark    = 6 << 8
	otherMark  = 0xab0000cd
)

func tableOf(rules Rules) nft.Table {
	return nft.Table{Name: "gardenet", Counters: rules.Counters, Sets: rules.Sets, Chains: rules.Chains}
}

// network runs packets through the simulated rules of nodes.
type network struct {
	nodes      []place
	simulators map[string]*simulator
	recheck    bool
}

// newNetwork has the rules of all nodes. A test may change their texts before.
func newNetwork(o oracle, recheck bool, change func(text string) string) (network, error) {
	n := network{nodes: o.nodes, simulators: map[string]*simulator{}, recheck: recheck}
	for _, node := range o.nodes {
		text := tableOf(For(o.on(node), Options{Recheck: recheck, Generation: generation, LogDenied: len(o.Policies) % 2})).Text()
		if change != nil {
			text = change(text)
		}
		var err error
		if n.simulators[node.name], err = simulate(text); err != nil {
			return n, err
		}
	}
	return n, nil
}

// on returns a cluster as a node sees it.
func (o oracle) on(node place) Cluster {
	cluster := o.Cluster
	cluster.Node, cluster.LocalRanges = node.name, node.ranges
	return cluster
}

// hop is a hook of a node that a packet passes.
type hop struct{ node, hook string }

// way returns the hooks from one address to another. What a node sends itself passes none on it.
func (n network) way(from, to netip.Addr) (hops []hop) {
	source, _ := n.locate(from)
	target, isNode := n.locate(to)
	if _, sentByNode := n.locate(from); source != "" && !sentByNode {
		if source != target || !isNode {
			hops = append(hops, hop{source, chainForward})
		}
	}
	switch {
	case target == "" || source == target && !isNode:
	case isNode:
		hops = append(hops, hop{target, chainInput})
	default:
		hops = append(hops, hop{target, chainForward})
	}
	return hops
}

// locate returns the node of an address, and whether the address is the node's own.
func (n network) locate(address netip.Addr) (node string, own bool) {
	for _, node := range n.nodes {
		if slices.Contains(node.addresses, address) {
			return node.name, true
		}
		if slices.ContainsFunc(node.ranges, func(r netip.Prefix) bool { return r.Contains(address) }) {
			return node.name, false
		}
	}
	return "", false
}

// first returns the first packet of a connection.
func (c connection) first() packet {
	p := packet{
		from: c.from, to: c.to, fromText: c.from.String(), toText: c.to.String(),
		protocol: strings.ToLower(string(c.protocol)), sport: 40000, dport: int(c.port), device: "eth0", state: "new", mark: otherMark | oldMark,
	}
	if c.protocol == protocolICMP {
		p.sport = 0
		if c.from.Is6() {
			p.protocol, p.icmpType = "icmpv6", "echo-request"
		}
	}
	return p
}

// reply returns an answer to a packet in a connection that is established.
func (p packet) answer() packet {
	p.from, p.to, p.fromText, p.toText, p.sport, p.dport = p.to, p.from, p.toText, p.fromText, p.dport, p.sport
	p.state, p.reply = "established", true
	return p
}

// passes reports whether a packet passes all hooks on a way.
func (n network) passes(hops []hop, p packet) bool {
	for _, hop := range hops {
		each := p
		if !n.simulators[hop.node].passes(hop.hook, &each) {
			return false
		}
	}
	return true
}

// probes are all connections between the addresses of a cluster, and some others.
func (o oracle) probes() (probes []connection) {
	all := outside()
	for _, node := range o.nodes {
		all = append(all, node.addresses...)
		for _, pods := range node.ranges {
			unknown := pods.Addr()
			for range 5 {
				unknown = unknown.Next()
			}
			all = append(all, unknown)
		}
	}
	for _, pod := range o.Pods {
		for _, ip := range pod.Status.PodIPs {
			if address := netip.MustParseAddr(ip.IP); !slices.Contains(all, address) {
				all = append(all, address)
			}
		}
	}
	targets := []connection{{protocol: protocolICMP}}
	for _, port := range []int32{80, 81, 82} {
		targets = append(targets, connection{protocol: corev1.ProtocolTCP, port: port})
	}
	for _, port := range []int32{80, 82} {
		targets = append(targets, connection{protocol: corev1.ProtocolUDP, port: port}, connection{protocol: corev1.ProtocolSCTP, port: port})
	}
	for _, from := range all {
		for _, to := range all {
			for _, c := range targets {
				if c.from, c.to = from, to; from.Is4() == to.Is4() {
					probes = append(probes, c)
				}
			}
		}
	}
	return probes
}

// disagreement returns the first connection about which the rules and the oracle differ, or "".
func disagreement(o oracle, n network) string {
	for i, c := range o.probes() {
		hops := n.way(c.from, c.to)
		if len(hops) == 0 {
			continue
		}
		want, packet := o.allows(c), c.first()
		if n.passes(hops, packet) != want {
			return fmt.Sprintf("%s %s:%d from %s: the oracle says %t", c.protocol, c.to, c.port, c.from, want)
		}
		if !n.recheck || (i+i/8)%4 > 0 { // two of the eight ports, in turn
			continue
		}
		if problem := n.connections(hops, packet, want); problem != "" {
			return fmt.Sprintf("%s %s:%d from %s, allowed %t: %s", c.protocol, c.to, c.port, c.from, want, problem)
		}
	}
	return ""
}

// connections says what is wrong with packets that are not the first ones of a connection.
func (n network) connections(hops []hop, first packet, allowed bool) string {
	untracked, established, current := first, first, first
	untracked.state, established.state, current.state = "untracked", "established", "established"
	current.mark = otherMark | newMark
	switch {
	case n.passes(hops, untracked) != allowed:
		return "a packet that is not tracked is treated differently"
	case n.passes(hops, established) != allowed:
		return "a connection of former rules is treated differently"
	case !n.passes(hops, current) || !n.passes(hops, current.answer()):
		return "a connection that has been accepted is dropped"
	}
	for _, hop := range hops {
		simulator, marked := n.simulators[hop.node], first
		if accepted := simulator.passes(hop.hook, &marked); accepted && marked.mark != otherMark|newMark && first.from != first.to {
			return fmt.Sprintf("the mark is %#x", marked.mark)
		}
		if answer := first.answer(); hop.hook == chainForward && simulator.passes(hop.hook, &answer) != n.passes(hops[:1], first) && len(hops) == 1 {
			return "a reply is treated differently"
		}
	}
	return ""
}

// sets is how many random sets of policies are tested.
func sets(t *testing.T) int {
	t.Helper()
	number := 1500
	if text := os.Getenv("TRELLIS_POLICY_SETS"); text != "" {
		var err error
		number, err = strconv.Atoi(text)
		require.NoError(t, err, "TRELLIS_POLICY_SETS")
	}
	return number
}

// check compares the rules for a random cluster with the oracle.
func check(t *testing.T, c *choices) {
	t.Helper()
	o := randomCluster(c)
	n, err := newNetwork(o, c.n(4) > 0, nil)
	require.NoError(t, err)
	if problem := disagreement(o, n); problem != "" {
		t.Fatalf("%s\n%s", problem, describe(o))
	}
}

// describe returns policies and the rules of all nodes.
func describe(o oracle) string {
	var b strings.Builder
	for _, policy := range o.Policies {
		fmt.Fprintf(&b, "%s/%s: %s\n", policy.Namespace, policy.Name, policy.Spec.String())
	}
	for _, pod := range o.Pods {
		fmt.Fprintf(&b, "%s/%s on %s: %v %v %s\n", pod.Namespace, pod.Name, pod.Spec.NodeName, pod.Labels, pod.Status.PodIPs, pod.Status.Phase)
	}
	for _, node := range o.nodes {
		fmt.Fprintf(&b, "node %s:\n%s", node.name, tableOf(For(o.on(node), Options{Recheck: true, Generation: generation})).Text())
	}
	return b.String()
}

func TestFor_AgreesWithTheOracle(t *testing.T) {
	for seed := range sets(t) {
		check(t, &choices{random: rand.New(rand.NewPCG(uint64(seed), 1))})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// FuzzRules is best run with -fuzzminimizetime=1x: which code runs depends on the order of maps, too, so that inputs cannot be minimized.
func FuzzRules(f *testing.F) {
	addInputs(f, 1, 300)
	f.Fuzz(func(t *testing.T, data []byte) { check(t, &choices{data: data}) })
}

// addInputs adds random inputs, of so many bytes each, that a fuzzer begins with.
func addInputs(f *testing.F, seed uint64, length int) {
	random := rand.New(rand.NewPCG(seed, seed))
	for range 20 {
		data := make([]byte, length)
		for i := range data {
			data[i] = byte(random.IntN(256))
		}
		f.Add(data)
	}
}
