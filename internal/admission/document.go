package admission

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime"
)

// isAbsent reports whether a document is missing.
func isAbsent(document *runtime.RawExtension) bool {
	return document == nil || len(document.Raw) == 0 || string(document.Raw) == "null"
}

// SetMember returns the document, a JSON object, with a value at a path of members. Everything else is kept, also what is not known here. Objects on
// the path are created.
func SetMember(document json.RawMessage, value any, path ...string) (json.RawMessage, error) {
	if len(path) == 0 {
		return json.Marshal(value)
	}
	members := map[string]json.RawMessage{}
	if len(document) > 0 {
		if err := json.Unmarshal(document, &members); err != nil {
			return nil, err
		}
	}
	if members == nil { // null
		members = map[string]json.RawMessage{}
	}
	member, err := SetMember(members[path[0]], value, path[1:]...)
	if err != nil {
		return nil, err
	}
	members[path[0]] = member
	return json.Marshal(members)
}
