package core

import (
	"encoding/json"
	"maps"
	"net/http"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// checkJSON refuses a body that is not JSON, which services do before they read it. Neutron's core resources have another message than its
// extensions.
func checkJSON(q *Request) *wire.Error {
	if len(q.Body) == 0 || q.HTTP.Method == http.MethodGet || q.HTTP.Method == http.MethodDelete {
		return nil
	}
	if !json.Valid(q.Body) {
		switch q.service {
		case services.Keystone:
			return Expecting("valid JSON", "request body")
		case services.Neutron:
			if isCore(q) {
				return BadRequest("HTTPBadRequest", "Body contains invalid data")
			}
			return BadRequest("MalformedRequestBody", "Malformed request body: Cannot understand JSON.")
		case services.Octavia:
			return BadRequest("", "Request is not in valid JSON format")
		default:
			return BadRequest("", "Malformed request body")
		}
	}
	if q.service == services.Neutron {
		return checkNeutronJSON(q)
	}
	return nil
}

func checkNeutronJSON(q *Request) *wire.Error {
	var envelope map[string]json.RawMessage
	isObject := json.Unmarshal(q.Body, &envelope) == nil
	switch {
	case isCore(q) && !isObject:
		return BadRequest("HTTPBadRequest", "Body contains invalid data")
	case !isCore(q) && len(envelope) == 0 && !strings.HasSuffix(q.HTTP.URL.Path, "_router_interface"):
		return BadRequest("HTTPBadRequest", "Resource body required")
	case q.HTTP.Method != http.MethodPost:
		return nil
	}
	many := strings.ReplaceAll(path.Base(q.HTTP.URL.Path), "-", "_")
	one := strings.TrimSuffix(many, "s")
	raw, isBulk := envelope[many]
	if !isBulk {
		return checkObjects(one, envelope[one])
	}
	if slices.Contains([]string{"routers", "floatingips", "subnetpools"}, many) {
		return BadRequest("HTTPBadRequest", "Bulk operation not supported")
	}
	var raws []json.RawMessage
	if json.Unmarshal(raw, &raws) != nil || len(raws) == 0 {
		return BadRequest("HTTPBadRequest", "Resources required")
	}
	return checkObjects(one, raws...)
}

// checkObjects refuses other types in the place of an object. A missing one is handled by the service.
func checkObjects(kind string, raws ...json.RawMessage) *wire.Error {
	for _, raw := range raws {
		var attributes map[string]json.RawMessage
		if len(raw) > 0 && json.Unmarshal(raw, &attributes) != nil {
			return BadRequest("HTTPBadRequest", "Object '%s' contains invalid data", kind)
		}
	}
	return nil
}

// isCore reports whether a call to Neutron is for a core resource.
func isCore(q *Request) bool {
	parts := strings.Split(strings.TrimPrefix(q.HTTP.URL.Path, NeutronPrefix+"/v2.0/"), "/")
	return len(parts) <= 2 && slices.Contains([]string{"networks", "subnets", "ports"}, parts[0])
}

// UnknownAttributes names attributes that a kind has neither in responses nor in requests.
func UnknownAttributes[T any](raw json.RawMessage, into any) string {
	shown, sent := JsonFields(reflect.TypeFor[T]()), JsonFields(reflect.TypeOf(into).Elem())
	var attributes map[string]json.RawMessage
	_ = json.Unmarshal(raw, &attributes) // it has been read before
	maps.DeleteFunc(attributes, func(name string, _ json.RawMessage) bool { return shown[name] != nil || sent[name] != nil })
	return strings.Join(slices.Sorted(maps.Keys(attributes)), ", ")
}

// Malformed is Keystone's error for a request that it cannot parse.
func Malformed(what string) *wire.Error {
	return BadRequest("", "%s. The server could not comply with the request since it is either malformed or otherwise incorrect. "+
		"The client is assumed to be in error.", what)
}

// Expecting is Keystone's error for a request that lacks something.
func Expecting(what, where string) *wire.Error {
	return Malformed("Expecting to find " + what + " in " + where)
}

// OrNull returns nil, which is encoded as null, for an empty string.
func OrNull(value string) any {
	if value == "" {
		return nil
	}
	return value
}

// Unquoted is a number that may be encoded as a string.
func Unquoted(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// UUIDForm matches UUIDs, also without dashes.
var UUIDForm = regexp.MustCompile(`^[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$`)
