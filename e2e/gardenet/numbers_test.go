//go:build gardenet

package gardenet

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/trellis-garden/trellis/internal/gardenet/nft"
	netpolicy "github.com/trellis-garden/trellis/internal/gardenet/policy"
)

const (
	// repetitions is how often each change is measured, and wholeRepetitions that of the whole rules.
	repetitions, wholeRepetitions = 200, 5
	// connections is how many TCP connections are opened for each of their figures.
	connections = 2000
	// residentBudget is the memory that an agent may take in a cluster of that size, in bytes.
	residentBudget = 40_000_000
	// leastGain is by how much, at least, one pod's change has to be cheaper than the whole rules.
	leastGain = 4
)

// TestNumbers prints what the rules of a large cluster cost, as a table for docs/performance/README.md. Times depend on the machine: they are not asserted, but
// for the ratio of two in the same run.
func TestNumbers(t *testing.T) {
	env := newCluster(t)
	table := &strings.Builder{}
	row := func(what string, columns ...string) {
		fmt.Fprintf(table, "| %s | %s |\n", what, strings.Join(columns, " | "))
	}
	measureRules(t, env.nodes["b"].namespace, row)
	measureConnections(t, env, row)
	fmt.Fprintln(t.Output(), "\n"+table.String())
}

// measureRules measures the rules of a node with a hundred isolated pods, in a kernel without packets.
func measureRules(t *testing.T, node *namespace, row func(string, ...string)) {
	row("rules of one node", "IPv4", "IPv4 and IPv6")
	row("---", "---", "---")
	var columns [2]ruleCosts
	for i, dual := range []bool{false, true} {
		columns[i] = costsOfRules(t, node, largeCluster("b", dual))
	}
	both := func(what string, value func(ruleCosts) string) { row(what, value(columns[0]), value(columns[1])) }
	both("sets, elements, rules", func(c ruleCosts) string { return c.size })
	both("all rules: computed, loaded", func(c ruleCosts) string { return c.whole.medians() })
	both("one pod comes: computed, loaded", func(c ruleCosts) string { return c.coming.medians() })
	both("one pod comes: in effect after (median, p99)", func(c ruleCosts) string { return c.coming.untilEffect() })
	both("one pod comes: p99 of the sum", func(c ruleCosts) string { return inMilliseconds(c.coming.sum(0.99)) })
	both("one pod goes: computed, loaded", func(c ruleCosts) string { return c.going.medians() })
	both("one pod goes: in effect after (median, p99)", func(c ruleCosts) string { return c.going.untilEffect() })
	both("one pod goes: p99 of the sum", func(c ruleCosts) string { return inMilliseconds(c.going.sum(0.99)) })
	both("size of the transaction, of all rules", func(c ruleCosts) string { return fmt.Sprintf("%d kB, %d kB", c.transaction/1000, c.text/1000) })
	for _, c := range columns {
		assert.Less(t, c.coming.sum(0.5)*leastGain, c.whole.sum(0.5), "one pod must not cost as much as all")
		assert.Less(t, c.transaction*10, c.text, "a transaction contains differences")
	}
}

// ruleCosts are the costs of the rules of one node.
type ruleCosts struct {
	size                 string
	whole, coming, going costs
	transaction, text    int
}

// costs are times of the computation, of the transaction with the program nft, and from the beginning until the kernel works by it.
type costs struct{ computed, loaded, effective []time.Duration }

func (c *costs) add(start, computed time.Time) {
	c.computed = append(c.computed, computed.Sub(start))
	c.loaded = append(c.loaded, time.Since(computed))
}

// addEffect adds when the last transaction was in effect.
func (c *costs) addEffect(t *testing.T, start time.Time, generations <-chan time.Time) {
	select {
	case at := <-generations:
		c.effective = append(c.effective, at.Sub(start))
	case <-time.After(timeout):
		require.Fail(t, "the kernel tells of no new generation of rules")
	}
}

func (c *costs) untilEffect() string {
	return inMilliseconds(quantile(c.effective, 0.5)) + ", " + inMilliseconds(quantile(c.effective, 0.99))
}

func (c *costs) medians() string {
	return inMilliseconds(quantile(c.computed, 0.5)) + ", " + inMilliseconds(quantile(c.loaded, 0.5))
}

// sum is a quantile of both times together.
func (c *costs) sum(q float64) time.Duration {
	var sums []time.Duration
	for i := range c.computed {
		sums = append(sums, c.computed[i]+c.loaded[i])
	}
	return quantile(sums, q)
}

func quantile(all []time.Duration, q float64) time.Duration {
	all = slices.Sorted(slices.Values(all))
	return all[min(int(q*float64(len(all))), len(all)-1)]
}

func inMilliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}

