package infrastructuretest

import (
	"fmt"
	"maps"
	"slices"
	"sync"
)

// signature is what two resources have in common that are the same but for the run they come from.
type signature struct{ kind, name, facts string }

func signatureOf(r Resource) signature { return signature{kind: r.Kind, name: r.Name, facts: r.Facts} }

func (k signature) String() string { return fmt.Sprintf("%s %q %s", k.kind, k.name, k.facts) }

// expectation is what a complete shoot consists of. How many of a kind is given; what is true of them is learned from the
// first run, in which nothing goes wrong.
type expectation struct {
	want map[string]int

	mu       sync.Mutex
	baseline map[signature]int
}

// check holds the shoot's resources against the expectation.
func (e *expectation) check(own []Resource) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	have, kinds := map[signature]int{}, map[string]int{}
	for _, resource := range own {
		have[signatureOf(resource)]++
		kinds[resource.Kind]++
	}
	var violations []string
	for _, kind := range slices.Sorted(maps.Keys(union(e.want, kinds))) {
		if kinds[kind] != e.want[kind] {
			violations = append(violations, fmt.Sprintf("there are %d of kind %s instead of %d", kinds[kind], kind, e.want[kind]))
		}
	}
	if e.baseline == nil && len(violations) == 0 {
		e.baseline = have
	}
	if e.baseline == nil {
		return violations
	}
	return append(violations, differences(e.baseline, have)...)
}

func differences(want, have map[signature]int) []string {
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

// splitByOwner separates the shoot's resources from those that were there before, and says what became of the latter. Nobody
// else acts in the cloud, so that whatever is new is the shoot's, whether it carries a mark or not.
func splitByOwner(before, now []Resource) (own []Resource, violations []string) {
	type identity struct{ kind, id string }
	others := map[identity]Resource{}
	for _, resource := range before {
		others[identity{resource.Kind, resource.ID}] = resource
	}
	for _, resource := range now {
		id := identity{resource.Kind, resource.ID}
		was, existed := others[id]
		delete(others, id)
		switch {
		case !existed:
			own = append(own, resource)
		case was != resource:
			violations = append(violations, fmt.Sprintf("foreign %s was changed, it was %s", signatureOf(resource), signatureOf(was)))
		}
	}
	for _, resource := range others {
		violations = append(violations, fmt.Sprintf("foreign %s was removed", signatureOf(resource)))
	}
	slices.Sort(violations)
	return own, violations
}
