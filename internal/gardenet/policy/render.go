package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/gardenet/nft"
)

// renderer collects sets and chains. What several pods or rules need is there once.
type renderer struct {
	*index
	Options
	memo     *Memo
	changed  changes
	families []family
	sides    []side
	// own are the elements of the sets and maps that are there without policies, by name.
	own map[string][]string
	// used are the sets of the chain that is being written.
	used []*set
}

func newRenderer(m *Memo, idx *index, changed changes, o Options) *renderer {
	r := &renderer{index: idx, Options: o, memo: m, changed: changed, families: m.families, sides: []side{requests}, own: map[string][]string{}}
	if o.Recheck {
		r.sides = append(r.sides, replies)
	}
	for _, family := range r.families {
		r.addOwn(known(family), nft.Set{Type: family.address()})
		r.addOwn(self(family), nft.Set{Type: family.address() + " . " + family.address()})
		for _, side := range r.sides {
			for _, d := range []direction{ingress, egress} {
				r.addOwn(isolated(d, side, family), nft.Set{Type: family.address(), Verdicts: true})
			}
		}
	}
	return r
}

// known is the name of the set with the addresses of the node's pods.
func known(f family) string { return "known-" + string(f) }

// self is the name of the set with two times the address of each pod of the node: a pod reaches itself.
func self(f family) string { return "self-" + string(f) }

// isolated is the name of the map from addresses of isolated pods to their chains.
func isolated(d direction, s side, f family) string {
	return "pods-" + string(d) + string(s) + "-" + string(f)
}

// addLocal adds the addresses of a pod of the node.
func (r *renderer) addLocal(pod *pod) {
	for _, address := range pod.addresses {
		r.insert(self(address.family), address.text+" . "+address.text)
		if slices.ContainsFunc(r.LocalRanges, address.in) {
			r.insert(known(address.family), address.text)
		}
	}
}

// isolation is what policies mean for a pod in a direction.
type isolation struct {
	// among are all policies of the pod's namespace; by are those of them that isolate the pod.
	among, by []*compiled
	// identity is a part of the names of chains.
	identity string
}

// chain is a chain for pods that the same policies isolate, with the sets that its rules use.
type chain struct {
	nft.Chain
	policies []*compiled
	sets     []*set
	// round is that of the last computation that used it.
	round int
}

// isolate adds what policies mean for a pod of the node in a direction.
func (r *renderer) isolate(pod *pod, d direction) {
	isolation := r.isolationOf(pod, d)
	if len(isolation.by) == 0 {
		return
	}
	for _, side := range r.sides {
		name := string(d) + string(side) + "-" + isolation.identity
		r.addChain(name, isolation.by, d, side, pod)
		for _, address := range pod.addresses {
			r.insert(isolated(d, side, address.family), address.text+" : jump "+name)
		}
	}
}

// isolationOf returns the policies that isolate a pod in a direction.
func (r *renderer) isolationOf(pod *pod, d direction) isolation {
	among := r.policies[pod.Namespace]
	if former, done := pod.isolations[d]; done && slices.Equal(former.among, among) {
		return former
	}
	found := isolation{among: among}
	for _, policy := range among {
		if d.isolates(policy.NetworkPolicy) && policy.selector.Matches(pod.labels) {
			found.by = append(found.by, policy)
		}
	}
	if len(found.by) > 0 {
		found.identity = hash(identity(found.by, pod, d))
	}
	if pod.isolations == nil {
		pod.isolations = map[direction]isolation{}
	}
	pod.isolations[d] = found
	return found
}

// addChain adds a chain for what policies allow, and the sets that it uses.
func (r *renderer) addChain(name string, policies []*compiled, d direction, s side, pod *pod) {
	known := r.memo.chains[name]
	if known == nil || !slices.Equal(known.policies, policies) {
		r.used = nil
		rules := r.chain(policies, d, s, pod)
		known = &chain{Chain: nft.Chain{Name: name, Rules: rules}, policies: policies, sets: r.used}
		r.memo.chains[name] = known
	}
	if known.round == r.memo.round {
		return
	}
	known.round = r.memo.round
	for _, set := range known.sets {
		r.update(set)
	}
}

// identity is equal for pods that share a chain: those that the same policies select, and that have the same numbers for the ports that the policies name.
func identity(selecting []*compiled, pod *pod, d direction) string {
	var b strings.Builder
	b.WriteString(pod.Namespace)
	for _, policy := range selecting {
		b.WriteString("\n" + policy.Name)
		if d == egress {
			continue
		}
		for _, name := range policy.names {
			fmt.Fprintf(&b, " %s/%s=%v", name.protocol, name.name, pod.numbers(name))
		}
	}
	return b.String()
}

// chain returns the rules of a chain: what one of the policies allows returns, everything else is dropped.
func (r *renderer) chain(selecting []*compiled, d direction, s side, pod *pod) []string {
	var allowing, names []string
	for _, policy := range selecting {
		names = append(names, policy.Name)
		for _, rule := range r.rulesOf(policy, d) {
			allowing = append(allowing, r.allowing(rule, d, s, pod)...)
		}
	}
	slices.Sort(allowing)
	rules := slices.Compact(allowing)
	if r.LogDenied > 0 {
		rules = append(rules, "jump "+logChain(d))
	}
	return append(rules, fmt.Sprintf("counter name %q drop comment %q", d.counter(), comment(pod.Namespace+": "+strings.Join(names, ", "))))
}

// maxComment is how many bytes nft takes for a comment.
const maxComment = 128

func comment(text string) string {
	if len(text) <= maxComment {
		return text
	}
	return text[:maxComment-3] + "..."
}

// set makes the chain that is being written use a set, and returns its name.
func (r *renderer) set(name string, given set) string {
	r.used = append(r.used, r.use(name, given))
	return name
}

// addOwn adds a set that is there without policies.
func (r *renderer) addOwn(name string, declared nft.Set) {
	r.use(name, set{Set: declared})
	r.own[name] = nil
}

// insert adds an element to such a set.
func (r *renderer) insert(name, element string) { r.own[name] = append(r.own[name], element) }

// fillOwn gives these sets their elements.
func (r *renderer) fillOwn() {
	for name, elements := range r.own {
		slices.Sort(elements)
		if set := r.memo.sets[name]; !slices.Equal(set.Elements, elements) {
			set.Elements = elements
		}
	}
}

// hash is the part of a name that stands for what the name is for. Its 80 bits keep users from finding two policies with one name.
func hash(identity string) string {
	sum := sha256.Sum256([]byte(identity))
	return hex.EncodeToString(sum[:10])
}

func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " ")
}

// changesIn returns the pods that are in a scope no longer, and those that are new in it.
func (r *renderer) changesIn(s scope) (gone, came []*pod) {
	return r.in(s, r.changed.gone), r.in(s, r.changed.came)
}
