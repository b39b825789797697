package protocol

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/model"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// EncodeREST encodes the output of an operation of the protocol "rest-json". It returns an error if the output does not fit the model, which is a defect of
// the service.
func EncodeREST(operation *model.Operation, output Struct) (wire.Response, error) {
	response := wire.Response{Status: http.StatusOK, Header: http.Header{}}
	if operation.HTTP.Status != 0 {
		response.Status = operation.HTTP.Status
	}
	if operation.Output == nil {
		if len(output) > 0 {
			return response, fmt.Errorf("encoding the response of %s: it has no output", operation.Name)
		}
		return response, nil
	}
	body, err := encodeJSON(operation.Output, output)
	if err != nil {
		return response, fmt.Errorf("encoding the response of %s: %w", operation.Name, err)
	}
	for name, m := range operation.Output.Members {
		if m.Location != model.InHeader || !output.Has(name) {
			continue
		}
		text, err := formatScalar(m, output[name], rfc822)
		if err != nil {
			return response, fmt.Errorf("encoding the response of %s: %s: %w", operation.Name, name, err)
		}
		response.Header.Set(or(m.LocationName, name), text)
		delete(body, or(m.LocationName, name))
	}
	response.Header.Set("Content-Type", "application/json")
	response.Body, err = json.Marshal(body)
	return response, err
}

// EncodeRESTError encodes an error of the protocol "rest-json": its code is in a header. Some services, such as EFS, have it in the body as well. The body has
// also the details of the error.
func EncodeRESTError(failure *wire.Error, details map[string]string) wire.Response {
	body := map[string]string{"ErrorCode": failure.Type, "Message": failure.Message}
	maps.Copy(body, details)
	response := wire.JSON(failure.Status, body)
	response.Header.Set("X-Amzn-Errortype", failure.Type)
	return response
}

// encodeJSON returns a structure in the form that package json encodes.
func encodeJSON(shape *model.Shape, value Struct) (map[string]any, error) {
	for _, name := range shape.Required {
		if value[name] == nil {
			return nil, fmt.Errorf("%s needs the member %s", shape.Name, name)
		}
	}
	out := map[string]any{}
	for name, one := range value {
		member := shape.Members[name]
		if member == nil {
			return nil, fmt.Errorf("%s has no member %s", shape.Name, name)
		}
		if one == nil {
			continue
		}
		encoded, err := jsonValue(member, one)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[or(member.LocationName, name)] = encoded
	}
	return out, nil
}

func jsonValue(m *model.Member, value any) (any, error) {
	switch m.Shape.Type {
	case model.Structure:
		structure, ok := value.(Struct)
		if !ok {
			return nil, fmt.Errorf("%T is not a structure", value)
		}
		return encodeJSON(m.Shape, structure)
	case model.List:
		items, ok := value.([]any)
		if !ok {
			return nil, fmt.Errorf("%T is not a list", value)
		}
		out := []any{}
		for i, item := range items {
			encoded, err := jsonValue(m.Shape.Item, item)
			if err != nil {
				return nil, fmt.Errorf("item %d: %w", i, err)
			}
			out = append(out, encoded)
		}
		return out, nil
	case model.Map:
		entries, ok := value.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%T is not a map", value)
		}
		out := map[string]any{}
		for key, entry := range entries {
			encoded, err := jsonValue(m.Shape.Value, entry)
			if err != nil {
				return nil, fmt.Errorf("entry %s: %w", key, err)
			}
			out[key] = encoded
		}
		return out, nil
	default:
		text, err := formatScalar(m, value, unixTimestamp)
		switch {
		case err != nil:
			return nil, err
		case isText(m):
			return text, nil
		default:
			return json.RawMessage(text), nil
		}
	}
}
