package validation

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/internal/fields"
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
	return fields.Line(text, maxNameLength, remedy, path)
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
