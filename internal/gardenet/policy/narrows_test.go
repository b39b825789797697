package policy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

func TestNarrows(t *testing.T) {
	const (
		toWeb  = "shop: podSelector: {matchLabels: {app: web}}, ingress: [{from: [{podSelector: {matchLabels: {app: client}}}], ports: [{port: http}]}]"
		toAll  = "shop: podSelector: {matchLabels: {app: web}}, ingress: [{}]"
		toDB   = "shop: podSelector: {matchLabels: {app: client}}, policyTypes: [Egress], egress: [{to: [{namespaceSelector: {}, podSelector: {matchLabels: {app: db}}}]}]"
		toPort = "shop: podSelector: {matchLabels: {app: client}}, policyTypes: [Egress], egress: [{to: [{namespaceSelector: {}}], ports: [{port: sql}]}]"
	)
	label := func(pod int, value string) func(*Cluster) {
		return func(c *Cluster) { c.Pods[pod].Labels["app"] = value }
	}
	more := func(texts ...string) func(*Cluster) {
		return func(c *Cluster) {
			for i, text := range texts {
				c.Policies = append(c.Policies, policyOf(t, fmt.Sprintf("more-%d", i), text))
			}
		}
	}
	less := func(c *Cluster) { c.Policies = nil }
	for sentence, test := range map[string]struct {
		policies []string
		change   func(*Cluster)
		want     bool
	}{
		"nothing changes":                          {[]string{toWeb, toDB}, func(*Cluster) {}, false},
		"a pod is isolated":                        {nil, more(toWeb), true},
		"a pod is isolated in the other direction": {[]string{toWeb}, more(toDB), true},
		"a pod is not isolated any more":           {[]string{toWeb}, less, false},
		"one more policy allows more":              {[]string{toWeb}, more(toAll), false},
		"the policy that allows all goes":          {[]string{toWeb, toAll}, func(c *Cluster) { c.Policies = c.Policies[:1] }, true},
		"a policy has another peer":                {[]string{toWeb}, func(c *Cluster) { c.Policies[0].Spec.Ingress[0].From[0].PodSelector.MatchLabels["app"] = "api" }, true},
		"a client is found":                        {[]string{toWeb}, label(2, "client"), false},
		"a client is not found any more":           {[]string{toWeb}, label(0, "other"), true},
		"a server is found":                        {[]string{toDB}, label(1, "db"), false},
		"a server is not found any more":           {[]string{toDB}, label(3, "other"), true},
		"a port of another pod gets a name":        {[]string{toPort}, func(c *Cluster) { c.Pods[1].Spec.Containers[0].Ports[0].Name = "sql" }, false},
		"a port of another pod loses its name":     {[]string{toPort}, func(c *Cluster) { c.Pods[3].Spec.Containers[0].Ports[0].Name = "other" }, true},
		"a named port gets another number":         {[]string{toWeb}, func(c *Cluster) { c.Pods[1].Spec.Containers[0].Ports[0].ContainerPort = 8090 }, true},
		"a local pod comes that is isolated at once": {[]string{toWeb, toDB}, func(c *Cluster) {
			added := c.Pods[1].DeepCopy()
			added.Name, added.Status.PodIP, added.Status.PodIPs = "web-2", "10.0.1.9", []corev1.PodIP{{IP: "10.0.1.9"}, {IP: "fd00:10:0:1::9"}}
			c.Pods = append(c.Pods, added)
		}, false},
		"a pod of another node comes": {[]string{toWeb, toDB}, func(c *Cluster) {
			added := c.Pods[3].DeepCopy()
			added.Name, added.Status.PodIP, added.Status.PodIPs = "db-2", "10.0.2.9", []corev1.PodIP{{IP: "10.0.2.9"}}
			c.Pods = append(c.Pods, added)
		}, false},
		"a local pod goes":               {nil, func(c *Cluster) { c.Pods = c.Pods[1:] }, true},
		"a pod of another node goes":     {nil, func(c *Cluster) { c.Pods = c.Pods[:3] }, false},
		"a server of another node goes":  {[]string{toDB}, func(c *Cluster) { c.Pods = c.Pods[:3] }, true},
		"the node gets another range":    {nil, func(c *Cluster) { c.LocalRanges = append(c.LocalRanges, prefixes("10.9.0.0/24")...) }, true},
		"a pod ends":                     {nil, func(c *Cluster) { c.Pods[0].Status.Phase = corev1.PodFailed }, true},
		"a policy of other pods changes": {[]string{toWeb}, more("data: podSelector: {}"), false},
	} {
		t.Run(sentence, func(t *testing.T) {
			from, to := shop(t, test.policies...), shop(t, test.policies...)
			test.change(&to)
			before, after := For(from, Options{Recheck: true, Generation: 1}), For(to, Options{Recheck: true, Generation: 2})
			assert.Equal(t, test.want, Narrows(before, after))
			assert.False(t, Narrows(after, after))
		})
	}
}

