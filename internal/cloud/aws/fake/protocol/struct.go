package protocol

// Struct is a structure: values by the names of members. The type of a value is told by its shape, see the types of package model. A member that is
// absent or nil was not sent, or is not encoded.
type Struct map[string]any

// Undeclared is a string that a service sends although its model does not list the value.
type Undeclared string

// Has reports whether the member is present.
func (s Struct) Has(name string) bool { return s[name] != nil }

// String returns a string, or an empty one if it is absent.
func (s Struct) String(name string) string { return value[string](s, name) }

// Bool returns a boolean, or false if it is absent.
func (s Struct) Bool(name string) bool { return value[bool](s, name) }

// Int returns a number, or 0 if it is absent.
func (s Struct) Int(name string) int64 { return value[int64](s, name) }

// Bytes returns a blob, or nil if it is absent.
func (s Struct) Bytes(name string) []byte { return value[[]byte](s, name) }

// Struct returns a structure, or nil if it is absent. All methods may be called on nil.
func (s Struct) Struct(name string) Struct { return value[Struct](s, name) }

// Structs returns a list of structures, or nil if it is absent.
func (s Struct) Structs(name string) []Struct { return list[Struct](s, name) }

// Strings returns a list of strings, or nil if it is absent.
func (s Struct) Strings(name string) []string { return list[string](s, name) }

func value[T any](s Struct, name string) T {
	found, _ := s[name].(T)
	return found
}

func list[T any](s Struct, name string) []T {
	items := value[[]any](s, name)
	if items == nil {
		return nil
	}
	out := make([]T, 0, len(items))
	for _, item := range items {
		if typed, ok := item.(T); ok {
			out = append(out, typed)
		}
	}
	return out
}

// ListOf returns a list of values as responses have it.
func ListOf[T any](items []T) []any {
	out := make([]any, 0, len(items))
	for _, item := range items {
		out = append(out, item)
	}
	return out
}

// OrNil returns nil, which is not encoded, for the zero value.
func OrNil[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}
