package protocol

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/model"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// Encode encodes the output of an operation as XML. It returns an error if the output does not fit the model, which is a defect of the service.
func Encode(service *model.Service, operation *model.Operation, output Struct, requestID string) ([]byte, error) {
	e := newEncoder(service.Protocol)
	root := operation.Name + "Response"
	namespace := []xml.Attr{}
	if service.XMLNamespace != "" {
		namespace = append(namespace, xml.Attr{Name: xml.Name{Local: "xmlns"}, Value: service.XMLNamespace})
	}
	e.open(root, namespace...)
	if service.Protocol == model.EC2 {
		e.text("requestId", requestID)
	}
	if operation.ResultWrapper != "" {
		e.open(operation.ResultWrapper)
	}
	switch {
	case operation.Output != nil:
		if err := e.structure(operation.Output, output); err != nil {
			return nil, fmt.Errorf("encoding the response of %s: %w", operation.Name, err)
		}
	case len(output) > 0:
		return nil, fmt.Errorf("encoding the response of %s: it has no output", operation.Name)
	case service.Protocol == model.EC2:
		e.text("return", "true")
	}
	if operation.ResultWrapper != "" {
		e.close(operation.ResultWrapper)
	}
	if service.Protocol == model.Query {
		e.open("ResponseMetadata")
		e.text("RequestId", requestID)
		e.close("ResponseMetadata")
	}
	e.close(root)
	return e.buffer.Bytes(), nil
}

// EncodeError encodes an error as XML. Its namespace is left out, as no client reads it.
func EncodeError(protocol model.Protocol, failure *wire.Error, requestID string) []byte {
	e := newEncoder(protocol)
	if protocol == model.EC2 {
		e.open("Response")
		e.open("Errors")
		e.open("Error")
		e.text("Code", failure.Type)
		e.text("Message", failure.Message)
		e.close("Error")
		e.close("Errors")
		e.text("RequestID", requestID)
		e.close("Response")
		return e.buffer.Bytes()
	}
	kind := "Sender"
	if failure.Status >= 500 {
		kind = "Receiver"
	}
	e.open("ErrorResponse")
	e.open("Error")
	e.text("Type", kind)
	e.text("Code", failure.Type)
	e.text("Message", failure.Message)
	e.close("Error")
	e.text("RequestId", requestID)
	e.close("ErrorResponse")
	return e.buffer.Bytes()
}

// encoder writes XML. Writing to memory does not fail.
type encoder struct {
	protocol model.Protocol
	buffer   bytes.Buffer
}

func newEncoder(protocol model.Protocol) *encoder {
	e := &encoder{protocol: protocol}
	e.buffer.WriteString(xml.Header)
	return e
}

func (e *encoder) open(name string, attributes ...xml.Attr) {
	e.buffer.WriteString("<" + name)
	for _, a := range attributes {
		e.buffer.WriteString(" " + a.Name.Local + `="`)
		_ = xml.EscapeText(&e.buffer, []byte(a.Value))
		e.buffer.WriteString(`"`)
	}
	e.buffer.WriteString(">")
}

func (e *encoder) close(name string) { e.buffer.WriteString("</" + name + ">") }

func (e *encoder) text(name, value string) {
	e.open(name)
	_ = xml.EscapeText(&e.buffer, []byte(value))
	e.close(name)
}

func (e *encoder) structure(shape *model.Shape, value Struct) error {
	for _, name := range shape.Required {
		if value[name] == nil {
			return fmt.Errorf("%s needs the member %s", shape.Name, name)
		}
	}
	for _, name := range slices.Sorted(slices.Values(keysOf(value))) {
		member := shape.Members[name]
		if member == nil {
			return fmt.Errorf("%s has no member %s", shape.Name, name)
		}
		if value[name] == nil {
			continue
		}
		if err := e.value(or(member.LocationName, name), member, value[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// value writes an element, or several for a flattened list or map.
func (e *encoder) value(name string, m *model.Member, value any) error {
	switch m.Shape.Type {
	case model.Structure:
		structure, ok := value.(Struct)
		if !ok {
			return fmt.Errorf("%T is not a structure", value)
		}
		e.open(name)
		if err := e.structure(m.Shape, structure); err != nil {
			return err
		}
		e.close(name)
		return nil
	case model.List:
		return e.list(name, m, value)
	case model.Map:
		return e.mapping(name, m, value)
	default:
		text, err := formatScalar(m, value, iso8601)
		if err != nil {
			return err
		}
		e.text(name, text)
		return nil
	}
}

func (e *encoder) list(name string, m *model.Member, value any) error {
	items, ok := value.([]any)
	if !ok {
		return fmt.Errorf("%T is not a list", value)
	}
	itemName := or(m.Shape.Item.LocationName, "member")
	if m.IsFlattened() {
		itemName = or(m.Shape.Item.LocationName, name)
	} else {
		e.open(name)
	}
	for i, item := range items {
		if err := e.value(itemName, m.Shape.Item, item); err != nil {
			return fmt.Errorf("item %d: %w", i, err)
		}
	}
	if !m.IsFlattened() {
		e.close(name)
	}
	return nil
}

func (e *encoder) mapping(name string, m *model.Member, value any) error {
	entries, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("%T is not a map", value)
	}
	entryName := "entry"
	if m.IsFlattened() {
		entryName = name
	} else {
		e.open(name)
	}
	for _, key := range slices.Sorted(slices.Values(keysOf(entries))) {
		e.open(entryName)
		if err := e.value(or(m.Shape.Key.LocationName, "key"), m.Shape.Key, key); err != nil {
			return err
		}
		if err := e.value(or(m.Shape.Value.LocationName, "value"), m.Shape.Value, entries[key]); err != nil {
			return fmt.Errorf("entry %s: %w", key, err)
		}
		e.close(entryName)
	}
	if !m.IsFlattened() {
		e.close(name)
	}
	return nil
}
