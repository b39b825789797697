package v1alpha1

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
)

// DecodeInfrastructureConfig decodes what a user wrote, strictly, and applies the defaults. The error names the field and
// what to do about it.
func DecodeInfrastructureConfig(raw *runtime.RawExtension) (*InfrastructureConfig, error) {
	config, err := decoded(raw, &InfrastructureConfig{}, strict)
	if err != nil {
		return nil, err
	}
	config.Default()
	return config, nil
}

// DecodeControlPlaneConfig decodes what a user wrote, strictly. The error names the field and what to do about it.
func DecodeControlPlaneConfig(raw *runtime.RawExtension) (*ControlPlaneConfig, error) {
	return decoded(raw, &ControlPlaneConfig{}, strict)
}

// DecodeWorkerConfig decodes what a user wrote, strictly. The error names the field and what to do about it. A pool
// without a providerConfig has an empty one.
func DecodeWorkerConfig(raw *runtime.RawExtension) (*WorkerConfig, error) {
	return decodedOrEmpty(raw, &WorkerConfig{}, strict)
}

// DecodeCloudProfileConfig decodes what is in a CloudProfile that was admitted already, possibly by another version:
// unknown fields are ignored.
func DecodeCloudProfileConfig(raw *runtime.RawExtension) (*CloudProfileConfig, error) {
	return decoded(raw, &CloudProfileConfig{}, lenient)
}

// DecodeInfrastructureStatus decodes what a controller wrote, possibly of another version: unknown fields are ignored.
// Nothing decodes to an empty status.
func DecodeInfrastructureStatus(raw *runtime.RawExtension) (*InfrastructureStatus, error) {
	return decodedOrEmpty(raw, NewInfrastructureStatus(), lenient)
}

// DecodeInfrastructureState decodes what a controller wrote, possibly of another version: unknown fields are ignored.
// Nothing decodes to an empty state; Data is never nil.
func DecodeInfrastructureState(raw *runtime.RawExtension) (*InfrastructureState, error) {
	state, err := decodedOrEmpty(raw, NewInfrastructureState(), lenient)
	if err != nil {
		return nil, err
	}
	if state.Data == nil {
		state.Data = map[string]string{}
	}
	return state, nil
}

// DecodeWorkerStatus decodes what a controller wrote, possibly of another version: unknown fields are ignored. Nothing
// decodes to an empty status.
func DecodeWorkerStatus(raw *runtime.RawExtension) (*WorkerStatus, error) {
	return decodedOrEmpty(raw, NewWorkerStatus(), lenient)
}

// Encode returns object as JSON with apiVersion and kind, whether or not it carries them.
func Encode(object runtime.Object) (*runtime.RawExtension, error) {
	kind, err := kindOf(object)
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

// strictness says what becomes of fields that a type does not have.
type strictness bool

const (
	strict  strictness = true  // they are an error: a user misspelt something
	lenient strictness = false // they are ignored: another version wrote them
)

// decoded returns into, filled, or the zero value of its type and an error.
func decoded[Document runtime.Object](raw *runtime.RawExtension, into Document, mode strictness) (Document, error) {
	if err := decode(raw, into, mode); err != nil {
		var none Document
		return none, err
	}
	return into, nil
}

func decodedOrEmpty[Document runtime.Object](raw *runtime.RawExtension, empty Document, mode strictness) (Document, error) {
	if isEmpty(raw) {
		return empty, nil
	}
	return decoded(raw, empty, mode)
}

func decode(raw *runtime.RawExtension, into runtime.Object, mode strictness) error {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		return err
	}
	want, err := kindOf(into)
	if err != nil {
		return err
	}
	data, err := bytesOf(raw)
	if err != nil {
		return fmt.Errorf("reading %s: %w", want.Kind, err)
	}
	if err := checkKind(data, want); err != nil {
		return err
	}

	options := jsonserializer.SerializerOptions{Strict: bool(mode)}
	serializer := jsonserializer.NewSerializerWithOptions(jsonserializer.DefaultMetaFactory, scheme, scheme, options)
	if _, _, err := serializer.Decode(data, nil, into); err != nil {
		return explain(want.Kind, err)
	}
	return nil
}

// checkKind keeps the serializer from guessing: it would take a missing kind for the wanted one.
func checkKind(data []byte, want schema.GroupVersionKind) error {
	if len(data) == 0 {
		return fmt.Errorf("a providerConfig is required: give one with apiVersion %s and kind %s", want.GroupVersion(), want.Kind)
	}
	got, err := jsonserializer.DefaultMetaFactory.Interpret(data)
	if err != nil {
		return fmt.Errorf("decoding %s: not a JSON object with apiVersion and kind: %w", want.Kind, err)
	}
	if *got != want {
		return fmt.Errorf("decoding %s: apiVersion is %q and kind %q: set apiVersion to %s and kind to %s",
			want.Kind, got.GroupVersion(), got.Kind, want.GroupVersion(), want.Kind)
	}
	return nil
}

// explain turns a decoder's error into words for whoever wrote the document.
func explain(kind string, err error) error {
	if wrongType, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("decoding %s: %s must be %s, not a JSON %s: correct the value",
			kind, wrongType.Field, inWords(wrongType.Type), wrongType.Value)
	}
	if strictErr, ok := runtime.AsStrictDecodingError(err); ok {
		var mistakes []string
		for _, mistake := range strictErr.Errors() {
			mistakes = append(mistakes, mistake.Error())
		}
		return fmt.Errorf("decoding %s: %s: correct the name or remove the field", kind, strings.Join(mistakes, ", "))
	}
	return fmt.Errorf("decoding %s: %w", kind, err)
}

func inWords(kind reflect.Type) string {
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
