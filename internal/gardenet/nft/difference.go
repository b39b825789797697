package nft

import (
	"cmp"
	"slices"
	"strings"
)

// Difference returns a transaction that makes one table of another, or "" if they are equal. It changes only what differs, as long as that is shorter than
// the whole table. The order of sets and chains makes no difference.
//
// The kernel runs the commands of a transaction one after the other, and refuses to delete what is still in use. So rules and elements go first, then what they
// used; then everything new is declared, filled, and used at last.
func Difference(from, to Table) string {
	switch {
	case from.Name == "":
		return Replace(to)
	case from.Name != to.Name:
		return "table inet " + from.Name + "\ndelete table inet " + from.Name + "\n" + Replace(to)
	}
	if text := changes(from, to); len(text) <= to.size() {
		return text
	}
	return Replace(to)
}

func changes(from, to Table) string {
	d := newDifference(from, to)
	d.removeUses()
	d.removeObjects()
	d.declare()
	d.fill()
	return d.String()
}

// difference collects the commands of a transaction.
type difference struct {
	strings.Builder
	table    string
	sets     sides[Set]
	chains   sides[Chain]
	counters sides[string]
}

// sides are the objects of one kind: those to delete, those to create, and those that stay. One that is created anew under its name is in old and in new.
type sides[T any] struct {
	old, new []T
	both     []pair[T]
}

type pair[T any] struct{ from, to T }

func newDifference(from, to Table) *difference {
	d := &difference{
		table:    to.Name,
		counters: compare(from.Counters, to.Counters, func(name string) string { return name }, nil),
		sets: compare(from.Sets, to.Sets, func(s Set) string { return s.Name }, func(a, b Set) bool {
			return a.Type != b.Type || a.Verdicts != b.Verdicts || a.Interval != b.Interval
		}),
		chains: compare(from.Chains, to.Chains, func(c Chain) string { return c.Name }, func(a, b Chain) bool { return a.Base != b.Base }),
	}
	d.skipEqualRules()
	return d
}

// compare sorts objects of two tables by name. Objects of one name that cannot be changed into each other are replaced.
func compare[T any](from, to []T, name func(T) string, replaced func(from, to T) bool) sides[T] {
	var s sides[T]
	byName := func(a, b T) int { return cmp.Compare(name(a), name(b)) }
	from, to = slices.Clone(from), slices.Clone(to)
	slices.SortFunc(from, byName)
	slices.SortFunc(to, byName)
	for len(from) > 0 || len(to) > 0 {
		switch {
		case len(to) == 0 || len(from) > 0 && byName(from[0], to[0]) < 0:
			s.old, from = append(s.old, from[0]), from[1:]
		case len(from) == 0 || byName(from[0], to[0]) > 0:
			s.new, to = append(s.new, to[0]), to[1:]
		case replaced != nil && replaced(from[0], to[0]):
			s.old, s.new, from, to = append(s.old, from[0]), append(s.new, to[0]), from[1:], to[1:]
		default:
			s.both, from, to = append(s.both, pair[T]{from[0], to[0]}), from[1:], to[1:]
		}
	}
	return s
}

// skipEqualRules keeps those chains that have to be written. Equal rules have to be if they use a set that is replaced.
func (d *difference) skipEqualRules() {
	var deleted []string
	for _, set := range d.sets.old {
		deleted = append(deleted, "@"+set.Name)
	}
	d.chains.both = slices.DeleteFunc(d.chains.both, func(p pair[Chain]) bool {
		return slices.Equal(p.from.Rules, p.to.Rules) && !slices.ContainsFunc(p.from.Rules, func(rule string) bool {
			return slices.ContainsFunc(deleted, func(reference string) bool { return refers(rule, reference) })
		})
	})
}

// refers reports whether a rule has a reference as one of its words.
func refers(rule, reference string) bool {
	return strings.Contains(rule, reference) && slices.Contains(strings.Fields(rule), reference)
}

// removeUses removes rules and elements.
func (d *difference) removeUses() {
	for _, chain := range d.chains.both {
		d.command("flush chain", chain.from.Name)
	}
	for _, chain := range d.chains.old {
		d.command("flush chain", chain.Name)
	}
	for _, set := range d.sets.old {
		if set.Verdicts && len(set.Elements) > 0 {
			d.command("flush map", set.Name)
		}
	}
	for _, set := range d.sets.both {
		removed, _ := elements(set.from, set.to)
		switch {
		case len(removed) > 0 && set.from.Interval:
			d.command("flush "+set.from.kind(), set.from.Name)
		case len(removed) > 0:
			d.elements("delete element", set.from.Name, removed)
		}
	}
}

// removeObjects deletes what is not in use any more.
func (d *difference) removeObjects() {
	for _, set := range d.sets.old {
		d.command("delete "+set.kind(), set.Name)
	}
	for _, chain := range d.chains.old {
		d.command("delete chain", chain.Name)
	}
	for _, counter := range d.counters.old {
		d.command("delete counter", counter)
	}
}

// declare creates what is new, without content.
func (d *difference) declare() {
	for _, counter := range d.counters.new {
		d.command("add counter", counter)
	}
	for _, set := range d.sets.new {
		d.command("add "+set.kind(), set.Name, " { type ", set.declaration("; "), "; }")
	}
	for _, chain := range d.chains.new {
		if chain.Base == "" {
			d.command("add chain", chain.Name)
			continue
		}
		d.command("add chain", chain.Name, " { ", chain.Base, " }")
	}
}

// fill adds elements and rules.
func (d *difference) fill() {
	for _, set := range d.sets.new {
		d.elements("add element", set.Name, set.Elements)
	}
	for _, set := range d.sets.both {
		_, added := elements(set.from, set.to)
		d.elements("add element", set.to.Name, added)
	}
	for _, chain := range d.chains.new {
		d.rules(chain)
	}
	for _, chain := range d.chains.both {
		d.rules(chain.to)
	}
}

func (d *difference) elements(command, set string, elements []string) {
	if len(elements) > 0 {
		d.command(command, set, " { ", strings.Join(elements, ", "), " }")
	}
}

func (d *difference) rules(chain Chain) {
	for _, rule := range chain.Rules {
		d.command("add rule", chain.Name, " ", rule)
	}
}

func (d *difference) command(verb, name string, rest ...string) {
	write(&d.Builder, verb, " inet ", d.table, " ", name)
	write(&d.Builder, rest...)
	write(&d.Builder, "\n")
}

// elements returns those to remove from a set and those to add. An interval set is filled anew if any range goes: a range that is still known would
// overlap with the parts that it is replaced by.
func elements(from, to Set) (removed, added []string) {
	before, after := from.Elements, to.Elements
	if SameList(before, after) {
		return nil, nil
	}
	for len(before) > 0 || len(after) > 0 {
		switch {
		case len(after) == 0 || len(before) > 0 && before[0] < after[0]:
			removed, before = append(removed, before[0]), before[1:]
		case len(before) == 0 || before[0] > after[0]:
			added, after = append(added, after[0]), after[1:]
		default:
			before, after = before[1:], after[1:]
		}
	}
	if from.Interval && len(removed) > 0 {
		return from.Elements, to.Elements
	}
	return removed, added
}

// SameList reports whether two lists are one in memory, so that they need not be compared. Tables that have much in common may share lists.
func SameList(a, b []string) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
