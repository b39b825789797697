package policy

import (
	"net/netip"

	networkingv1 "k8s.io/api/networking/v1"
)

// compiled is a policy with its selectors in a form that matches. Its rules are compiled when the first pod needs them.
type compiled struct {
	*networkingv1.NetworkPolicy
	selector selector
	// names are those of ports in ingress rules, sorted.
	names []portName
	rules map[direction][]rule
	// round is that of the last computation in which it was there.
	round int
}

// rule is what a rule of a policy allows: packets that match one of the peers and one of the ports.
type rule struct {
	// peers are matches of addresses. A rule without peers in its policy has one for all addresses.
	peers []peer
	ports ports
	// named are the scopes whose pods' ports the names in ports mean, in egress rules.
	named []scope
}

// peer matches addresses of a family: those of pods in a scope, or those in a block, or all. Without a family it matches all addresses.
type peer struct {
	family family
	scope  *scope
	block  []netip.Prefix
}

// match returns an expression for a header field, "saddr" or "daddr". It is empty if all match.
func (r *renderer) match(p peer, field string) string {
	switch {
	case p.scope != nil:
		return p.family.ip() + " " + field + " @" + r.selected(*p.scope, p.family)
	case p.block != nil:
		return p.family.ip() + " " + field + " @" + r.inBlock(p.block, p.family)
	case p.family != "":
		return "meta nfproto ipv" + string(p.family)
	default:
		return ""
	}
}

func compile(policy *networkingv1.NetworkPolicy) *compiled {
	c := &compiled{NetworkPolicy: policy, selector: parse(&policy.Spec.PodSelector), rules: map[direction][]rule{}}
	for _, rule := range policy.Spec.Ingress {
		c.names = append(c.names, newPorts(rule.Ports).names...)
	}
	c.names = sortedNames(c.names)
	return c
}

// rulesOf returns what a policy allows in a direction.
func (r *renderer) rulesOf(policy *compiled, d direction) []rule {
	if rules, done := policy.rules[d]; done {
		return rules
	}
	var rules []rule
	if d == ingress {
		for _, each := range policy.Spec.Ingress {
			rules = append(rules, r.rule(policy.Namespace, each.From, each.Ports))
		}
	} else {
		for _, each := range policy.Spec.Egress {
			rules = append(rules, r.rule(policy.Namespace, each.To, each.Ports))
		}
	}
	policy.rules[d] = rules
	return rules
}

func (r *renderer) rule(namespace string, peers []networkingv1.NetworkPolicyPeer, allowed []networkingv1.NetworkPolicyPort) rule {
	compiled := rule{ports: newPorts(allowed)}
	if len(peers) == 0 {
		compiled.peers, compiled.named = []peer{{}}, []scope{everything()}
	}
	for i := range peers {
		if block := peers[i].IPBlock; block != nil {
			compiled.peers = append(compiled.peers, r.block(block)...)
			continue
		}
		scope := newScope(namespace, &peers[i])
		compiled.named = append(compiled.named, scope)
		for _, family := range r.families {
			compiled.peers = append(compiled.peers, peer{family: family, scope: &scope})
		}
	}
	return compiled
}

// allowing returns the rules of a chain that let pass what a rule of a policy allows to a pod, or from it.
func (r *renderer) allowing(allowed rule, d direction, s side, to *pod) []string {
	ports := allowed.ports.expressions(s)
	if d == ingress {
		ports = allowed.ports.resolve(to).expressions(s)
	}
	var lines []string
	for _, peer := range allowed.peers {
		for _, port := range ports {
			lines = append(lines, join(r.match(peer, d.peer(s)), port, "return"))
		}
	}
	if d == ingress || len(allowed.ports.names) == 0 {
		return lines
	}
	for _, scope := range allowed.named {
		for _, family := range r.families {
			set := r.namedPorts(scope, allowed.ports.names, family)
			lines = append(lines, join(family.ip(), d.peer(s), ". meta l4proto . th", s.port(), "@"+set, "return"))
		}
	}
	return lines
}
