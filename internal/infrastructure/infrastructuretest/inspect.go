package infrastructuretest

import (
	"fmt"
	"maps"
	"slices"
	"sync"
)

// kin is what two resources have in common that are the same but for the run they come from.
type kin struct{ kind, name, facts string }

func kinOf(r Resource) kin { return kin{kind: r.Kind, name: r.Name, facts: r.Facts} }

func (k kin) String() string { return fmt.Sprintf("%s %q %s", k.kind, k.name, k.facts) }

// expectation is what a complete shoot consists of. How many of a kind is given; what is true of them is learned from the
// first run, in which nothing goes wrong.
type expectation struct {
	want map[string]int

	mu      sync.Mutex
	learned map[kin]int
}

// check holds the shoot's resources against the expectation.
func (e *expectation) check(ours []Resource) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	have, kinds := map[kin]int{}, map[string]int{}
	for _, resource := range ours {
		have[kinOf(resource)]++
		kinds[resource.Kind]++
	}
	var violations []string
	for _, kind := range slices.Sorted(maps.Keys(union(e.want, kinds))) {
		if kinds[kind] != e.want[kind] {
			violations = append(violations, fmt.Sprintf("there are %d of kind %s instead of %d", kinds[kind], kind, e.want[kind]))
		}
	}
	if e.learned == nil && len(violations) == 0 {
		e.learned = have
	}
	if e.learned == nil {
		return violations
	}
	return append(violations, differences(e.learned, have)...)
}

func differences(want, have map[kin]int) []string {
	var violations []string
	for k := range union(want, have) {
		switch difference := have[k] - want[k]; {
		case difference > 0:
			violations = append(violations, fmt.Sprintf("%d too many: %s", difference, k))
		case difference < 0:
			violations = append(violations, fmt.Sprintf("%d missing: %s", -difference, k))
		}
	}
	slices.Sort(violations)
	return violations
}

func union[K comparable](a, b map[K]int) map[K]int {
	both := maps.Clone(a)
	if both == nil {
		both = map[K]int{}
	}
	maps.Copy(both, b)
	return both
}

// split separates the shoot's resources from those that were there before, and says what became of the latter. Nobody
// else acts in the cloud, so that whatever is new is the shoot's, whether it carries a mark or not.
func split(before, now []Resource) (ours []Resource, violations []string) {
	type identity struct{ kind, id string }
	foreign := map[identity]Resource{}
	for _, resource := range before {
		foreign[identity{resource.Kind, resource.ID}] = resource
	}
	for _, resource := range now {
		id := identity{resource.Kind, resource.ID}
		was, isForeign := foreign[id]
		delete(foreign, id)
		switch {
		case !isForeign:
			ours = append(ours, resource)
		case was != resource:
			violations = append(violations, fmt.Sprintf("foreign %s was changed, it was %s", kinOf(resource), kinOf(was)))
		}
	}
	for _, resource := range foreign {
		violations = append(violations, fmt.Sprintf("foreign %s was removed", kinOf(resource)))
	}
	slices.Sort(violations)
	return ours, violations
}
