// Package nft describes one table of nftables as data, and writes what the program nft reads: the whole table, or the difference between two. It must not
// know what the rules are for, and it changes nothing.
//
// Texts are in the form in which nft itself lists a table, as far as this package writes them. Rules, types and elements are passed on as they are: whoever
// writes them in nft's own form can compare a listing with what was meant.
package nft

import (
	"strings"
)

// Table is a table of the family inet. Names of sets, chains and counters are unique in their kind.
type Table struct {
	Name string
	// Counters are names. Their values survive a Difference.
	Counters []string
	Sets     []Set
	Chains   []Chain
}

// Set is a named set, or a verdict map.
type Set struct {
	Name string
	// Type is that of the keys, e.g. "ipv4_addr . inet_proto . inet_service".
	Type string
	// Verdicts is true for a map of keys to verdicts. Its elements are "key : verdict".
	Verdicts bool
	// Interval is true if elements may be ranges. They must not overlap.
	Interval bool
	// Elements are sorted, without duplicates.
	Elements []string
}

// Chain is a list of rules.
type Chain struct {
	Name string
	// Base is the declaration of a base chain, e.g. "type filter hook forward priority filter; policy accept;". Other chains have none.
	Base string
	// Rules are single statements in nft's language.
	Rules []string
}

// Text returns the whole table, one element or rule a line.
func (t Table) Text() string {
	var b strings.Builder
	b.Grow(t.size())
	write(&b, "table inet ", t.Name, " {\n")
	for _, counter := range t.Counters {
		write(&b, "\tcounter ", counter, " {\n\t}\n")
	}
	for _, set := range t.Sets {
		write(&b, "\t", set.kind(), " ", set.Name, " {\n\t\ttype ", set.declaration("\n\t\t"), "\n")
		for i, element := range set.Elements {
			if i == 0 {
				b.WriteString("\t\telements = {\n")
			}
			write(&b, "\t\t\t", element, ",\n")
		}
		if len(set.Elements) > 0 {
			b.WriteString("\t\t}\n")
		}
		b.WriteString("\t}\n")
	}
	for _, chain := range t.Chains {
		write(&b, "\tchain ", chain.Name, " {\n")
		if chain.Base != "" {
			write(&b, "\t\t", chain.Base, "\n")
		}
		for _, rule := range chain.Rules {
			write(&b, "\t\t", rule, "\n")
		}
		b.WriteString("\t}\n")
	}
	b.WriteString("}\n")
	return b.String()
}

// Replace returns a transaction after which the table is as given, whatever it was before. Counters begin at zero.
func Replace(t Table) string {
	// The first line makes sure that there is a table to delete.
	return "table inet " + t.Name + "\ndelete table inet " + t.Name + "\n" + t.Text()
}

// size is about the length of Text.
func (t Table) size() int {
	size := 64 + 32*len(t.Counters)
	for _, set := range t.Sets {
		size += 64 + len(set.Name) + len(set.Type) + lengths(set.Elements, 5)
	}
	for _, chain := range t.Chains {
		size += 16 + len(chain.Name) + len(chain.Base) + lengths(chain.Rules, 3)
	}
	return size
}

func lengths(lines []string, more int) (sum int) {
	for _, line := range lines {
		sum += len(line) + more
	}
	return sum
}

func (s Set) kind() string {
	if s.Verdicts {
		return "map"
	}
	return "set"
}

// declaration returns type and flags.
func (s Set) declaration(separator string) string {
	declaration := s.Type
	if s.Verdicts {
		declaration += " : verdict"
	}
	if s.Interval {
		declaration += separator + "flags interval"
	}
	return declaration
}

func write(b *strings.Builder, parts ...string) {
	for _, part := range parts {
		b.WriteString(part)
	}
}
