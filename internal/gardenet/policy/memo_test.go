package policy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What a Memo remembers makes no difference, whatever changes between two computations.
func TestMemo_SameAsWithout(t *testing.T) {
	for seed := range sets(t) / 5 {
		checkMemo(t, &choices{random: rand.New(rand.NewPCG(uint64(seed), 5))}, 12)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func FuzzMemo(f *testing.F) {
	addInputs(f, 2, 400)
	f.Fuzz(func(t *testing.T, data []byte) { checkMemo(t, &choices{data: data}, 8) })
}

// checkMemo changes a random cluster several times, and compares the rules with those of a computation without memory.
func checkMemo(t *testing.T, c *choices, changes int) {
	t.Helper()
	o := randomCluster(c)
	addRemotePods(c, &o)
	node, memo, options := o.nodes[c.n(2)], &Memo{}, Options{Recheck: c.n(4) > 0, Generation: 1}
	var history []string
	for range changes {
		cluster := o.on(node)
		cluster.Pods, cluster.Policies = slices.Clone(o.Pods), slices.Clone(o.Policies)
		rotate(cluster.Pods, c.n(3))
		rotate(cluster.Policies, c.n(3))
		want, got := For(cluster, options), memo.For(cluster, options)
		if difference := cmp.Diff(want, got, cmpopts.EquateEmpty()); difference != "" {
			t.Fatalf("after %q (- without memory, + with):\n%s", history, difference)
		}
		for range c.n(3) {
			history = append(history, change(c, &o, &node, &options, len(history)))
		}
	}
}

func rotate[T any](all []T, by int) {
	if by < len(all) {
		copy(all, slices.Concat(all[by:], all[:by]))
	}
}

// addRemotePods makes a cluster so large that a change of one pod is a small one.
func addRemotePods(c *choices, o *oracle) {
	for i := range 20 {
		o.Pods = append(o.Pods, randomPod(c, pick(c, "x", "y", "z"), fmt.Sprintf("remote-%d", i), 100+i))
	}
}

// change does one thing that may happen to a cluster, and returns what. Objects are replaced, as in a cache.
func change(c *choices, o *oracle, node *place, options *Options, number int) string {
	switch kind := c.n(13); {
	case kind < 7:
		return changePods(c, o, kind, number)
	case kind == 7:
		i := c.n(len(o.Namespaces))
		changed := o.Namespaces[i].DeepCopy()
		changed.Labels = map[string]string{"ns": changed.Name, "team": pick(c, "red", "blue")}
		o.Namespaces = slices.Clone(o.Namespaces)
		o.Namespaces[i] = changed
		return changed.Name + " has other labels"
	case kind < 11:
		return changePolicies(c, o, kind, number)
	case kind == 11:
		options.Generation++
		return "another generation"
	case c.n(2) == 0:
		node.ranges = node.ranges[:1]
		o.Pods = slices.Clone(o.Pods)
		for i := range o.Pods {
			changePod(o, i, func(p *corev1.Pod) { p.Status.PodIPs = p.Status.PodIPs[:1] }, "")
		}
		return "one family less"
	case c.n(3) == 0:
		node.ranges, options.Recheck, options.LogDenied = twoNodes()[c.n(2)].ranges[:1+c.n(2)], c.n(2) == 0, 5*c.n(3)
		return "other settings"
	}
	return "nothing"
}

func changePods(c *choices, o *oracle, kind, number int) string {
	pod := c.n(len(o.Pods))
	name := o.Pods[pod].Name
	switch kind {
	case 0:
		name = fmt.Sprintf("new-%d", number)
		o.Pods = append(slices.Clone(o.Pods), randomPod(c, pick(c, "x", "y", "z"), name, 130+number))
		return name + " comes"
	case 1:
		if o.Pods = slices.Delete(slices.Clone(o.Pods), pod, pod+1); len(o.Pods) == 0 {
			o.Pods = []*corev1.Pod{randomPod(c, "x", "last", 99)}
		}
		return name + " goes"
	case 2:
		return name + changePod(o, pod, func(p *corev1.Pod) { p.Labels = randomPod(c, p.Namespace, p.Name, 1).Labels }, " has other labels")
	case 3:
		return name + changePod(o, pod, func(p *corev1.Pod) { p.Spec.Containers = randomPod(c, p.Namespace, p.Name, 1).Spec.Containers }, " has other ports")
	case 4:
		return name + changePod(o, pod, func(p *corev1.Pod) { p.Status.Phase = pick(c, corev1.PodRunning, corev1.PodFailed) }, " has another phase")
	case 5: // two pods claim an address, until the other one changes
		return name + changePod(o, pod, func(p *corev1.Pod) {
			p.Status, p.CreationTimestamp = o.Pods[c.n(len(o.Pods))].Status, metav1.NewTime(time.Unix(int64(c.n(4)), 0))
		}, " has the addresses of another one")
	default:
		return name + changePod(o, pod, func(*corev1.Pod) {}, " is read again")
	}
}

func changePolicies(c *choices, o *oracle, kind, number int) string {
	if kind == 8 || len(o.Policies) == 0 {
		o.Policies = append(slices.Clone(o.Policies), randomPolicy(c, fmt.Sprintf("new-policy-%d", number)))
		return "a policy comes"
	}
	policy := c.n(len(o.Policies))
	if kind == 9 {
		o.Policies = slices.Delete(slices.Clone(o.Policies), policy, policy+1)
		return "a policy goes"
	}
	changed := o.Policies[policy].DeepCopy()
	changed.Spec = randomPolicy(c, changed.Name).Spec
	o.Policies = slices.Clone(o.Policies)
	o.Policies[policy] = changed
	return "a policy changes"
}

func changePod(o *oracle, i int, change func(*corev1.Pod), what string) string {
	changed := o.Pods[i].DeepCopy()
	change(changed)
	o.Pods = slices.Clone(o.Pods)
	o.Pods[i] = changed
	return what
}

// One pod more changes only the lists that it is in: everything else is shared with the former rules.
func TestMemo_SharesWhatStays(t *testing.T) {
	c, memo := largeCluster(t), &Memo{}
	before := memo.For(c, Options{Recheck: true, Generation: 1})
	c.Pods = append(slices.Clone(c.Pods), addedPod(c))
	after := memo.For(c, Options{Recheck: true, Generation: 2})
	require.Len(t, after.Sets, len(before.Sets))
	changed := 0
	for i, set := range after.Sets {
		if len(set.Elements) > 0 && &set.Elements[0] != &before.Sets[i].Elements[0] {
			changed++
		}
	}
	require.Equal(t, For(c, Options{Recheck: true, Generation: 2}), after)
	require.LessOrEqual(t, changed, 120, "of %d sets", len(after.Sets))
	require.Positive(t, changed)
}

// A Memo keeps nothing that has gone.
func TestMemo_Forgets(t *testing.T) {
	c, memo := largeCluster(t), &Memo{}
	memo.For(c, Options{Recheck: true})
	c.Pods, c.Policies = c.Pods[:10], []*networkingv1.NetworkPolicy{}
	memo.For(c, Options{Recheck: true})
	require.Len(t, memo.pods, 10)
	require.Empty(t, memo.policies)
	require.Len(t, memo.sets, len(For(c, Options{Recheck: true}).Sets))
	require.Len(t, memo.chains, len(For(c, Options{Recheck: true}).Chains))
}
