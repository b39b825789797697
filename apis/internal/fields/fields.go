// Package fields checks values that fields of every cloud's configuration have, and writes the parts of errors that say how to correct them.
//
// It must not know clouds or kinds.
package fields

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Seen are the values of a list so far. Documents may have lists so long that a linear search for each value takes minutes.
type Seen[Value comparable] map[Value]bool

// IsDuplicate reports whether the value is a duplicate, and records it.
func (s Seen[Value]) IsDuplicate(value Value) bool {
	known := s[value]
	s[value] = true
	return known
}

// SetOf returns the values of a list.
func SetOf[Value comparable](values []Value) map[Value]bool {
	set := make(map[Value]bool, len(values))
	for _, value := range values {
		set[value] = true
	}
	return set
}

// Duplicate returns the error for the second of two equal values.
func Duplicate(path *field.Path, value string) *field.Error {
	err := field.Duplicate(path, value)
	err.Detail = "remove one of the two"
	return err
}

// Line rejects what cannot be written on one line of a configuration file, and what has more than maxLength characters. remedy is what to give
// instead.
func Line(text string, maxLength int, remedy string, path *field.Path) field.ErrorList {
	switch {
	case text == "":
		return field.ErrorList{field.Required(path, "give "+remedy)}
	case utf8.RuneCountInString(text) > maxLength:
		return field.ErrorList{field.TooLong(path, text, maxLength)}
	case !utf8.ValidString(text), strings.ContainsFunc(text, unicode.IsControl):
		return field.ErrorList{field.Invalid(path, text, "line breaks and control characters are not allowed: give "+remedy)}
	}
	return nil
}

// ParseRange parses a CIDR in canonical form.
func ParseRange(text string, path *field.Path) (netip.Prefix, field.ErrorList) {
	prefix, err := netip.ParsePrefix(text)
	if err != nil || prefix.Addr().Is4In6() {
		return netip.Prefix{}, field.ErrorList{field.Invalid(path, text, "give a range in CIDR notation, like 10.250.0.0/16 or 2001:db8::/64")}
	}
	if canonical := prefix.Masked().String(); canonical != text {
		return netip.Prefix{}, field.ErrorList{field.Invalid(path, text, fmt.Sprintf("is not in canonical form: write %s", canonical))}
	}
	return prefix, nil
}

// IPv4Range returns an IPv4 range, or the zero value for anything else.
func IPv4Range(text *string) netip.Prefix {
	if text == nil {
		return netip.Prefix{}
	}
	prefix, err := netip.ParsePrefix(*text)
	if err != nil || !prefix.Addr().Is4() {
		return netip.Prefix{}
	}
	return prefix.Masked()
}

// Quoted returns the texts in quotes.
func Quoted(texts []string) []string {
	result := make([]string, len(texts))
	for i, text := range texts {
		result[i] = fmt.Sprintf("%q", text)
	}
	return result
}

// Restore returns how to restore a value, in the user's notation.
func Restore(value any) string {
	data, err := json.Marshal(value)
	if err != nil || string(data) == "null" || string(data) == `""` {
		return "remove the field"
	}
	return "set it back to " + string(data)
}
