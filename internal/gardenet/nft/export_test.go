package nft

// Changes is Difference, even if the whole table is shorter.
func Changes(from, to Table) string { return changes(from, to) }
