package policy

import (
	"net/netip"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/trellis-garden/trellis/internal/gardenet/nft"
)

// selector is a selector of the API in a form that matches. Equal keys mean equal selectors.
type selector struct {
	labels.Selector
	key string
}

// parse never fails: the API server accepts no selector that cannot be read. If there is one nevertheless, it matches nothing.
func parse(s *metav1.LabelSelector) selector {
	parsed, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return selector{labels.Nothing(), "!"}
	}
	return selector{parsed, parsed.String()}
}

// scope are the pods that a peer means: those that a selector selects in some namespaces.
type scope struct {
	// namespace is the only one, if any.
	namespace  string
	namespaces *selector
	pods       selector
	// key is equal for scopes that are.
	key string
}

func newScope(namespace string, peer *networkingv1.NetworkPolicyPeer) scope {
	s := everything()
	if peer.PodSelector != nil {
		s.pods = parse(peer.PodSelector)
	}
	if peer.NamespaceSelector != nil {
		namespaces := parse(peer.NamespaceSelector)
		s.namespaces = &namespaces
		s.key = "namespaces " + s.namespaces.key + "\npods " + s.pods.key
		return s
	}
	s.namespace, s.key = namespace, "namespace "+namespace+"\npods "+s.pods.key
	return s
}

// everything is the scope of a rule without peers.
func everything() scope {
	return scope{pods: selector{Selector: labels.Everything()}, key: "pods "}
}

// members returns the pods in a scope. Sets of several families and ports need the same ones.
func (idx *index) members(s scope) []*pod {
	members, done := idx.found[s.key]
	if !done {
		members = idx.in(s, idx.candidates(s.pods))
		idx.found[s.key] = members
	}
	return members
}

// in returns those of some pods that are in a scope.
func (idx *index) in(s scope, pods []*pod) (members []*pod) {
	inScope := idx.namespacesOf(s)
	for _, pod := range pods {
		if s.pods.Matches(pod.labels) && inScope(pod.Namespace) {
			members = append(members, pod)
		}
	}
	return members
}

// namespacesOf returns whether a namespace is in a scope.
func (idx *index) namespacesOf(s scope) func(namespace string) bool {
	if s.namespaces == nil {
		return func(namespace string) bool { return s.namespace == "" || s.namespace == namespace }
	}
	matches := map[string]bool{}
	return func(namespace string) bool {
		match, done := matches[namespace]
		if !done {
			labels, exists := idx.namespaces[namespace]
			match = exists && s.namespaces.Matches(labels)
			matches[namespace] = match
		}
		return match
	}
}

// candidates returns pods among which are all that a selector matches. If it requires values of a label, these are the pods with such a value.
func (idx *index) candidates(s selector) []*pod {
	requirements, _ := s.Requirements()
	fewest := idx.pods
	for _, requirement := range requirements {
		switch requirement.Operator() {
		case selection.In, selection.Equals, selection.DoubleEquals:
			var pods []*pod
			for value := range requirement.Values() {
				pods = append(pods, idx.with(label{requirement.Key(), value})...)
			}
			if len(pods) < len(fewest) {
				fewest = pods
			}
		}
	}
	return fewest
}

// with returns the pods that have a label.
func (idx *index) with(wanted label) []*pod {
	if idx.byLabel == nil {
		idx.byLabel = map[label][]*pod{}
		for _, each := range idx.pods {
			for key, value := range each.labels {
				idx.byLabel[label{key, value}] = append(idx.byLabel[label{key, value}], each)
			}
		}
	}
	return idx.byLabel[wanted]
}

// selected returns the name of the set with the addresses of the pods in a scope.
func (r *renderer) selected(s scope, f family) string {
	return r.set("sel-"+hash(s.key)+"-"+string(f), set{Set: nft.Set{Type: f.address()}, scope: &s, elements: func(pod *pod, add func(string)) {
		for _, address := range pod.addresses {
			if address.family == f {
				add(address.text)
			}
		}
	}})
}

// namedPorts returns the name of the set with the ports that have one of some names in the pods of a scope.
func (r *renderer) namedPorts(s scope, names []portName, f family) string {
	var key strings.Builder
	key.WriteString(s.key)
	for _, name := range names {
		key.WriteString("\n" + name.protocol + " " + name.name)
	}
	declared := nft.Set{Type: f.address() + " . inet_proto . inet_service"}
	return r.set("np-"+hash(key.String())+"-"+string(f), set{Set: declared, scope: &s, elements: func(pod *pod, add func(string)) {
		for _, ports := range pod.namedPorts(names) {
			for _, address := range pod.addresses {
				if address.family == f {
					add(address.text + ports)
				}
			}
		}
	}})
}

// block returns the match of a block without its exceptions, if any address is left, and of a family that the node's pods have. A block that cannot be read, or
// whose exceptions cannot be read, matches nothing: objects from before the API server checked strictly may have leading zeros.
func (r *renderer) block(block *networkingv1.IPBlock) []peer {
	whole, err := netip.ParsePrefix(block.CIDR)
	if err != nil || !slices.Contains(r.families, familyOf(whole.Addr())) {
		return nil
	}
	var except []netip.Prefix
	for _, cidr := range block.Except {
		prefix, err := netip.ParsePrefix(cidr)
		if err != nil {
			return nil
		}
		except = append(except, prefix.Masked())
	}
	family, left := familyOf(whole.Addr()), subtract(whole.Masked(), except)
	switch {
	case len(left) == 0:
		return nil
	case left[0].Bits() == 0:
		return []peer{{family: family}}
	}
	return []peer{{family: family, block: left}}
}

// inBlock returns the name of the set with what is left of a block.
func (r *renderer) inBlock(block []netip.Prefix, f family) string {
	texts := make([]string, 0, len(block))
	for _, prefix := range block {
		texts = append(texts, prefixText(prefix))
	}
	name := "blk-" + hash(strings.Join(texts, "\n")) + "-" + string(f)
	slices.Sort(texts)
	return r.set(name, set{Set: nft.Set{Type: f.address(), Interval: true, Elements: texts}})
}

// prefixText is nft's form of a prefix: a single address has no length.
func prefixText(prefix netip.Prefix) string {
	if prefix.IsSingleIP() {
		return prefix.Addr().String()
	}
	return prefix.String()
}

// subtract returns the largest prefixes that cover what is left of a prefix without others, in the order of their addresses.
func subtract(from netip.Prefix, except []netip.Prefix) []netip.Prefix {
	var inside []netip.Prefix
	for _, each := range except {
		switch {
		case each.Overlaps(from) && each.Bits() <= from.Bits():
			return nil
		case each.Overlaps(from):
			inside = append(inside, each)
		}
	}
	if len(inside) == 0 {
		return []netip.Prefix{from}
	}
	low, high := halves(from)
	return append(subtract(low, inside), subtract(high, inside)...)
}

// halves returns those of a prefix that is longer than one address.
func halves(p netip.Prefix) (low, high netip.Prefix) {
	bits := p.Bits()
	bytes := p.Addr().AsSlice()
	bytes[bits/8] |= 0x80 >> (bits % 8)
	upper, _ := netip.AddrFromSlice(bytes)
	return netip.PrefixFrom(p.Addr(), bits+1), netip.PrefixFrom(upper, bits+1)
}
