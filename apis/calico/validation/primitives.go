package validation

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// oneOf rejects a value that is not allowed. An absent field is accepted.
func oneOf[Value ~string](value *Value, path *field.Path, allowed ...Value) field.ErrorList {
	if value == nil || slices.Contains(allowed, *value) {
		return nil
	}
	var names []string
	for _, name := range allowed {
		names = append(names, string(name))
	}
	list := names[len(names)-1]
	if others := names[:len(names)-1]; len(others) > 0 {
		list = fmt.Sprintf("%s or %s", strings.Join(others, ", "), list)
	}
	err := field.Invalid(path, *value, fmt.Sprintf("write %s, or remove the field", list))
	err.Type = field.ErrorTypeNotSupported
	return field.ErrorList{err}
}

// parseRange parses a CIDR, in canonical form or not.
func parseRange(text string) (netip.Prefix, bool) {
	prefix, err := netip.ParsePrefix(text)
	return prefix, err == nil && !prefix.Addr().Is4In6()
}
