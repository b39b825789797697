package v1alpha1

import "strings"

// TagKey converts the name of a label to the key of a tag: Nova accepts letters, digits and any of - _ : . and blank; everything else
// becomes a hyphen. Two labels may get the same key.
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

// IsIdentity reports whether a tag identifies the owner of a machine. Labels must not set such tags.
func IsIdentity(key string) bool {
	return strings.HasPrefix(key, TagClusterPrefix) || strings.HasPrefix(key, TagRolePrefix)
}
