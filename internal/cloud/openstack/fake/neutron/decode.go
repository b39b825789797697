package neutron

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/schema"
)

// The longest name, description and tag.
const maxText = 255

// decodeNeutron decodes attributes, with Neutron's errors for invalid ones.
func decodeNeutron[T any](raw json.RawMessage, into any, verb string) error {
	if err := core.DecodeStrictly(raw, into); err != nil {
		return neutronDecodeError[T](raw, into, err, verb)
	}
	return checkTexts(reflect.ValueOf(into).Elem())
}

func neutronDecodeError[T any](raw json.RawMessage, into any, err *core.DecodeError, verb string) error {
	if err.Unknown == "" {
		return wrongType(raw, into, err)
	}
	_, exists := core.JsonFields(reflect.TypeFor[T]())[err.Unknown]
	switch {
	case !exists:
		return core.BadRequest("HTTPBadRequest", "Unrecognized attribute(s) '%s'", core.UnknownAttributes[T](raw, into))
	case verb == http.MethodPut:
		return core.BadRequest("HTTPBadRequest", "Cannot update read-only attribute %s", err.Unknown)
	default:
		return core.BadRequest("HTTPBadRequest", "Attribute '%s' not allowed in %s", err.Unknown, verb)
	}
}

// wrongType is the error for a value of another type than its attribute's.
func wrongType(raw json.RawMessage, into any, err *core.DecodeError) error {
	var sent map[string]any
	row := reflect.TypeOf(into).Elem()
	names := core.JsonFields(row)
	path := strings.Split(err.Field, ".") // it leads through embedded structs
	at := slices.IndexFunc(path, func(part string) bool { return names[part] != nil })
	if at < 0 || json.Unmarshal(raw, &sent) != nil {
		return core.BadRequest("HTTPBadRequest", "Body contains invalid data")
	}
	attribute := path[at]
	shown := schema.PythonText(sent[attribute])
	switch reflect.New(row.FieldByIndex(names[attribute]).Type).Interface().(type) {
	case *core.Opt[bool]:
		return invalid("'%s' cannot be converted to boolean", shown)
	case *core.Opt[int]:
		return invalid("'%s' is not an integer", shown)
	case *core.Opt[string]:
		return badValue(attribute, "'%s' is not a valid string", shown)
	case *core.Opt[[]AddressPair]:
		return core.BadRequest("HTTPBadRequest", "Allowed address pairs must be a list.")
	default:
		return badValue(attribute, "%s", wrongList(attribute, shown))
	}
}

// wrongList is the error for a value that is not a list.
func wrongList(attribute, shown string) string {
	if attribute == "dns_nameservers" && shown != "" { // Python goes through the letters of a text
		return fmt.Sprintf("'%[1]c' is not a valid nameserver. '%[1]c' is not a valid IP address", shown[0])
	}
	what := map[string]string{
		"fixed_ips": "fixed IP", "host_routes": "hostroute", "routes": "hostroute", "allocation_pools": "IP pool",
	}[attribute]
	if what != "" {
		return fmt.Sprintf("Invalid data format for %s: '%s'", what, shown)
	}
	return fmt.Sprintf("'%s' is not a list", shown)
}

// badValue is Neutron's error for the value of an attribute.
func badValue(attribute, format string, args ...any) error {
	return core.BadRequest("HTTPBadRequest", "Invalid input for %s. Reason: %s.", attribute, fmt.Sprintf(format, args...))
}

// checkTexts refuses names and descriptions that are null or too long.
func checkTexts(in reflect.Value) error {
	for name, index := range core.JsonFields(in.Type()) {
		text, isText := reflect.TypeAssert[core.Opt[string]](in.FieldByIndex(index))
		if !isText || !text.Set || name != "name" && name != "description" && name != "device_id" && name != "device_owner" {
			continue
		}
		if text.Null {
			return badValue(name, "'None' is not a valid string")
		}
		if len([]rune(text.Value)) > maxText {
			return badValue(name, "'%s' exceeds maximum length of %d", text.Value, maxText)
		}
	}
	return nil
}

// checkID refuses other strings than UUIDs.
func checkID(attribute string, id core.Opt[string]) error {
	switch {
	case id.Null:
		return badValue(attribute, "'None' is not a valid UUID")
	case id.Set && !isUUID(id.Value):
		return badValue(attribute, "'%s' is not a valid UUID", id.Value)
	}
	return nil
}

func isUUID(text string) bool {
	if len(text) != 36 {
		return false
	}
	for i, r := range text {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (r == '-') || !dash && !strings.ContainsRune("0123456789abcdefABCDEF", r) {
			return false
		}
	}
	return true
}

// checkAddress refuses other strings than addresses.
func checkAddress(attribute string, address core.Opt[string]) error {
	if !address.Given() {
		return nil
	}
	if _, err := netip.ParseAddr(address.Value); err != nil {
		return badValue(attribute, "'%s' is not a valid IP address", address.Value)
	}
	return nil
}
