package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
)

// Rule validates a value of a request body under a key, or without one, and returns what is wrong with it. Nova and Cinder validate bodies by JSON
// schemas and report the first violation, with Python's message.
type Rule func(key string, value any) string

// Validate applies a rule to a body.
func Validate(body []byte, r Rule) error {
	value, err := decodeOrdered(json.NewDecoder(bytes.NewReader(body)))
	if err != nil {
		return core.BadRequest("", "The server could not comply with the request since it is either malformed or otherwise incorrect.")
	}
	if wrong := r("", value); wrong != "" {
		return core.BadRequest("", "%s", wrong)
	}
	return nil
}

// Violation is an error of a value.
func Violation(key string, value any, format string, args ...any) string {
	what := fmt.Sprintf(format, args...)
	if key == "" {
		return what
	}
	return fmt.Sprintf("Invalid input for field/attribute %s. Value: %s. %s", key, PythonText(value), what)
}

// AllOf applies rules one after the other.
func AllOf(rules ...Rule) Rule {
	return func(key string, value any) string {
		for _, r := range rules {
			if complaint := r(key, value); complaint != "" {
				return complaint
			}
		}
		return ""
	}
}

// HasType requires one of some types.
func HasType(types ...string) Rule {
	return func(key string, value any) string {
		kind := kindOf(value)
		if slices.Contains(types, kind) || kind == "integer" && slices.Contains(types, "number") {
			return ""
		}
		quoted := make([]string, len(types))
		for i, t := range types {
			quoted[i] = "'" + t + "'"
		}
		return Violation(key, value, "%s is not of type %s", PythonRepr(value), strings.Join(quoted, ", "))
	}
}

func kindOf(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return "number"
		}
		return "integer"
	case []any:
		return "array"
	default:
		return "object"
	}
}

// OneOf requires one of some strings.
func OneOf(values ...string) Rule {
	return func(key string, value any) string {
		if s, isText := value.(string); isText && slices.Contains(values, s) {
			return ""
		}
		quoted := make([]any, len(values))
		for i, v := range values {
			quoted[i] = v
		}
		return Violation(key, value, "%s is not one of %s", PythonRepr(value), PythonRepr(quoted))
	}
}

// AnyOf requires that one of some rules holds.
func AnyOf(rules ...Rule) Rule {
	return func(key string, value any) string {
		for _, r := range rules {
			if r(key, value) == "" {
				return ""
			}
		}
		return Violation(key, value, "%s is not valid under any of the given schemas", PythonRepr(value))
	}
}

// HasFormat requires a string of a named format.
func HasFormat(format string, fits func(string) bool) Rule {
	return func(key string, value any) string {
		if s, isText := value.(string); isText && !fits(s) {
			return Violation(key, value, "%s is not a '%s'", PythonRepr(value), format)
		}
		return ""
	}
}

// UUID requires an ID, with or without dashes.
func UUID(key string, value any) string {
	return AllOf(HasType("string"), HasFormat("uuid", func(s string) bool {
		plain := strings.ReplaceAll(s, "-", "")
		return len(plain) == 32 && strings.Trim(strings.ToLower(plain), "0123456789abcdef") == ""
	}))(key, value)
}

// Boolean requires a boolean, or one of its string forms.
func Boolean(key string, value any) string {
	words := []any{
		true, "True", "TRUE", "true", "1", "ON", "On", "on", "YES", "Yes", "yes",
		false, "False", "FALSE", "false", "0", "OFF", "Off", "off", "NO", "No", "no",
	}
	if complaint := HasType("boolean", "string")(key, value); complaint != "" {
		return complaint
	}
	if !slices.Contains(words, value) {
		return Violation(key, value, "%s is not one of %s", PythonRepr(value), PythonRepr(words))
	}
	return ""
}

// LengthBetween requires a length, of strings in characters.
func LengthBetween(least, most int) Rule {
	return func(key string, value any) string {
		var length int
		switch v := value.(type) {
		case string:
			length = utf8.RuneCountInString(v)
		case []any:
			length = len(v)
		default:
			return ""
		}
		switch {
		case length < least:
			return Violation(key, value, "%s is too short", PythonRepr(value))
		case length > most:
			return Violation(key, value, "%s is too long", PythonRepr(value))
		}
		return ""
	}
}

// Number requires an integer, which may be encoded as a string.
func Number(least int) Rule {
	return func(key string, value any) string {
		if complaint := HasType("integer", "string")(key, value); complaint != "" {
			return complaint
		}
		if s, isText := value.(string); isText && strings.Trim(s, "0123456789") != "" {
			return Violation(key, value, "%s does not match '^[0-9]*$'", PythonRepr(value))
		}
		if n, err := strconv.Atoi(PythonText(value)); err == nil && n < least {
			return Violation(key, value, "%d is less than the minimum of %d", n, least)
		}
		return ""
	}
}

// Text255 is a string of limited length.
func Text255(least int) Rule { return AllOf(HasType("string"), LengthBetween(least, 255)) }

// Name is a name that Nova accepts.
func Name(key string, value any) string {
	if complaint := Text255(1)(key, value); complaint != "" {
		return complaint
	}
	s, _ := value.(string)
	if strings.TrimSpace(s) != s || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return InvalidName("printable characters. Can not start or end with whitespace.")
	}
	return ""
}

// InvalidName is Nova's message for a name that it does not accept.
func InvalidName(mustBe string) string {
	return "An invalid 'name' value was provided. The name must be: " + mustBe
}

// Property is a property of an object.
type Property struct {
	name string
	rule Rule
}

// Attribute returns the property with a name.
func Attribute(name string, rule Rule) Property { return Property{name: name, rule: rule} }

// Object requires an object with exactly these attributes.
func Object(required []string, properties ...Property) Rule {
	return objectOf(required, false, properties)
}

// OpenObject is an object that may have other attributes, too.
func OpenObject(required []string, properties ...Property) Rule {
	return objectOf(required, true, properties)
}

func objectOf(required []string, open bool, properties []Property) Rule {
	return func(key string, value any) string {
		if complaint := HasType("object")(key, value); complaint != "" {
			return complaint
		}
		dict, _ := value.(*Dict)
		var known []string
		for _, p := range properties {
			known = append(known, p.name)
			if inner, there := dict.Values[p.name]; there {
				if complaint := p.rule(p.name, inner); complaint != "" {
					return complaint
				}
			}
		}
		for _, name := range required {
			if _, there := dict.Values[name]; !there {
				return Violation(key, value, "'%s' is a required property", name)
			}
		}
		extra := core.Without(dict.Keys, func(k string) bool { return slices.Contains(known, k) })
		if len(extra) > 0 && !open {
			return Violation(key, value, "Additional properties are not allowed (%s)", Unexpected(extra))
		}
		return ""
	}
}

// Unexpected is Nova's message for unknown properties.
func Unexpected(names []string) string {
	verb := "was"
	if len(names) > 1 {
		verb = "were"
	}
	return "'" + strings.Join(names, "', '") + "' " + verb + " unexpected"
}

// ArrayOf requires an array.
func ArrayOf(item Rule) Rule {
	return func(key string, value any) string {
		if complaint := HasType("array")(key, value); complaint != "" {
			return complaint
		}
		items, _ := value.([]any)
		for i, one := range items {
			if complaint := item(strconv.Itoa(i), one); complaint != "" {
				return complaint
			}
		}
		return ""
	}
}
