package contract

import (
	"bytes"
	"encoding/json"
	"reflect"
)

// mergePatch returns the fields in which a value differs from its predecessor, as JSON that the API server merges into the predecessor: null for
// each field that it lacks. It returns nil if nothing differs. Both encode as objects of JSON.
//
// Fields with equal bytes are not decoded: most of a status does not change. The order of keys means nothing.
func mergePatch(before, after any) (json.RawMessage, error) {
	raw, err := json.Marshal(before)
	if err != nil {
		return nil, err
	}
	next, err := json.Marshal(after)
	if err != nil {
		return nil, err
	}
	return changedFields(raw, next)
}

func changedFields(before, after json.RawMessage) (json.RawMessage, error) {
	var known, desired map[string]json.RawMessage
	if err := json.Unmarshal(before, &known); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(after, &desired); err != nil {
		return nil, err
	}
	changes := map[string]json.RawMessage{}
	for name, value := range desired {
		old, existed := known[name]
		if !existed {
			changes[name] = value
			continue
		}
		change, err := changedValue(old, value)
		if err != nil {
			return nil, err
		}
		if change != nil {
			changes[name] = change
		}
	}
	for name := range known {
		if _, remains := desired[name]; !remains {
			changes[name] = json.RawMessage("null")
		}
	}
	if len(changes) == 0 {
		return nil, nil
	}
	return json.Marshal(changes)
}

// changedValue returns what to write for a field, nil for nothing: of an object the fields that differ, of anything else all of it.
func changedValue(before, after json.RawMessage) (json.RawMessage, error) {
	if bytes.Equal(before, after) {
		return nil, nil
	}
	if isObject(before) && isObject(after) {
		return changedFields(before, after)
	}
	var values [2]any
	for i, raw := range []json.RawMessage{before, after} {
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.UseNumber() // a number of any size keeps its digits
		if err := decoder.Decode(&values[i]); err != nil {
			return nil, err
		}
	}
	if reflect.DeepEqual(values[0], values[1]) {
		return nil, nil
	}
	return after, nil
}

func isObject(raw json.RawMessage) bool { return bytes.HasPrefix(raw, []byte("{")) }