// costsOfRules measures what an agent does when it starts, when one pod comes, and when that goes.
func costsOfRules(t *testing.T, node *namespace, cluster netpolicy.Cluster) (c ruleCosts) {
	var memo netpolicy.Memo
	generation := uint8(1)
	before := rulesFor(&memo, cluster, generation)
	for range wholeRepetitions {
		start := time.Now()
		table := rulesFor(&netpolicy.Memo{}, cluster, generation)
		text := nft.Replace(table)
		computed := time.Now()
		load(t, node, text)
		c.whole.add(start, computed)
		c.text, c.size = len(text), sizeOf(table)
	}
	inEffect := generations(t, node)
	for i := range repetitions {
		grown := cluster
		grown.Pods = append(slices.Clone(cluster.Pods), largePod("b", numberOfPods+i*7, len(cluster.Pods[0].Status.PodIPs) > 1))
		start := time.Now()
		after := rulesFor(&memo, grown, generation)
		require.False(t, netpolicy.Narrows(rulesIn(before), rulesIn(after)), "a pod more forbids nothing")
		transaction := nft.Difference(before, after)
		computed := time.Now()
		load(t, node, transaction)
		c.coming.add(start, computed)
		c.coming.addEffect(t, start, inEffect)
		c.transaction = max(c.transaction, len(transaction))

		start = time.Now()
		before = rulesFor(&memo, cluster, generation)
		require.True(t, netpolicy.Narrows(rulesIn(after), rulesIn(before)), "a pod less allows less")
		generation++ // then the rules are computed once more
		before = rulesFor(&memo, cluster, generation)
		transaction = nft.Difference(after, before)
		computed = time.Now()
		load(t, node, transaction)
		c.going.add(start, computed)
		c.going.addEffect(t, start, inEffect)
	}
	return c
}

func rulesFor(memo *netpolicy.Memo, c netpolicy.Cluster, generation uint8) nft.Table {
	rules := memo.For(c, netpolicy.Options{Recheck: true, Generation: generation})
	return nft.Table{Name: "numbers", Counters: rules.Counters, Sets: rules.Sets, Chains: rules.Chains}
}

func rulesIn(t nft.Table) netpolicy.Rules {
	return netpolicy.Rules{Counters: t.Counters, Sets: t.Sets, Chains: t.Chains}
}

func sizeOf(t nft.Table) string {
	elements, rules := 0, 0
	for _, set := range t.Sets {
		elements += len(set.Elements)
	}
	for _, chain := range t.Chains {
		rules += len(chain.Rules)
	}
	return fmt.Sprintf("%d, %d, %d", len(t.Sets), elements, rules)
}

// load runs a transaction in a namespace.
func load(t *testing.T, node *namespace, transaction string) {
	command := exec.CommandContext(t.Context(), "nft", "-f", "-")
	var output bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(transaction), &output, &output
	require.NoError(t, node.do(command.Start))
	require.NoError(t, command.Wait(), output.String())
}

// measureConnections measures TCP connections between two isolated pods of a node, and the memory of its agent.
func measureConnections(t *testing.T, env *cluster, row func(string, ...string)) {
	large := largeCluster("a", true)
	env.runAll(t, native)
	from, to := env.nodes["a"].newPod(t, "x", "from", map[string]string{"app": "0", "group": "0"}), env.nodes["a"].newPod(t, "y", "to", map[string]string{"app": "0", "group": "0"})
	without := env.connectTimes(t, from, to)

	env.create(t, large)
	isolating := policyOf("x", "isolating", 0)
	env.setPolicies(t, isolating, policyOf("y", "isolating", 0))
	require.Eventually(t, func() bool { return env.elements(t, "a") > 25*numberOfPolicies }, 2*time.Minute, time.Second, "the agent has all pods in its sets")
	require.True(t, probe{from.namespace, "tcp", to.address(false), 80}.eventually(true))
	with := env.connectTimes(t, from, to)
	memory := env.nodes["a"].restingMemory(t)

	row("", "", "")
	row("TCP connection between two pods of a node: p50, p99", "without policies", fmt.Sprintf("with %d policies", numberOfPolicies))
	row("---", "---", "---")
	row("IPv4", without.v4, with.v4)
	row("IPv6", without.v6, with.v6)
	row("agent's resident memory", "", fmt.Sprintf("%.1f MB", float64(memory)/1e6))
	assert.LessOrEqual(t, memory, int64(residentBudget), "bytes of resident memory")
}

// restingMemory returns the agent's resident memory, in bytes, once it is within the budget, or has had the time to give free memory back.
func (n *node) restingMemory(t *testing.T) int64 {
	for deadline := time.Now().Add(timeout); ; time.Sleep(time.Second) {
		memory, err := n.agent.Memory()
		require.NoError(t, err)
		if memory.All <= residentBudget || time.Now().After(deadline) {
			return memory.All
		}
	}
}

// connectTimes are texts: p50 and p99 of a family.
type connectTimes struct{ v4, v6 string }

func (c *cluster) connectTimes(t *testing.T, from, to *pod) connectTimes {
	return connectTimes{v4: timesTo(t, from, to.address(false)), v6: timesTo(t, from, to.address(true))}
}

