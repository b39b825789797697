// Package nfttest is for tests of code that writes transactions for nft. It has an interpreter of the commands that package nft writes, which refuses what the
// kernel refuses, and a way to run the program nft itself in a network namespace. It must not know what rules are for.
package nfttest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/gardenet/nft"
)

// Ruleset is what a kernel has: tables of the family inet, by name. The zero value has none.
type Ruleset struct {
	tables map[string]*table
}

type table struct {
	counters map[string]bool
	sets     map[string]*set
	chains   map[string]*chain
}

type set struct {
	nft.Set
	// elements are the values by key, or empty.
	elements map[string]string
}

type chain struct{ nft.Chain }

// Parse returns the only table in a text as Text writes it, or as nft lists it without counters' values.
func Parse(text string) (nft.Table, error) {
	var r Ruleset
	if err := r.Run(text); err != nil {
		return nft.Table{}, err
	}
	if len(r.tables) != 1 {
		return nft.Table{}, fmt.Errorf("there are %d tables instead of one", len(r.tables))
	}
	for name := range r.tables {
		parsed, _ := r.Table(name)
		return parsed, nil
	}
	return nft.Table{}, nil
}

// Table returns a table with all lists but the rules of chains sorted, and whether there is one.
func (r *Ruleset) Table(name string) (nft.Table, bool) {
	t, found := r.tables[name]
	if !found {
		return nft.Table{}, false
	}
	sorted := nft.Table{Name: name, Counters: slices.Sorted(maps.Keys(t.counters))}
	for _, name := range slices.Sorted(maps.Keys(t.sets)) {
		set := t.sets[name].Set
		set.Elements = nil
		for key, value := range t.sets[name].elements {
			if value != "" {
				key += " : " + value
			}
			set.Elements = append(set.Elements, key)
		}
		slices.Sort(set.Elements)
		sorted.Sets = append(sorted.Sets, set)
	}
	for _, name := range slices.Sorted(maps.Keys(t.chains)) {
		chain := t.chains[name].Chain
		chain.Rules = slices.Clone(chain.Rules)
		sorted.Chains = append(sorted.Chains, chain)
	}
	return sorted, true
}

// Run runs a transaction. After an error, which names the command, the tables are not as before: unlike the kernel, this does not take anything back.
func (r *Ruleset) Run(transaction string) error {
	lines := strings.Split(transaction, "\n")
	for len(lines) > 0 {
		line := strings.TrimSpace(lines[0])
		lines = lines[1:]
		if line == "" {
			continue
		}
		var err error
		if name, block := strings.CutSuffix(line, " {"); block && strings.HasPrefix(name, "table inet ") {
			lines, err = r.block(strings.TrimPrefix(name, "table inet "), lines)
		} else {
			err = r.command(line)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
	}
	return nil
}

// command runs one that is a single line.
func (r *Ruleset) command(line string) error {
	if name, found := strings.CutPrefix(line, "table inet "); found {
		r.add(name)
		return nil
	}
	verb, rest, found := strings.Cut(line, " inet ")
	words := strings.SplitN(rest, " ", 3)
	if !found {
		return fmt.Errorf("unknown command")
	}
	t, exists := r.tables[words[0]]
	switch {
	case !exists:
		return fmt.Errorf("there is no table %s", words[0])
	case verb == "delete table":
		delete(r.tables, words[0])
		return nil
	case len(words) < 2:
		return fmt.Errorf("the name is missing")
	}
	operation, kind, _ := strings.Cut(verb, " ")
	content := ""
	if len(words) == 3 {
		content = words[2]
	}
	return t.command(operation, kind, words[1], content)
}

func (r *Ruleset) add(name string) *table {
	if r.tables == nil {
		r.tables = map[string]*table{}
	}
	if r.tables[name] == nil {
		r.tables[name] = &table{counters: map[string]bool{}, sets: map[string]*set{}, chains: map[string]*chain{}}
	}
	return r.tables[name]
}
