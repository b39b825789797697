package octavia

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// octaviaType is the required type of a value in a body of Octavia.
type octaviaType int

const (
	octaviaText octaviaType = iota
	octaviaUUID
	octaviaAddress
	octaviaNumber
	octaviaPort // of TCP or UDP
	octaviaFlag
	octaviaTexts
	octaviaObject
	octaviaObjects
)

// octaviaAttribute is an attribute of request bodies, and of responses unless it is hidden.
type octaviaAttribute struct {
	name     string
	is       octaviaType
	required bool // when creating
	fixed    bool // cannot be changed
	hidden   bool
	choices  []string
	fallback any // what null and nothing mean
	// of are the attributes of contained objects; nil if they are not validated.
	of []octaviaAttribute
}

// octaviaBody is the name of a kind with its attributes.
type octaviaBody struct {
	key        string // around the object
	argument   string // what complaints call the body
	attributes []octaviaAttribute
}

// read validates and returns the attributes in a body.
func (k octaviaBody) read(body []byte, changing bool) (map[string]any, *wire.Error) {
	var envelope map[string]any
	if json.Unmarshal(body, &envelope) != nil {
		return nil, core.BadRequest("", "Request is not in valid JSON format")
	}
	path := k.argument
	if unknown := unknownAttribute(envelope, []octaviaAttribute{{name: k.key}}); unknown != "" {
		return nil, core.BadRequest("", "Unknown attribute for argument %s: %s", path, unknown)
	}
	attrs, isObject := envelope[k.key].(map[string]any)
	if !isObject {
		return nil, octaviaInvalid(k.key, nil, "Mandatory field missing.")
	}
	return attrs, checkOctavia(attrs, k.attributes, path+"."+k.key, changing)
}

// shown returns the attributes in a response.
func (k octaviaBody) shown(attrs map[string]any) map[string]any {
	view := map[string]any{}
	for _, a := range k.attributes {
		if a.hidden {
			continue
		}
		if view[a.name] = attrs[a.name]; view[a.name] == nil {
			view[a.name] = a.fallback
		}
	}
	return view
}

func unknownAttribute(attrs map[string]any, known []octaviaAttribute) string {
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		if !slices.ContainsFunc(known, func(a octaviaAttribute) bool { return a.name == name }) {
			return name
		}
	}
	return ""
}

// checkOctavia validates in Octavia's order: first unknown attributes, then attribute by attribute.
func checkOctavia(attrs map[string]any, known []octaviaAttribute, path string, changing bool) *wire.Error {
	if changing {
		known = core.Without(known, func(a octaviaAttribute) bool { return a.fixed })
	}
	if unknown := unknownAttribute(attrs, known); unknown != "" {
		return core.BadRequest("", "Unknown attribute for argument %s: %s", path, unknown)
	}
	for _, a := range known {
		value := attrs[a.name]
		if value == nil {
			if a.required && !changing {
				return octaviaInvalid(a.name, nil, "Mandatory field missing.")
			}
			continue
		}
		if complaint := a.validate(value); complaint != "" {
			return octaviaInvalid(a.name, value, complaint)
		}
		for _, inner := range objectsIn(value) {
			if a.of == nil {
				continue
			}
			if err := checkOctavia(inner, a.of, path+"."+a.name, false); err != nil {
				return err
			}
		}
	}
	return nil
}

func octaviaInvalid(name string, value any, complaint string) *wire.Error {
	shown := fmt.Sprint(value)
	switch number, isNumber := value.(float64); {
	case value == nil:
		shown = "None"
	case isNumber:
		shown = strconv.FormatFloat(number, 'f', -1, 64)
	}
	return core.BadRequest("", "Invalid input for field/attribute %s. Value: '%s'. %s", name, shown, complaint)
}

// validate returns what is wrong with a value, or "".
func (a octaviaAttribute) validate(value any) string {
	switch a.is {
	case octaviaNumber, octaviaPort:
		return a.validateNumber(value)
	case octaviaFlag:
		if _, isFlag := value.(bool); !isFlag {
			return "Value should be boolean"
		}
	case octaviaTexts:
		if !isListOf[string](value) {
			return "Value should be string"
		}
	case octaviaObject, octaviaObjects:
		if objectsIn(value) == nil && !isListOf[map[string]any](value) {
			return "Value should be an object"
		}
	default:
		return a.validateText(value)
	}
	return ""
}

func (a octaviaAttribute) validateNumber(value any) string {
	number, isNumber := value.(float64)
	switch {
	case !isNumber:
		return "Wrong type. Expected '<class 'int'>', got '<class 'str'>'"
	case a.is == octaviaPort && number < 1:
		return "Value should be greater or equal to 1"
	case a.is == octaviaPort && number > 65535:
		return "Value should be lower or equal to 65535"
	default:
		return ""
	}
}

// The maximum length of a string in Octavia.
const maxOctaviaText = 255

func (a octaviaAttribute) validateText(value any) string {
	text, isText := value.(string)
	switch {
	case a.is == octaviaUUID && !core.UUIDForm.MatchString(text):
		return "Value should be UUID format"
	case a.is == octaviaAddress && !isAddress(text):
		return "Value should be IPv4 or IPv6 format"
	case !isText:
		return "Value should be string"
	case a.choices != nil && !slices.Contains(a.choices, text):
		return "Value should be one of: " + strings.Join(a.choices, ", ")
	case len(text) > maxOctaviaText:
		return fmt.Sprintf("Value should have a maximum character requirement of %d", maxOctaviaText)
	default:
		return ""
	}
}

func isAddress(text string) bool {
	_, err := netip.ParseAddr(text)
	return err == nil
}

func isListOf[T any](value any) bool {
	list, isList := value.([]any)
	return isList && !slices.ContainsFunc(list, func(one any) bool { _, is := one.(T); return !is })
}

// objectsIn returns an object, or the objects of a list.
func objectsIn(value any) []map[string]any {
	if object, isObject := value.(map[string]any); isObject {
		return []map[string]any{object}
	}
	list, _ := value.([]any)
	var objects []map[string]any
	for _, one := range list {
		if object, isObject := one.(map[string]any); isObject {
			objects = append(objects, object)
		}
	}
	return objects
}
