package v1alpha1

import "strings"

// TagKey turns the name of a label into the key of a tag: Nova takes letters, digits and any of - _ : . and blank, and everything else
// becomes a hyphen. Two labels may become the same key.
func TagKey(label string) string {
	return strings.Map(func(character rune) rune {
		switch {
		case 'a' <= character && character <= 'z', 'A' <= character && character <= 'Z', '0' <= character && character <= '9',
			strings.ContainsRune("-_:. ", character):
			return character
		}
		return '-'
	}, label)
}

// IsIdentity reports whether a tag says whose machine it is. No label can say that.
func IsIdentity(key string) bool {
	return strings.HasPrefix(key, TagClusterPrefix) || strings.HasPrefix(key, TagRolePrefix)
}
