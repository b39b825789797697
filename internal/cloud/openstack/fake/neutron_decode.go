package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"reflect"
	"slices"
	"strings"
)

// The longest name, description and tag.
const maxText = 255

// decodeNeutron decodes attributes and answers for wrong ones as Neutron does.
func decodeNeutron[T any](raw json.RawMessage, into any, verb string) error {
	if err := decodeStrictly(raw, into); err != nil {
		return neutronDecodeError[T](raw, into, err, verb)
	}
	return checkTexts(reflect.ValueOf(into).Elem())
}

func neutronDecodeError[T any](raw json.RawMessage, into any, err *decodeError, verb string) error {
	if err.unknown == "" {
		return wrongType(raw, into, err)
	}
	_, exists := jsonFields(reflect.TypeFor[T]())[err.unknown]
	switch {
	case !exists:
		return badRequest("HTTPBadRequest", "Unrecognized attribute(s) '%s'", unknownAttributes[T](raw, into))
	case verb == http.MethodPut:
		return badRequest("HTTPBadRequest", "Cannot update read-only attribute %s", err.unknown)
	default:
		return badRequest("HTTPBadRequest", "Attribute '%s' not allowed in %s", err.unknown, verb)
	}
}

// wrongType says that a value has not the type that its attribute has.
func wrongType(raw json.RawMessage, into any, err *decodeError) error {
	var sent map[string]any
	row := reflect.TypeOf(into).Elem()
	names := jsonFields(row)
	path := strings.Split(err.field, ".") // it leads through embedded structs
	at := slices.IndexFunc(path, func(part string) bool { return names[part] != nil })
	if at < 0 || json.Unmarshal(raw, &sent) != nil {
		return badRequest("HTTPBadRequest", "Body contains invalid data")
	}
	attribute := path[at]
	shown := pythonText(sent[attribute])
	switch reflect.New(row.FieldByIndex(names[attribute]).Type).Interface().(type) {
	case *opt[bool]:
		return invalid("'%s' cannot be converted to boolean", shown)
	case *opt[int]:
		return invalid("'%s' is not an integer", shown)
	case *opt[string]:
		return badValue(attribute, "'%s' is not a valid string", shown)
	case *opt[[]AddressPair]:
		return badRequest("HTTPBadRequest", "Allowed address pairs must be a list.")
	default:
		return badValue(attribute, "%s", wrongList(attribute, shown))
	}
}

// wrongList says that a value is not the list that its attribute is.
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

// badValue is how Neutron refuses the value of an attribute.
func badValue(attribute, format string, args ...any) error {
	return badRequest("HTTPBadRequest", "Invalid input for %s. Reason: %s.", attribute, fmt.Sprintf(format, args...))
}

// checkTexts refuses names and descriptions that are null or too long.
func checkTexts(in reflect.Value) error {
	for name, index := range jsonFields(in.Type()) {
		text, isText := reflect.TypeAssert[opt[string]](in.FieldByIndex(index))
		if !isText || !text.set || name != "name" && name != "description" && name != "device_id" && name != "device_owner" {
			continue
		}
		if text.null {
			return badValue(name, "'None' is not a valid string")
		}
		if len([]rune(text.v)) > maxText {
			return badValue(name, "'%s' exceeds maximum length of %d", text.v, maxText)
		}
	}
	return nil
}

// checkID refuses what is no UUID.
func checkID(attribute string, id opt[string]) error {
	switch {
	case id.null:
		return badValue(attribute, "'None' is not a valid UUID")
	case id.set && !isUUID(id.v):
		return badValue(attribute, "'%s' is not a valid UUID", id.v)
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

// checkAddress refuses what is no address.
func checkAddress(attribute string, address opt[string]) error {
	if !address.given() {
		return nil
	}
	if _, err := netip.ParseAddr(address.v); err != nil {
		return badValue(attribute, "'%s' is not a valid IP address", address.v)
	}
	return nil
}
