// Package codec decodes and encodes the documents of the API packages: JSON with apiVersion and kind, as in the
// providerConfig, providerStatus and state of Gardener's objects. Its errors are for the author of the document.
//
// It must not know groups or kinds; the packages register theirs.
package codec

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Mode configures how strictly a document is decoded.
type Mode struct {
	// IgnoreUnknownFields is for documents that another version of a controller may have written. Otherwise unknown fields
	// are an error.
	IgnoreUnknownFields bool
	// KindOptional is for documents for which apiVersion and kind have always been optional. If they are set, they must be
	// right.
	KindOptional bool
}

// Decode fills the document into and returns it, or the zero value of its type and an error. kinds registers the kind of
// into.
func Decode[Document runtime.Object](kinds Kinds, raw *runtime.RawExtension, into Document, mode Mode) (Document, error) {
	if err := decode(kinds, raw, into, mode); err != nil {
		var none Document
		return none, err
	}
	return into, nil
}

// DecodeOrEmpty is Decode for optional documents. It returns empty if the document is absent.
func DecodeOrEmpty[Document runtime.Object](kinds Kinds, raw *runtime.RawExtension, empty Document, mode Mode) (Document, error) {
	if isEmpty(raw) {
		return empty, nil
	}
	return Decode(kinds, raw, empty, mode)
}

// Kinds registers the kinds of an API package.
type Kinds func(*runtime.Scheme) error

// Encode returns object as JSON with apiVersion and kind, whether or not they are set. kinds registers its kind.
func Encode(kinds Kinds, object runtime.Object) (*runtime.RawExtension, error) {
	_, kind, err := kinds.of(object)
	if err != nil {
		return nil, err
	}
	object = object.DeepCopyObject()
	object.GetObjectKind().SetGroupVersionKind(kind)
	data, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", kind.Kind, err)
	}
	return &runtime.RawExtension{Raw: data}, nil
}

func (k Kinds) of(object runtime.Object) (*runtime.Scheme, schema.GroupVersionKind, error) {
	scheme := runtime.NewScheme()
	if err := k(scheme); err != nil {
		return nil, schema.GroupVersionKind{}, err
	}
	kinds, _, err := scheme.ObjectKinds(object)
	if err != nil {
		return nil, schema.GroupVersionKind{}, err
	}
	return scheme, kinds[0], nil
}

func decode(kinds Kinds, raw *runtime.RawExtension, into runtime.Object, mode Mode) error {
	scheme, want, err := kinds.of(into)
	if err != nil {
		return err
	}
	data, err := bytesOf(raw)
	if err != nil {
		return fmt.Errorf("reading %s: %w", want.Kind, err)
	}
	if err := checkKind(data, want, mode); err != nil {
		return err
	}

	options := jsonserializer.SerializerOptions{Strict: !mode.IgnoreUnknownFields}
	serializer := jsonserializer.NewSerializerWithOptions(jsonserializer.DefaultMetaFactory, scheme, scheme, options)
	if _, _, err := serializer.Decode(data, nil, into); err != nil {
		return explain(want.Kind, err)
	}
	into.GetObjectKind().SetGroupVersionKind(want)
	return nil
}

// checkKind rejects a missing kind: the serializer would assume the expected one.
func checkKind(data []byte, want schema.GroupVersionKind, mode Mode) error {
	if len(data) == 0 {
		return fmt.Errorf("a providerConfig is required: give one with apiVersion %s and kind %s", want.GroupVersion(), want.Kind)
	}
	if err := checkHeader(data, want.Kind); err != nil {
		return err
	}
	got, err := jsonserializer.DefaultMetaFactory.Interpret(data)
	if err != nil {
		return fmt.Errorf("decoding %s: %w", want.Kind, err)
	}
	if mode.KindOptional {
		got.Kind = cmp.Or(got.Kind, want.Kind)
		if got.GroupVersion().Empty() {
			got.Group, got.Version = want.Group, want.Version
		}
	}
	if *got != want {
		return fmt.Errorf("decoding %s: apiVersion is %q and kind %q: set apiVersion to %s and kind to %s",
			want.Kind, got.GroupVersion(), got.Kind, want.GroupVersion(), want.Kind)
	}
	return nil
}

// checkHeader detects what Interpret would report with names of Go types.
func checkHeader(data []byte, kind string) error {
	var header struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	err := json.Unmarshal(data, &header)
	if wrongType, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrongType.Field == "" {
		return fmt.Errorf("decoding %s: not a JSON object with apiVersion and kind, but a JSON %s", kind, wrongType.Value)
	} else if ok {
		return explain(kind, err)
	}
	if err != nil {
		return fmt.Errorf("decoding %s: not a JSON object with apiVersion and kind: %w", kind, err)
	}
	return nil
}

// StrictError lists all unknown and duplicate fields of a document.
type StrictError struct {
	kind   string
	causes []error
}

// Error implements error.
func (e *StrictError) Error() string {
	causes := make([]string, 0, len(e.causes))
	for _, cause := range e.causes {
		causes = append(causes, cause.Error())
	}
	return e.message(strings.Join(causes, ", "))
}

func (e *StrictError) message(causes string) string {
	return fmt.Sprintf("decoding %s: %s: correct the name or remove the field", e.kind, causes)
}

// FieldErrors converts an error of Decode into errors of the document at path: one for each invalid field, so that package ratcheting can compare
// them one by one.
func FieldErrors(path *field.Path, err error) field.ErrorList {
	strict, ok := errors.AsType[*StrictError](err)
	if !ok {
		return field.ErrorList{field.Invalid(path, field.OmitValueType{}, err.Error())}
	}
	errs := make(field.ErrorList, 0, len(strict.causes))
	for _, cause := range strict.causes {
		errs = append(errs, field.Invalid(path, field.OmitValueType{}, strict.message(cause.Error())))
	}
	return errs
}

// explain rewrites a decoder's error for the author of the document.
func explain(kind string, err error) error {
	if wrongType, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("decoding %s: %s must be %s, not a JSON %s: correct the value",
			kind, wrongType.Field, jsonTypeName(wrongType.Type), wrongType.Value)
	}
	if strictErr, ok := runtime.AsStrictDecodingError(err); ok {
		return &StrictError{kind: kind, causes: strictErr.Errors()}
	}
	return fmt.Errorf("decoding %s: %w", kind, err)
}

func jsonTypeName(kind reflect.Type) string {
	switch kind.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	default:
		return "a " + kind.Kind().String()
	}
}

func isEmpty(raw *runtime.RawExtension) bool {
	return raw == nil || raw.Object == nil && (len(raw.Raw) == 0 || string(raw.Raw) == "null")
}

func bytesOf(raw *runtime.RawExtension) ([]byte, error) {
	if isEmpty(raw) {
		return nil, nil
	}
	if raw.Raw == nil {
		return json.Marshal(raw.Object)
	}
	return raw.Raw, nil
}
