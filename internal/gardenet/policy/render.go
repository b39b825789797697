package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"github.com/trellis-garden/trellis/internal/gardenet/nft"
)

// renderer collects sets and chains. What several pods or rules need is there once.
type renderer struct {
	*index
	Options
	families []family
	sides    []side
	compiled map[*networkingv1.NetworkPolicy]*compiled
	// found are the pods in a scope, by its key.
	found  map[string][]*pod
	sets   map[string]nft.Set
	chains map[string]nft.Chain
}

func newRenderer(idx *index, o Options) *renderer {
	r := &renderer{
		index: idx, Options: o, families: idx.families(), sides: []side{requests},
		compiled: map[*networkingv1.NetworkPolicy]*compiled{}, found: map[string][]*pod{}, sets: map[string]nft.Set{}, chains: map[string]nft.Chain{},
	}
	if o.Recheck {
		r.sides = append(r.sides, replies)
	}
	for _, family := range r.families {
		r.sets[known(family)] = nft.Set{Name: known(family), Type: family.address()}
		r.sets[self(family)] = nft.Set{Name: self(family), Type: family.address() + " . " + family.address()}
		for _, side := range r.sides {
			for _, d := range []direction{ingress, egress} {
				r.sets[isolated(d, side, family)] = nft.Set{Name: isolated(d, side, family), Type: family.address(), Verdicts: true}
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

// isolate adds what policies mean for a pod of the node in a direction.
func (r *renderer) isolate(pod *pod, d direction) {
	selecting := r.selecting(pod, d)
	if len(selecting) == 0 {
		return
	}
	identity := identity(selecting, pod, d)
	for _, side := range r.sides {
		chain := string(d) + string(side) + "-" + hash(identity)
		if _, done := r.chains[chain]; !done {
			r.chains[chain] = nft.Chain{Name: chain, Rules: r.chain(selecting, d, side, pod)}
		}
		for _, address := range pod.addresses {
			r.insert(isolated(d, side, address.family), address.text+" : jump "+chain)
		}
	}
}

// selecting returns the policies that isolate a pod in a direction.
func (r *renderer) selecting(pod *pod, d direction) (selecting []*compiled) {
	for _, policy := range r.policies[pod.Namespace] {
		if r.compiled[policy] == nil {
			r.compiled[policy] = compile(policy)
		}
		if each := r.compiled[policy]; d.isolates(policy) && each.selector.Matches(pod.labels) {
			selecting = append(selecting, each)
		}
	}
	return selecting
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
	drop := fmt.Sprintf("counter name %q drop comment %q", d.counter(), comment(pod.Namespace+": "+strings.Join(names, ", ")))
	return append(slices.Compact(allowing), drop)
}

// maxComment is how many bytes nft takes for a comment.
const maxComment = 128

func comment(text string) string {
	if len(text) <= maxComment {
		return text
	}
	return text[:maxComment-3] + "..."
}

// set adds a set, if it is not there yet, and returns its name.
func (r *renderer) set(name string, set nft.Set, fill func(add func(element string))) string {
	if _, done := r.sets[name]; !done {
		set.Name = name
		fill(func(element string) { set.Elements = append(set.Elements, element) })
		r.sets[name] = set
	}
	return name
}

// insert adds an element to a set that is there.
func (r *renderer) insert(name, element string) {
	set := r.sets[name]
	set.Elements = append(set.Elements, element)
	r.sets[name] = set
}

// hash is the part of a name that stands for what the name is for. Its 80 bits keep users from finding two policies with one name.
func hash(identity string) string {
	sum := sha256.Sum256([]byte(identity))
	return hex.EncodeToString(sum[:10])
}

func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " ")
}
