package protocol

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/model"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// json decodes a value of a body; nil for null.
func (r refusal) json(m *model.Member, path string, raw json.RawMessage) (any, *wire.Error) {
	if string(bytes.TrimSpace(raw)) == "null" {
		return nil, nil
	}
	switch m.Shape.Type {
	case model.Structure:
		return r.jsonStructure(m, path, raw)
	case model.List:
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) != nil {
			return nil, r.wrongType(path, string(raw), model.List)
		}
		out := []any{}
		for i, item := range items {
			decoded, err := r.json(m.Shape.Item, path+"."+strconv.Itoa(i+1), item)
			if err != nil {
				return nil, err
			}
			out = append(out, decoded)
		}
		return r.inLimits(m, path, out)
	case model.Map:
		var entries map[string]json.RawMessage
		if json.Unmarshal(raw, &entries) != nil {
			return nil, r.wrongType(path, string(raw), model.Map)
		}
		out := map[string]any{}
		for _, key := range slices.Sorted(slices.Values(keysOf(entries))) {
			decoded, err := r.json(m.Shape.Value, path+"."+key, entries[key])
			if err != nil {
				return nil, err
			}
			out[key] = decoded
		}
		return out, nil
	default:
		return r.jsonScalar(m, path, raw)
	}
}

// inLimits returns a list, unless it is too short or too long.
func (r refusal) inLimits(m *model.Member, path string, items []any) (any, *wire.Error) {
	if !inRange(m.Shape, float64(len(items))) {
		return nil, r.outOfRange(path, strconv.Itoa(len(items))+" items", m.Shape)
	}
	return items, nil
}

func (r refusal) jsonStructure(m *model.Member, path string, raw json.RawMessage) (any, *wire.Error) {
	var sent map[string]json.RawMessage
	if json.Unmarshal(raw, &sent) != nil {
		return nil, r.wrongType(path, string(raw), model.Structure)
	}
	out := Struct{}
	for _, name := range slices.Sorted(slices.Values(keysOf(m.Shape.Members))) {
		member := m.Shape.Members[name]
		wireName := or(member.LocationName, name)
		value, found := sent[wireName]
		delete(sent, wireName)
		var decoded any
		if found {
			var err *wire.Error
			if decoded, err = r.json(member, path+"."+wireName, value); err != nil {
				return nil, err
			}
		}
		if decoded != nil {
			out[name] = decoded
		} else if slices.Contains(m.Shape.Required, name) {
			return nil, r.missing(path + "." + wireName)
		}
	}
	if len(sent) > 0 {
		return nil, r.unknownParameter(path + "." + slices.Min(keysOf(sent)))
	}
	return out, nil
}

// jsonScalar decodes a scalar: JSON has types of its own for booleans and numbers, and times are numbers unless they have a format.
func (r refusal) jsonScalar(m *model.Member, path string, raw json.RawMessage) (any, *wire.Error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, r.malformed(err)
	}
	var text string
	isRight := false
	switch v := value.(type) {
	case string:
		text, isRight = v, isText(m)
	case bool:
		text, isRight = strconv.FormatBool(v), m.Shape.Type == model.Boolean
	case json.Number:
		text, isRight = v.String(), m.Shape.Type != model.Boolean && !isText(m)
	}
	if !isRight {
		return nil, r.wrongType(path, string(raw), m.Shape.Type)
	}
	return r.scalar(m, path, text, unixTimestamp)
}

// isText reports whether JSON has a string for values of a shape.
func isText(m *model.Member) bool {
	switch m.Shape.Type {
	case model.Boolean, model.Integer, model.Long, model.Float, model.Double:
		return false
	case model.Timestamp:
		return or(m.TimeFormat(), unixTimestamp) != unixTimestamp
	default:
		return true
	}
}
