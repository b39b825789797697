package fake

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

// rule checks a value of a request body that stands under a key, or nowhere in particular, and returns what is wrong with
// it. Nova and Cinder check bodies by JSON schemas and answer with the first thing wrong, in the words of Python.
type rule func(key string, value any) string

// validate holds a body against a rule.
func validate(body []byte, r rule) error {
	value, err := decodeOrdered(json.NewDecoder(bytes.NewReader(body)))
	if err != nil {
		return core.BadRequest("", "The server could not comply with the request since it is either malformed or otherwise incorrect.")
	}
	if wrong := r("", value); wrong != "" {
		return core.BadRequest("", "%s", wrong)
	}
	return nil
}

// violation is a complaint about a value.
func violation(key string, value any, format string, args ...any) string {
	what := fmt.Sprintf(format, args...)
	if key == "" {
		return what
	}
	return fmt.Sprintf("Invalid input for field/attribute %s. Value: %s. %s", key, pythonText(value), what)
}

// allOf applies rules one after the other.
func allOf(rules ...rule) rule {
	return func(key string, value any) string {
		for _, r := range rules {
			if complaint := r(key, value); complaint != "" {
				return complaint
			}
		}
		return ""
	}
}

// hasType demands one of some types.
func hasType(types ...string) rule {
	return func(key string, value any) string {
		kind := kindOf(value)
		if slices.Contains(types, kind) || kind == "integer" && slices.Contains(types, "number") {
			return ""
		}
		quoted := make([]string, len(types))
		for i, t := range types {
			quoted[i] = "'" + t + "'"
		}
		return violation(key, value, "%s is not of type %s", pythonRepr(value), strings.Join(quoted, ", "))
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

// oneOf demands one of some texts.
func oneOf(values ...string) rule {
	return func(key string, value any) string {
		if s, isText := value.(string); isText && slices.Contains(values, s) {
			return ""
		}
		quoted := make([]any, len(values))
		for i, v := range values {
			quoted[i] = v
		}
		return violation(key, value, "%s is not one of %s", pythonRepr(value), pythonRepr(quoted))
	}
}

// anyOf demands that one of some rules holds.
func anyOf(rules ...rule) rule {
	return func(key string, value any) string {
		for _, r := range rules {
			if r(key, value) == "" {
				return ""
			}
		}
		return violation(key, value, "%s is not valid under any of the given schemas", pythonRepr(value))
	}
}

// hasFormat demands a text of a format that has a name.
func hasFormat(format string, fits func(string) bool) rule {
	return func(key string, value any) string {
		if s, isText := value.(string); isText && !fits(s) {
			return violation(key, value, "%s is not a '%s'", pythonRepr(value), format)
		}
		return ""
	}
}

// uuid demands an ID, with or without dashes.
func uuid(key string, value any) string {
	return allOf(hasType("string"), hasFormat("uuid", func(s string) bool {
		plain := strings.ReplaceAll(s, "-", "")
		return len(plain) == 32 && strings.Trim(strings.ToLower(plain), "0123456789abcdef") == ""
	}))(key, value)
}

// boolean demands a truth value, or a word for one.
func boolean(key string, value any) string {
	words := []any{
		true, "True", "TRUE", "true", "1", "ON", "On", "on", "YES", "Yes", "yes",
		false, "False", "FALSE", "false", "0", "OFF", "Off", "off", "NO", "No", "no",
	}
	if complaint := hasType("boolean", "string")(key, value); complaint != "" {
		return complaint
	}
	if !slices.Contains(words, value) {
		return violation(key, value, "%s is not one of %s", pythonRepr(value), pythonRepr(words))
	}
	return ""
}

// lengthBetween demands a length, of texts in characters.
func lengthBetween(least, most int) rule {
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
			return violation(key, value, "%s is too short", pythonRepr(value))
		case length > most:
			return violation(key, value, "%s is too long", pythonRepr(value))
		}
		return ""
	}
}

// number demands a whole number, which may be written as a text.
func number(least int) rule {
	return func(key string, value any) string {
		if complaint := hasType("integer", "string")(key, value); complaint != "" {
			return complaint
		}
		if s, isText := value.(string); isText && strings.Trim(s, "0123456789") != "" {
			return violation(key, value, "%s does not match '^[0-9]*$'", pythonRepr(value))
		}
		if n, err := strconv.Atoi(pythonText(value)); err == nil && n < least {
			return violation(key, value, "%d is less than the minimum of %d", n, least)
		}
		return ""
	}
}

// text255 is a text of some length.
func text255(least int) rule { return allOf(hasType("string"), lengthBetween(least, 255)) }

// name is what Nova takes as a name.
func name(key string, value any) string {
	if complaint := text255(1)(key, value); complaint != "" {
		return complaint
	}
	s, _ := value.(string)
	if strings.TrimSpace(s) != s || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return invalidName("printable characters. Can not start or end with whitespace.")
	}
	return ""
}

func invalidName(mustBe string) string {
	return "An invalid 'name' value was provided. The name must be: " + mustBe
}

// property is an attribute of an object.
type property struct {
	name string
	rule rule
}

// object demands an object with these attributes and no others.
func object(required []string, properties ...property) rule {
	return objectOf(required, false, properties)
}

// openObject is an object that may have other attributes, too.
func openObject(required []string, properties ...property) rule {
	return objectOf(required, true, properties)
}

func objectOf(required []string, open bool, properties []property) rule {
	return func(key string, value any) string {
		if complaint := hasType("object")(key, value); complaint != "" {
			return complaint
		}
		dict, _ := value.(*dict)
		var known []string
		for _, p := range properties {
			known = append(known, p.name)
			if inner, there := dict.values[p.name]; there {
				if complaint := p.rule(p.name, inner); complaint != "" {
					return complaint
				}
			}
		}
		for _, name := range required {
			if _, there := dict.values[name]; !there {
				return violation(key, value, "'%s' is a required property", name)
			}
		}
		extra := core.Without(dict.keys, func(k string) bool { return slices.Contains(known, k) })
		if len(extra) > 0 && !open {
			return violation(key, value, "Additional properties are not allowed (%s)", unexpected(extra))
		}
		return ""
	}
}

func unexpected(names []string) string {
	verb := "was"
	if len(names) > 1 {
		verb = "were"
	}
	return "'" + strings.Join(names, "', '") + "' " + verb + " unexpected"
}

// arrayOf demands a list of things of a kind.
func arrayOf(item rule) rule {
	return func(key string, value any) string {
		if complaint := hasType("array")(key, value); complaint != "" {
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
