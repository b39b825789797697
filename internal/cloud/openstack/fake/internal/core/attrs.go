package core

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
)

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

// Opt is an attribute of a request body: absent, null, or a value.
type Opt[T any] struct {
	Set, Null bool
	Value     T
}

// UnmarshalJSON implements json.Unmarshaler; it is called for null too.
func (o *Opt[T]) UnmarshalJSON(b []byte) error {
	o.Set = true
	if string(b) == "null" {
		o.Null = true
		return nil
	}
	return json.Unmarshal(b, &o.Value)
}

// Given reports whether there is a value.
func (o Opt[T]) Given() bool { return o.Set && !o.Null }

// Or returns the value, or def if there is none.
func (o Opt[T]) Or(def T) T {
	if o.Given() {
		return o.Value
	}
	return def
}

// Into overwrites p with the value if the attribute was sent; null becomes the zero value.
func (o Opt[T]) Into(p *T) {
	if o.Set {
		*p = o.Value
	}
}

// Unwrap returns the value below the only key of a request body.
func Unwrap(body []byte, key string) (json.RawMessage, bool) {
	var envelope map[string]json.RawMessage
	if err := json.Unmarshal(body, &envelope); err != nil {
		return nil, false
	}
	raw, ok := envelope[key]
	return raw, ok && string(raw) != "null"
}

// DecodeError describes what is wrong with the attributes of a request.
type DecodeError struct {
	Unknown string // name of an attribute that does not exist
	Field   string // name of an attribute of the wrong type
	value   string // what the wrong type is
}

func (e *DecodeError) Error() string {
	if e.Unknown != "" {
		return "unknown attribute " + e.Unknown
	}
	return "attribute " + e.Field + " has the wrong type " + e.value
}

// DecodeStrictly decodes attributes into a struct and refuses unknown ones.
func DecodeStrictly(raw json.RawMessage, into any) *DecodeError {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	if err == nil {
		return nil
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return &DecodeError{Field: wrong.Field, value: wrong.Value}
	}
	// encoding/json has no error type for an unknown field, only this text.
	if _, name, ok := strings.Cut(err.Error(), "unknown field "); ok {
		return &DecodeError{Unknown: strings.Trim(name, `"`)}
	}
	return &DecodeError{Field: "body", value: err.Error()}
}

// JsonFields returns the names that a struct type has on the wire, each with the path to its field.
func JsonFields(t reflect.Type) map[string][]int {
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
