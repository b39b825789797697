package fake

import (
	"encoding/json"
	"fmt"
	"strings"
)

// dict is an object of JSON that keeps the order of its attributes, which Python's messages show.
type dict struct {
	keys   []string
	values map[string]any
}

func decodeOrdered(decoder *json.Decoder) (any, error) {
	decoder.UseNumber()
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		found := &dict{values: map[string]any{}}
		for decoder.More() {
			key, err := decoder.Token()
			if err != nil {
				return nil, err
			}
			name, _ := key.(string)
			if found.values[name], err = decodeOrdered(decoder); err != nil {
				return nil, err
			}
			found.keys = append(found.keys, name)
		}
		_, err := decoder.Token()
		return found, err
	case json.Delim('['):
		found := []any{}
		for decoder.More() {
			one, err := decodeOrdered(decoder)
			if err != nil {
				return nil, err
			}
			found = append(found, one)
		}
		_, err := decoder.Token()
		return found, err
	}
	return token, nil
}

// pythonText is a value as Python's str() writes it.
func pythonText(value any) string {
	if s, isText := value.(string); isText {
		return s
	}
	return pythonRepr(value)
}

// pythonRepr is a value as Python's repr() writes it.
func pythonRepr(value any) string {
	switch v := value.(type) {
	case nil:
		return "None"
	case bool:
		if v {
			return "True"
		}
		return "False"
	case string:
		return pythonQuote(v)
	case []any:
		parts := make([]string, len(v))
		for i, one := range v {
			parts[i] = pythonRepr(one)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case *dict:
		parts := make([]string, len(v.keys))
		for i, key := range v.keys {
			parts[i] = pythonQuote(key) + ": " + pythonRepr(v.values[key])
		}
		return "{" + strings.Join(parts, ", ") + "}"
	default:
		return fmt.Sprint(v)
	}
}

func pythonQuote(s string) string {
	quote := "'"
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = `"`
	}
	escaped := strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s)
	if quote == "'" {
		escaped = strings.ReplaceAll(escaped, "'", `\'`)
	}
	return quote + escaped + quote
}
