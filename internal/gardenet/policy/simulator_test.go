package policy

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/gardenet/nft"
	"github.com/trellis-garden/trellis/internal/gardenet/nft/nfttest"
)

// The simulator reads a table in nft's language, as far as this package writes it, and says what the kernel does with a packet.

// packet is what rules can see of one.
type packet struct {
	from, to netip.Addr
	// fromText and toText are the addresses as text, which takes long to write.
	fromText, toText string
	// protocol is nft's name, e.g. "tcp" or "icmpv6".
	protocol     string
	sport, dport int
	icmpType     string
	device       string
	// state is that of conntrack. It is "untracked" if there is no connection, which has no direction and no mark then.
	state string
	reply bool
	mark  uint32
}

// simulator is a table that is ready to run.
type simulator struct {
	sets     map[string]*simulatedSet
	chains   map[string][]simulatedRule
	counters map[string]int
	parsed   map[string]netip.Addr
}

type simulatedSet struct {
	elements map[string]string
	ranges   []netip.Prefix
}

// simulatedRule has an action, which runs if all matches do.
type simulatedRule struct {
	matches []func(*packet) bool
	// counter is that of packets that match, if any.
	counter string
	action  func(*packet) outcome
}

type outcome struct {
	// statement is "accept", "drop", "return", "jump", "goto" or "": the next rule.
	statement, chain string
}

// simulate reads the text of a table.
func simulate(text string) (*simulator, error) {
	table, err := nfttest.Parse(text)
	if err != nil {
		return nil, err
	}
	s := &simulator{sets: map[string]*simulatedSet{}, chains: map[string][]simulatedRule{}, counters: map[string]int{}, parsed: map[string]netip.Addr{}}
	for _, set := range table.Sets {
		if s.sets[set.Name], err = newSimulatedSet(set); err != nil {
			return nil, err
		}
	}
	for _, chain := range table.Chains {
		rules := make([]simulatedRule, 0, len(chain.Rules))
		for _, text := range chain.Rules {
			rule, err := s.rule(text)
			if err != nil {
				return nil, fmt.Errorf("chain %s: %s: %w", chain.Name, text, err)
			}
			rules = append(rules, rule)
		}
		s.chains[chain.Name] = rules
	}
	return s, nil
}

func newSimulatedSet(set nft.Set) (*simulatedSet, error) {
	s := &simulatedSet{elements: map[string]string{}}
	for _, element := range set.Elements {
		if set.Interval {
			prefix, err := nfttest.Prefix(element)
			if err != nil {
				return nil, err
			}
			s.ranges = append(s.ranges, prefix)
			continue
		}
		key, statement, _ := strings.Cut(element, " : ")
		s.elements[key] = statement
	}
	return s, nil
}

// passes runs a packet through a base chain whose policy is to accept. The packet gets the mark that rules set.
func (s *simulator) passes(hook string, p *packet) bool {
	return s.run(hook, p).statement != "drop"
}

func (s *simulator) run(chain string, p *packet) outcome {
	for _, rule := range s.chains[chain] {
		if slices.ContainsFunc(rule.matches, func(match func(*packet) bool) bool { return !match(p) }) {
			continue
		}
		if rule.counter != "" {
			s.counters[rule.counter]++
		}
		switch result := rule.action(p); result.statement {
		case "accept", "drop":
			return result
		case "return":
			return outcome{}
		case "goto":
			return s.run(result.chain, p)
		case "jump":
			if result = s.run(result.chain, p); result.statement != "" {
				return result
			}
		}
	}
	return outcome{}
}
