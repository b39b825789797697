// Package nft describes one table of nftables as data, and writes what the program nft reads: the whole table, or the difference between two. It must not
// know what the rules are for, and it changes nothing.
package nft

// Table is a table of the family inet.
type Table struct {
	Name   string
	Sets   []Set
	Chains []Chain
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