func timesTo(t *testing.T, from *pod, to netip.Addr) string {
	var times []time.Duration
	address := netip.AddrPortFrom(to, 80).String()
	for range connections {
		start := time.Now()
		connection, err := from.dial(t.Context(), "tcp", address)
		require.NoError(t, err)
		times = append(times, time.Since(start))
		require.NoError(t, connection.Close())
	}
	return fmt.Sprintf("%d µs, %d µs", quantile(times, 0.5).Microseconds(), quantile(times, 0.99).Microseconds())
}

// elements counts the addresses in all sets of a node.
func (c *cluster) elements(t *testing.T, node string) int {
	command := exec.CommandContext(t.Context(), "nft", "list", "table", "inet", "gardenet")
	var output bytes.Buffer
	command.Stdout = &output
	require.NoError(t, c.nodes[node].do(command.Start))
	if command.Wait() != nil {
		return 0
	}
	return strings.Count(output.String(), ",") // between elements
}

// create makes the objects of a large cluster known to the API server.
func (c *cluster) create(t *testing.T, large netpolicy.Cluster) {
	for _, namespace := range large.Namespaces {
		c.createNamespace(t, namespace.Name)
	}
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(8)
	for _, p := range large.Pods {
		group.Go(func() error { return c.createPod(ctx, p) })
	}
	for _, p := range large.Policies {
		group.Go(func() error {
			_, err := c.clients.NetworkingV1().NetworkPolicies(p.Namespace).Create(ctx, p, metav1.CreateOptions{})
			return err
		})
	}
	require.NoError(t, group.Wait())
}

func (c *cluster) createPod(ctx context.Context, p *corev1.Pod) error {
	created, err := c.clients.CoreV1().Pods(p.Namespace).Create(ctx, p, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	created.Status = p.Status
	_, err = c.clients.CoreV1().Pods(p.Namespace).UpdateStatus(ctx, created, metav1.UpdateOptions{})
	return err
}

// The cluster that the budgets are for: each of the policies has a selector of its own, which finds 50 pods, and each pod of the node is isolated by five policies.
const numberOfPods, podsOfNode, numberOfPolicies, numberOfNamespaces, numberOfGroups, numberOfApps = 1000, 100, 500, 20, 20, 25

func largeCluster(node string, dual bool) netpolicy.Cluster {
	c := netpolicy.Cluster{Node: node, LocalRanges: []netip.Prefix{netip.MustParsePrefix("100.96.0.0/24"), netip.MustParsePrefix("fd00:96::/80")}}
	for i := range numberOfNamespaces {
		c.Namespaces = append(c.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%d", i)}})
	}
	for i := range numberOfPods {
		c.Pods = append(c.Pods, largePod(node, i, dual))
	}
	for i := range numberOfPolicies {
		c.Policies = append(c.Policies, policyOf(fmt.Sprintf("n%d", i%numberOfNamespaces), fmt.Sprintf("policy-%d", i), i))
	}
	return c
}

// largePod is a pod by its number. A tenth is on the node, some in each namespace, with addresses of the node's range.
func largePod(node string, i int, dual bool) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("p%d", i), Namespace: fmt.Sprintf("n%d", i%numberOfNamespaces), Labels: map[string]string{
			"app": fmt.Sprint(i / numberOfNamespaces % numberOfApps), "group": fmt.Sprint(i * numberOfGroups / numberOfPods % numberOfGroups),
		}},
		Spec:   corev1.PodSpec{NodeName: "elsewhere", Containers: []corev1.Container{{Name: "main", Image: "none"}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	four, six := fmt.Sprintf("100.97.%d.%d", i/200, i%200+10), fmt.Sprintf("fd00:96::2:0:0:%x", i+1)
	if place := i % (numberOfNamespaces * numberOfPods / podsOfNode); place < numberOfNamespaces && i < numberOfPods {
		p.Spec.NodeName = node
		four, six = fmt.Sprintf("100.96.0.%d", i*podsOfNode/numberOfPods+place+100), fmt.Sprintf("fd00:96::%x", i+0x1000)
	}
	p.Status.PodIP, p.Status.PodIPs = four, []corev1.PodIP{{IP: four}}
	if dual {
		p.Status.PodIPs = append(p.Status.PodIPs, corev1.PodIP{IP: six})
	}
	return p
}

// policyOf isolates the pods of five apps, and allows connections from the pods of a group in all namespaces.
func policyOf(namespace, name string, i int) *networkingv1.NetworkPolicy {
	var apps []string
	for app := range 5 {
		apps = append(apps, fmt.Sprint((i/numberOfNamespaces+app)%numberOfApps))
	}
	return &networkingv1.NetworkPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: apps}}},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
			Ingress: []networkingv1.NetworkPolicyIngressRule{{
				From: []networkingv1.NetworkPolicyPeer{{
					NamespaceSelector: &metav1.LabelSelector{},
					PodSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
						{Key: "group", Operator: metav1.LabelSelectorOpIn, Values: []string{fmt.Sprint(i % numberOfGroups), fmt.Sprintf("%s-%d", namespace, i)}},
					}},
				}},
				Ports: []networkingv1.NetworkPolicyPort{{Port: new(intstr.FromInt32(80))}},
			}},
		},
	}
}
