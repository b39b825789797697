package policy

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/trellis-garden/trellis/internal/gardenet/nft"
)

// Memo remembers what a computation of rules has found out, for the next one: of a large cluster, most stays. Results are the same as without. The zero value
// remembers nothing. A Memo is for one goroutine.
//
// Objects are recognized by their pointers, so they must not change once they have been passed. Results share lists with the Memo, and with former results: what
// has not changed is the same list.
type Memo struct {
	// round is the number of the computation. What it has not used is forgotten at its end.
	round      int
	families   []family
	logs       bool
	namespaces map[string]labels.Set
	pods       map[*corev1.Pod]*pod
	// present are those of the last computation.
	present  []*pod
	policies map[*networkingv1.NetworkPolicy]*compiled
	sets     map[string]*set
	chains   map[string]*chain
	// orderOfSets and orderOfChains are the same in the order of their names.
	orderOfSets   []*set
	orderOfChains []*chain
}

// For is the function For with the memory of former calls.
func (m *Memo) For(c Cluster, o Options) Rules {
	r := m.begin(c, o)
	for _, pod := range r.local {
		r.addLocal(pod)
		r.isolate(pod, ingress)
		r.isolate(pod, egress)
	}
	r.addBase()
	r.addLog()
	return m.end(r)
}

// begin forgets what is not true any more.
func (m *Memo) begin(c Cluster, o Options) *renderer {
	if m.round == 0 {
		*m = Memo{
			pods: map[*corev1.Pod]*pod{}, policies: map[*networkingv1.NetworkPolicy]*compiled{}, sets: map[string]*set{}, chains: map[string]*chain{},
		}
	}
	m.round++
	idx, changed := m.index(c)
	if families, logs := idx.families(), o.LogDenied > 0; !slices.Equal(families, m.families) || logs != m.logs {
		m.families, m.logs = families, logs
		clear(m.policies)
		clear(m.sets)
		clear(m.chains)
	}
	m.addPolicies(idx)
	return newRenderer(m, idx, changed, o)
}

// end forgets what was not needed, and returns the rest.
func (m *Memo) end(r *renderer) Rules {
	r.fillOwn()
	maps.DeleteFunc(m.pods, func(_ *corev1.Pod, p *pod) bool { return p.round != m.round })
	maps.DeleteFunc(m.policies, func(_ *networkingv1.NetworkPolicy, p *compiled) bool { return p.round != m.round })
	maps.DeleteFunc(m.sets, func(_ string, s *set) bool { return s.round != m.round })
	maps.DeleteFunc(m.chains, func(_ string, c *chain) bool { return c.round != m.round })
	m.orderOfSets = inOrder(m.sets, m.orderOfSets, func(s *set) string { return s.Name })
	m.orderOfChains = inOrder(m.chains, m.orderOfChains, func(c *chain) string { return c.Name })
	rules := Rules{
		Counters: []string{CounterEgress, CounterIngress, CounterUnknown},
		Sets:     make([]nft.Set, 0, len(m.orderOfSets)),
		Chains:   make([]nft.Chain, 0, len(m.orderOfChains)),
	}
	for _, s := range m.orderOfSets {
		rules.Sets = append(rules.Sets, s.Set)
	}
	for _, c := range m.orderOfChains {
		rules.Chains = append(rules.Chains, c.Chain)
	}
	return rules
}

// inOrder returns all objects in the order of their names. It sorts them only if they are not those of the former order.
func inOrder[T comparable](all map[string]T, former []T, name func(T) string) []T {
	if len(former) == len(all) && !slices.ContainsFunc(former, func(each T) bool { return all[name(each)] != each }) {
		return former
	}
	ordered := slices.AppendSeq(make([]T, 0, len(all)), maps.Values(all))
	sortByName(ordered, name)
	return ordered
}

// changes are the pods that sets may have lost, and those that they may have won, since the last computation. all is true if it is easier to find them all again.
type changes struct {
	all        bool
	gone, came []*pod
}

// index returns a cluster in a form that is fast to search.
func (m *Memo) index(c Cluster) (*index, changes) {
	idx := &index{Cluster: c, namespaces: make(map[string]labels.Set, len(c.Namespaces)), policies: map[string][]*compiled{}, found: map[string][]*pod{}}
	for _, namespace := range c.Namespaces {
		idx.namespaces[namespace.Name] = namespace.Labels
	}
	var changed changes
	if !maps.EqualFunc(m.namespaces, idx.namespaces, maps.Equal[labels.Set, labels.Set]) {
		m.namespaces, changed.all = idx.namespaces, true
	}
	idx.pods, changed.came = m.podsOf(c)
	for _, former := range m.present {
		if former.round != m.round {
			changed.gone = append(changed.gone, former)
		}
	}
	m.present = idx.pods
	// Each change is tried with each selector.
	const many = 8
	changed.all = changed.all || many*(len(changed.gone)+len(changed.came)) > len(idx.pods)
	for _, each := range idx.pods {
		if each.Spec.NodeName == c.Node {
			idx.local = append(idx.local, each)
		}
	}
	return idx, changed
}

// podsOf returns the pods that have addresses of their own, and those of them that are new. Pods that are known have only addresses that they had before.
func (m *Memo) podsOf(c Cluster) (pods, came []*pod) {
	owners := newOwners(len(c.Pods))
	for _, each := range c.Pods {
		if !HasOwnAddresses(each) {
			continue
		}
		known := m.pods[each]
		if known == nil {
			known = newPod(each)
			m.pods[each] = known
		}
		owners.add(known)
	}
	for _, known := range owners.pods {
		if owned := owners.of(known); !slices.Equal(owned, known.addresses) {
			known = &pod{Pod: known.Pod, labels: known.labels, claimed: known.claimed, addresses: owned}
			m.pods[known.Pod] = known
		}
		if len(known.addresses) > 0 {
			pods = append(pods, known)
			if known.round == 0 {
				came = append(came, known)
			}
		}
		known.round = m.round
	}
	return pods, came
}

// addPolicies adds policies by namespace, in the order of their names.
func (m *Memo) addPolicies(idx *index) {
	for _, policy := range idx.Policies {
		known := m.policies[policy]
		if known == nil {
			known = compile(policy)
			m.policies[policy] = known
		}
		known.round = m.round
		idx.policies[policy.Namespace] = append(idx.policies[policy.Namespace], known)
	}
	for _, policies := range idx.policies {
		sortByName(policies, func(p *compiled) string { return p.Name })
	}
}
