package registration

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// FieldErrors are the faults of a catalogue, or of options.
type FieldErrors []FieldError

// FieldError is one fault.
type FieldError struct {
	// Field is the path, such as registrations[2].types[0], "" for all of it.
	Field string
	// Text is a sentence that says what is wrong and what would be right.
	Text string
}

func (e FieldError) Error() string {
	if e.Field == "" {
		return e.Text
	}
	return e.Field + ": " + e.Text
}

// Error puts each fault on a line of its own.
func (p FieldErrors) Error() string {
	lines := make([]string, 0, len(p))
	for _, fault := range p {
		lines = append(lines, fault.Error())
	}
	return strings.Join(lines, "\n")
}

func addf(problems *FieldErrors, field, format string, args ...any) {
	*problems = append(*problems, FieldError{Field: field, Text: fmt.Sprintf(format, args...)})
}

// orNil keeps an empty list from becoming an error.
func (p FieldErrors) orNil() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

// Read decodes a catalogue strictly, fills in defaults and checks it. The error is of type FieldErrors.
func Read(data []byte) (Catalogue, error) {
	var problems FieldErrors
	asJSON, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		addf(&problems, "", "the catalogue is no YAML: %v", err)
		return Catalogue{}, problems
	}
	var raw struct {
		Registrations []json.RawMessage `json:"registrations"`
		Admission     json.RawMessage   `json:"admission"`
		Installer     json.RawMessage   `json:"installer"`
	}
	problems = append(problems, decodeStrictly(asJSON, &raw, "")...)
	if len(problems) > 0 {
		return Catalogue{}, problems
	}
	var c Catalogue
	for i, data := range raw.Registrations {
		var entry Entry
		problems = append(problems, decodeStrictly(data, &entry, fmt.Sprintf("registrations[%d]", i))...)
		c.Registrations = append(c.Registrations, entry.withDefaults())
	}
	if raw.Admission != nil {
		c.Admission = &Admission{}
		problems = append(problems, decodeStrictly(raw.Admission, c.Admission, "admission")...)
	}
	if raw.Installer != nil {
		c.Installer = &Installer{}
		problems = append(problems, decodeStrictly(raw.Installer, c.Installer, "installer")...)
	}
	if len(problems) > 0 {
		return Catalogue{}, problems
	}
	if err := Check(c); err != nil {
		return Catalogue{}, err
	}
	return c, nil
}

// decodeStrictly decodes into the struct that target points to, and says what does not belong there.
func decodeStrictly(data []byte, target any, path string) FieldErrors {
	var problems FieldErrors
	if bytes.Equal(bytes.TrimSpace(data), []byte("null")) {
		addf(&problems, path, "is empty; give %s", fieldsOf(target))
		return problems
	}
	strict, err := kjson.UnmarshalStrict(data, target)
	if err != nil {
		// The standard library refuses the same types, and its error can be taken apart.
		var wrongType *json.UnmarshalTypeError
		if !errors.As(json.Unmarshal(data, target), &wrongType) {
			addf(&problems, path, "%v", err)
			return problems
		}
		addf(&problems, join(path, wrongType.Field), "%s is wanted, not a JSON %s", typeName(wrongType.Type), wrongType.Value)
		return problems
	}
	for _, err := range strict {
		var field kjson.FieldError
		if !errors.As(err, &field) {
			addf(&problems, path, "%v", err)
			continue
		}
		fix := "there are " + fieldsOf(target)
		if strings.Contains(field.FieldPath(), ".") {
			fix = "remove it"
		}
		addf(&problems, join(path, field.FieldPath()), "is not a field; %s", fix)
	}
	return problems
}

// fieldsOf lists the names of the struct's fields.
func fieldsOf(target any) string {
	var names []string
	for field := range reflect.TypeOf(target).Elem().Fields() {
		names = append(names, field.Tag.Get("json"))
	}
	return strings.Join(names, ", ")
}

func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Slice:
		return "a list"
	case reflect.Bool:
		return "true or false"
	default:
		return "a mapping"
	}
}

func join(path, field string) string {
	switch {
	case path == "":
		return field
	case field == "":
		return path
	default:
		return path + "." + field
	}
}
