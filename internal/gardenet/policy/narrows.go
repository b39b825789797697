package policy

import (
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/gardenet/nft"
)

// Narrows reports whether something that some rules let pass may be dropped by others. Generations make no difference. It never misses such a change. It also
// reports some changes that are none, such as a rule for a port that becomes one for two: connections are checked again in vain then.
func Narrows(from, to Rules) bool {
	before, after := newView(from), newView(to)
	return before.basesDiffer(after) || before.losesElements(after) || before.losesRules(after)
}

// view is a form of rules that can be compared. Chains and maps for replies are left out: they say the same as the others.
type view struct {
	sets   map[string]nft.Set
	chains map[string]nft.Chain
	// isolated are the chains of the isolated pods, by map and address.
	isolated map[string]map[string]string
	// known are the pods' addresses that are not dropped as unknown.
	known map[string]bool
}

func newView(rules Rules) view {
	v := view{sets: make(map[string]nft.Set, len(rules.Sets)), chains: make(map[string]nft.Chain, len(rules.Chains)), isolated: map[string]map[string]string{}, known: map[string]bool{}}
	for _, chain := range rules.Chains {
		v.chains[chain.Name] = chain
	}
	for _, set := range rules.Sets {
		switch {
		case !set.Verdicts:
			v.sets[set.Name] = set
		case !strings.Contains(set.Name, string(replies)):
			v.isolated[set.Name] = map[string]string{}
			for _, element := range set.Elements {
				address, chain, _ := strings.Cut(element, " : jump ")
				v.isolated[set.Name][address] = chain
			}
		}
	}
	for _, family := range []family{v4, v6} {
		for _, address := range v.sets[known(family)].Elements {
			v.known[address] = true
		}
	}
	return v
}

// basesDiffer reports whether packets of other pods, or of other ranges, are checked.
func (v view) basesDiffer(after view) bool {
	return slices.ContainsFunc([]string{chainForward, chainInput}, func(name string) bool {
		return !slices.Equal(withoutConnections(v.chains[name].Rules), withoutConnections(after.chains[name].Rules))
	})
}

func withoutConnections(rules []string) (others []string) {
	for _, rule := range rules {
		if !strings.HasPrefix(rule, "ct ") {
			others = append(others, rule)
		}
	}
	return others
}

// losesElements reports whether an element of a set is gone. Sets that are gone are not in use any more.
func (v view) losesElements(after view) bool {
	for name, set := range v.sets {
		other, stays := after.sets[name]
		if stays && !nft.SameList(set.Elements, other.Elements) && !strings.HasPrefix(name, "self-") && !contains(other.Elements, set.Elements) {
			return true
		}
	}
	return false
}

// contains reports whether some sorted elements contain others.
func contains(elements, others []string) bool {
	for _, other := range others {
		at, found := slices.BinarySearch(elements, other)
		if !found {
			return false
		}
		elements = elements[at+1:]
	}
	return true
}

// losesRules reports whether a pod is isolated that was not, or has lost an allowing rule.
func (v view) losesRules(after view) bool {
	compared := map[[2]string]bool{}
	for name, isolated := range after.isolated {
		for address, chain := range isolated {
			former, was := v.isolated[name][address]
			switch {
			case !was && after.known[address] && !v.known[address]: // all packets of the pod were dropped
			case !was:
				return true
			case !compared[[2]string{former, chain}]:
				compared[[2]string{former, chain}] = true
				if losesRule(v.chains[former].Rules, after.chains[chain].Rules) {
					return true
				}
			}
		}
	}
	return false
}

// losesRule reports whether a chain lacks one of the allowing rules of another.
func losesRule(before, after []string) bool {
	if slices.Contains(after, "return") {
		return false
	}
	return slices.ContainsFunc(before, func(rule string) bool {
		return strings.HasSuffix(rule, "return") && !slices.Contains(after, rule)
	})
}