// Whatever changes: what is dropped after it, and was not before, is reported.
func TestNarrows_MissesNothing(t *testing.T) {
	dropped, reported, changes := 0, 0, 400
	for seed := range changes {
		random := rand.New(rand.NewPCG(uint64(seed), 5))
		from := randomCluster(&choices{random: random})
		to := from
		to.Cluster = changed(&choices{random: random}, from.Cluster)
		before, err := newNetwork(from, true, nil)
		require.NoError(t, err)
		after, err := newNetwork(to, true, nil)
		require.NoError(t, err)
		for _, node := range from.nodes {
			narrows := Narrows(For(from.on(node), Options{Recheck: true, Generation: 1}), For(to.on(node), Options{Recheck: true, Generation: 1}))
			if narrows {
				reported++
			}
			for _, c := range append(from.probes(), to.probes()...) {
				hops := slices.DeleteFunc(before.way(c.from, c.to), func(h hop) bool { return h.node != node.name })
				if packet := c.first(); before.passes(hops, packet) && !after.passes(hops, packet) {
					require.True(t, narrows, "seed %d, node %s, %s %s:%d from %s\nbefore:\n%s\nafter:\n%s",
						seed, node.name, c.protocol, c.to, c.port, c.from, describe(from), describe(to))
					dropped++
					break
				}
			}
		}
	}
	t.Logf("%d of %d changes drop something, %d are reported", dropped, 2*changes, reported)
	assert.Greater(t, dropped, changes/4)
	assert.Less(t, reported-dropped, changes/2, "too much is reported in vain")
}

// changed returns a cluster with one change.
func changed(c *choices, from Cluster) Cluster {
	to := from
	to.Pods = make([]*corev1.Pod, 0, len(from.Pods))
	for _, pod := range from.Pods {
		to.Pods = append(to.Pods, pod.DeepCopy())
	}
	to.Policies = make([]*networkingv1.NetworkPolicy, 0, len(from.Policies))
	for _, policy := range from.Policies {
		to.Policies = append(to.Policies, policy.DeepCopy())
	}
	pod := to.Pods[c.n(len(to.Pods))]
	switch c.n(6) {
	case 0:
		pod.Labels["tier"] = pick(c, "web", "db", "cache")
	case 1:
		pod.Status.Phase = corev1.PodSucceeded
	case 2:
		to.Pods = slices.DeleteFunc(to.Pods, func(each *corev1.Pod) bool { return each == pod })
	case 3:
		pod.Spec.Containers[0].Ports[0].ContainerPort = pick[int32](c, 80, 81, 82)
	case 4:
		to.Policies = append(to.Policies, randomPolicy(c, "added"))
	default:
		if len(to.Policies) > 0 {
			at := c.n(len(to.Policies))
			to.Policies[at].Spec = randomPolicy(c, "changed").Spec
		}
	}
	return to
}

// The order of lists makes no difference.
func TestFor_OrderOfLists(t *testing.T) {
	for seed := range 100 {
		random := rand.New(rand.NewPCG(uint64(seed), 6))
		o := randomCluster(&choices{random: random})
		// Two pods that claim one address.
		twin := o.Pods[0].DeepCopy()
		twin.Name, twin.Labels["tier"] = "twin", "other"
		o.Pods = append(o.Pods, twin)
		want := tableOf(For(o.on(o.nodes[0]), Options{Recheck: true, Generation: 1})).Text()
		shuffled := o.on(o.nodes[0])
		shuffled.Pods, shuffled.Policies, shuffled.Namespaces = shuffle(random, o.Pods), shuffle(random, o.Policies), shuffle(random, o.Namespaces)
		for i := range shuffled.Policies {
			shuffled.Policies[i] = shuffled.Policies[i].DeepCopy()
			spec := &shuffled.Policies[i].Spec
			spec.Ingress, spec.Egress = shuffle(random, spec.Ingress), shuffle(random, spec.Egress)
			for j := range spec.Ingress {
				spec.Ingress[j].From, spec.Ingress[j].Ports = shuffle(random, spec.Ingress[j].From), shuffle(random, spec.Ingress[j].Ports)
			}
			for j := range spec.Egress {
				spec.Egress[j].To, spec.Egress[j].Ports = shuffle(random, spec.Egress[j].To), shuffle(random, spec.Egress[j].Ports)
			}
		}
		require.Empty(t, cmp.Diff(want, tableOf(For(shuffled, Options{Recheck: true, Generation: 1})).Text()))
	}
}

func shuffle[T any](random *rand.Rand, list []T) []T {
	shuffled := slices.Clone(list)
	random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	return shuffled
}
