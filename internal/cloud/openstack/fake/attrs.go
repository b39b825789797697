package fake

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
)

// Attrs are the attributes of a request body, by their names on the wire.
type Attrs map[string]any

// Null is a string that is null on the wire when it is empty.
type Null string

// MarshalJSON implements json.Marshaler.
func (n Null) MarshalJSON() ([]byte, error) {
	if n == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(n))
}

// NullInt is a number that is null on the wire when it is zero.
type NullInt int

// MarshalJSON implements json.Marshaler.
func (n NullInt) MarshalJSON() ([]byte, error) {
	if n == 0 {
		return []byte("null"), nil
	}
	return json.Marshal(int(n))
}

// IntText is a number that is written as a text.
type IntText int

// MarshalJSON implements json.Marshaler.
func (n IntText) MarshalJSON() ([]byte, error) { return json.Marshal(strconv.Itoa(int(n))) }

// opt is an attribute of a request body: absent, null, or a value.
type opt[T any] struct {
	set, null bool
	v         T
}

// UnmarshalJSON implements json.Unmarshaler; it is called for null too.
func (o *opt[T]) UnmarshalJSON(b []byte) error {
	o.set = true
	if string(b) == "null" {
		o.null = true
		return nil
	}
	return json.Unmarshal(b, &o.v)
}

// given reports whether there is a value.
func (o opt[T]) given() bool { return o.set && !o.null }

// or returns the value, or def when there is none.
func (o opt[T]) or(def T) T {
	if o.given() {
		return o.v
	}
	return def
}

// into overwrites p with the value if the attribute was sent; null becomes the zero value.
func (o opt[T]) into(p *T) {
	if o.set {
		*p = o.v
	}
}

// unwrap returns the value below the only key of a request body.
func unwrap(body []byte, key string) (json.RawMessage, bool) {
	var envelope map[string]json.RawMessage
	if err := json.Unmarshal(body, &envelope); err != nil {
		return nil, false
	}
	raw, ok := envelope[key]
	return raw, ok && string(raw) != "null"
}

// decodeError says what is wrong with the attributes of a request.
type decodeError struct {
	unknown string // name of an attribute that does not exist
	field   string // name of an attribute of the wrong type
	value   string // what the wrong type is
}

func (e *decodeError) Error() string {
	if e.unknown != "" {
		return "unknown attribute " + e.unknown
	}
	return "attribute " + e.field + " has the wrong type " + e.value
}

// decodeStrictly decodes attributes into a struct and refuses those that the struct does not have.
func decodeStrictly(raw json.RawMessage, into any) *decodeError {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	if err == nil {
		return nil
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return &decodeError{field: wrong.Field, value: wrong.Value}
	}
	// encoding/json has no type for an unknown field, only this text.
	if _, name, ok := strings.Cut(err.Error(), "unknown field "); ok {
		return &decodeError{unknown: strings.Trim(name, `"`)}
	}
	return &decodeError{field: "body", value: err.Error()}
}

// jsonFields returns the names that a struct type has on the wire, each with the path to its field.
func jsonFields(t reflect.Type) map[string][]int {
	names := map[string][]int{}
	for _, f := range reflect.VisibleFields(t) {
		tag, ok := f.Tag.Lookup("json")
		name, _, _ := strings.Cut(tag, ",")
		if !ok || f.Anonymous || name == "-" || name == "" {
			continue
		}
		names[name] = f.Index
	}
	return names
}
