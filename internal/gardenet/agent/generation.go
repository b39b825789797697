package agent

import "github.com/trellis-garden/trellis/internal/gardenet/policy"

// firstGeneration is that of a node whose kernel has no rules yet. 0 is the mark of connections that no rules have accepted.
const firstGeneration = 1

// generation is the number of the rules for NetworkPolicies. The kernel stores it with each connection that the rules have accepted, and checks a connection
// again whose number differs. So it changes only when the rules become narrower, and allowed connections are not checked again for nothing.
type generation struct {
	number uint8
	// inherited is true while connections may have got the number from rules of an agent before this one, which are unknown.
	inherited bool
	// rules allow at least all that this agent has accepted with the number; used is false before the first ones.
	rules   policy.Rules
	used    bool
	narrows func(from, to policy.Rules) bool
}

// narrower returns whether something was accepted with the number that the rules do not allow.
func (g *generation) narrower(rules policy.Rules) bool { return g.used && g.narrows(g.rules, rules) }

// use says that rules are about to be applied with the number. It holds even if that fails, since the kernel may have got them.
func (g *generation) use(rules policy.Rules) { g.rules, g.used = rules, true }

// raise sets the next number, which is never 0.
func (g *generation) raise() {
	g.number++
	if g.number == 0 {
		g.number = firstGeneration
	}
	g.inherited = false
}
