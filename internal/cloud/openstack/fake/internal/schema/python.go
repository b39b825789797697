package schema

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Dict is an object of JSON that keeps the order of its attributes, which Python's messages show.
type Dict struct {
	Keys   []string
	Values map[string]any
}

func decodeOrdered(decoder *json.Decoder) (any, error) {
	decoder.UseNumber()
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		found := &Dict{Values: map[string]any{}}
		for decoder.More() {
			key, err := decoder.Token()
			if err != nil {
				return nil, err
			}
			name, _ := key.(string)
			if found.Values[name], err = decodeOrdered(decoder); err != nil {
				return nil, err
			}
			found.Keys = append(found.Keys, name)
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

// PythonText is a value as Python's str() writes it.
func PythonText(value any) string {
	if s, isText := value.(string); isText {
		return s
	}
	return PythonRepr(value)
}

// PythonRepr is a value as Python's repr() writes it.
func PythonRepr(value any) string {
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
			parts[i] = PythonRepr(one)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case *Dict:
		parts := make([]string, len(v.Keys))
		for i, key := range v.Keys {
			parts[i] = pythonQuote(key) + ": " + PythonRepr(v.Values[key])
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
