package record

import (
	"encoding/json"
	"fmt"
	"maps"
)

// Decode adds a stored map to the record. IDs and facts that are recorded already are kept.
func (r *Record) Decode(stored map[string]string) error {
	for key, value := range stored {
		var err error
		switch key {
		case r.keys.Intents:
			err = decodeInto(r, r.intents, value)
		case r.keys.Owners:
			err = decodeInto(r, r.owners, value)
		case r.keys.UncertainCreates:
			err = decodeInto(r, r.uncertainCreates, value)
		default:
			r.SetMissingFact(key, value)
		}
		if err != nil {
			return fmt.Errorf("data[%s]: %w", key, err)
		}
	}
	return nil
}

// Encode returns the record as it is stored. The same record gives the same strings.
func (r *Record) Encode() map[string]string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	stored := maps.Clone(r.data)
	encodeInto(stored, r.keys.Intents, r.intents)
	encodeInto(stored, r.keys.Owners, r.owners)
	encodeInto(stored, r.keys.UncertainCreates, r.uncertainCreates)
	return stored
}

func decodeInto[V ~string](r *Record, values map[Kind]V, text string) error {
	var decoded map[Kind]V
	if err := json.Unmarshal([]byte(text), &decoded); err != nil {
		return err
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	maps.Copy(values, decoded)
	return nil
}

// encodeInto writes a map as JSON with sorted keys. An empty map is omitted.
func encodeInto[V ~string](stored map[string]string, key string, values map[Kind]V) {
	if len(values) == 0 {
		return
	}
	raw, _ := json.Marshal(values) //nolint:errchkjson // strings can always be encoded
	stored[key] = string(raw)
}
