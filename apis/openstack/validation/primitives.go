package validation

import (
	"fmt"
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxNameLength is the length, in characters, of a name in OpenStack's databases.
const maxNameLength = 255

// validateName rejects what is not a valid name in OpenStack or would break the configuration files that contain it.
func validateName(name, remedy string, path *field.Path) field.ErrorList {
	switch {
	case name == "":
		return field.ErrorList{field.Required(path, "give "+remedy)}
	case utf8.RuneCountInString(name) > maxNameLength:
		return field.ErrorList{field.TooLong(path, name, maxNameLength)}
	case strings.ContainsAny(name, "{}[]\r\n"):
		return field.ErrorList{field.Invalid(path, name, "braces, brackets and line breaks are not allowed: give "+remedy)}
	}
	return nil
}

// validateLine rejects what cannot be written on one line of a configuration file.
func validateLine(text, remedy string, path *field.Path) field.ErrorList {
	switch {
	case text == "":
		return field.ErrorList{field.Required(path, "give "+remedy)}
	case utf8.RuneCountInString(text) > maxNameLength:
		return field.ErrorList{field.TooLong(path, text, maxNameLength)}
	case !utf8.ValidString(text), strings.ContainsFunc(text, unicode.IsControl):
		return field.ErrorList{field.Invalid(path, text, "line breaks and control characters are not allowed: give "+remedy)}
	}
	return nil
}

// validateUUID requires an ID as OpenStack prints it.
func validateUUID(id, kind string, path *field.Path) field.ErrorList {
	if id == "" {
		return field.ErrorList{field.Required(path, fmt.Sprintf("give the ID of the %s, or remove the field that it belongs to", kind))}
	}
	if !isUUID(id) {
		return field.ErrorList{field.Invalid(path, id,
			fmt.Sprintf("give the ID of the %s, not its name: a UUID like 12345678-abcd-4321-9876-0123456789ab", kind))}
	}
	return nil
}

func isUUID(text string) bool {
	groups := strings.Split(text, "-")
	lengths := []int{8, 4, 4, 4, 12}
	if len(groups) != len(lengths) {
		return false
	}
	for i, group := range groups {
		if len(group) != lengths[i] || strings.Trim(group, "0123456789abcdefABCDEF") != "" {
			return false
		}
	}
	return true
}

// parseRange parses a CIDR in canonical form.
func parseRange(text string, path *field.Path) (netip.Prefix, field.ErrorList) {
	prefix, err := netip.ParsePrefix(text)
	if err != nil || prefix.Addr().Is4In6() {
		return netip.Prefix{}, field.ErrorList{field.Invalid(path, text, "give a range in CIDR notation, like 10.250.0.0/16 or 2001:db8::/64")}
	}
	if canonical := prefix.Masked().String(); canonical != text {
		return netip.Prefix{}, field.ErrorList{field.Invalid(path, text, fmt.Sprintf("is not in canonical form: write %s", canonical))}
	}
	return prefix, nil
}

func duplicate(path *field.Path, value string) *field.Error {
	err := field.Duplicate(path, value)
	err.Detail = "remove one of the two"
	return err
}
