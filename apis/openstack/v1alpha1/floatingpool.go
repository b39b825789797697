package v1alpha1

import (
	"regexp"
	"strings"
)

// FindFloatingPool returns the pool of the CloudProfile that allows floatingPoolName in the region and Keystone domain,
// or nil when none does. Of several matches, the one that restricts more of region and domain is used, and then the one
// with more literal characters in its name.
//
// Entries that name the region or domain constrain it: a name must then match one of them, and one of each sort if
// there are both. Entries that name neither apply if there is no constraint; those marked nonConstraining apply in
// their scope and do not constrain it.
func (c *CloudProfileConfig) FindFloatingPool(floatingPoolName, region, domain string) *FloatingPool {
	var (
		pools    = c.Constraints.FloatingPools
		both     = selectPools(pools, floatingPoolName, &region, &domain)
		regional = selectPools(pools, floatingPoolName, &region, nil)
		domestic = selectPools(pools, floatingPoolName, nil, &domain)
		general  = selectPools(pools, floatingPoolName, nil, nil)
	)
	switch {
	case both.match != nil:
		return both.match
	case both.constrains:
		// Only the non-constraining entries are left.
	case regional.match != nil && (domestic.match != nil || !domestic.constrains):
		return regional.match
	case domestic.match != nil && !regional.constrains:
		return domestic.match
	case general.match != nil && !regional.constrains && !domestic.constrains:
		return general.match
	}
	for _, selection := range []poolSelection{regional, domestic, general} {
		if selection.additional != nil {
			return selection.additional
		}
	}
	return nil
}

// poolSelection is the result for a name of the pools with one scope (region, domain, both or neither).
type poolSelection struct {
	// match is the best match of all, additional the best among the non-constraining.
	match, additional *FloatingPool
	// constrains is true if a pool constrains its scope.
	constrains bool
}

func selectPools(pools []FloatingPool, name string, region, domain *string) poolSelection {
	var (
		selection                  poolSelection
		matchScore, additionalBest = -1, -1
	)
	for i := range pools {
		pool := &pools[i]
		if !sameText(pool.Region, region) || !sameText(pool.Domain, domain) {
			continue
		}
		additional := pool.NonConstraining != nil && *pool.NonConstraining
		selection.constrains = selection.constrains || !additional
		if !matchesGlob(pool.Name, name) {
			continue
		}
		score := globScore(pool.Name)
		if score > matchScore {
			selection.match, matchScore = pool, score
		}
		if additional && score > additionalBest {
			selection.additional, additionalBest = pool, score
		}
	}
	return selection
}

func sameText(a, b *string) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// globScore prefers names without wildcard, then those with more literal characters.
func globScore(glob string) int {
	const exact = 1 << 16
	if !strings.Contains(glob, "*") {
		return exact
	}
	return len(glob) - strings.Count(glob, "*")
}

// matchesGlob matches the whole of name; only the star is special.
func matchesGlob(glob, name string) bool {
	parts := strings.Split(glob, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile(`^(?s:` + strings.Join(parts, ".*") + `)$`).MatchString(name)
}

// SubnetPattern is a parsed floatingPoolSubnetName or defaultFloatingSubnet.
//
// +kubebuilder:object:generate=false
type SubnetPattern struct {
	expression *regexp.Regexp
	negated    bool
}

// ParseSubnetPattern parses a name, glob (`*` for any characters but slashes, `?` for one character) or regular expression
// (behind a tilde), with an exclamation mark in front to negate it. The syntax is that of the cloud-controller-manager for
// its floating-subnet option, which the upstream extension has adopted: formerly it treated every value as an unanchored
// regular expression, which would select more subnets than written.
func ParseSubnetPattern(pattern string) (SubnetPattern, error) {
	body, negated := strings.CutPrefix(pattern, "!")
	source, isExpression := strings.CutPrefix(body, "~")
	if !isExpression {
		source = regexp.QuoteMeta(body)
		source = strings.ReplaceAll(source, `\*`, `[^/]*`)
		source = strings.ReplaceAll(source, `\?`, `.`)
	}
	// Compiled separately first, so that an error contains the user's expression.
	if _, err := regexp.Compile(source); err != nil {
		return SubnetPattern{}, err
	}
	expression, err := regexp.Compile(`^(?:` + source + `)$`)
	return SubnetPattern{expression: expression, negated: negated}, err
}

// Matches reports whether the pattern selects a subnet of the given name. A subnet without a name is selected by no
// pattern, not even by a negated one.
func (p SubnetPattern) Matches(name string) bool {
	return name != "" && p.expression.MatchString(name) != p.negated
}
