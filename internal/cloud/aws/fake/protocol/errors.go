package protocol

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/model"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// Fail returns an error with a code and status 400, which most errors have.
func Fail(code, format string, args ...any) *wire.Error {
	return FailWith(http.StatusBadRequest, code, format, args...)
}

// FailWith returns an error with a status and a code.
func FailWith(status int, code, format string, args ...any) *wire.Error {
	return &wire.Error{Status: status, Type: code, Message: fmt.Sprintf(format, args...)}
}

// refusal words the errors of requests that do not fit the model. Services of the protocol "query" call most of them a failed validation. The only one of the
// protocol "rest-json" calls all of them a bad request.
type refusal model.Protocol

func (r refusal) isEC2() bool { return r == refusal(model.EC2) }

// code returns the code of the protocol "query", or that of "rest-json".
func (r refusal) code(query string) string {
	if r == refusal(model.RESTJSON) {
		return "BadRequest"
	}
	return query
}

func (r refusal) unknownRequest(method, path string) *wire.Error {
	return FailWith(http.StatusNotFound, "UnknownOperationException", "No operation has the request %s %s", method, path)
}

func (r refusal) malformed(err error) *wire.Error {
	return Fail(r.code("MalformedInput"), "The body of the request is not the JSON of its parameters: %v", err)
}

func (r refusal) unknownAction(action string) *wire.Error {
	if r.isEC2() {
		return Fail("InvalidAction", "The action %s is not valid for this web service.", action)
	}
	return Fail("InvalidAction", "Could not find operation %s", action)
}

func (r refusal) unknownParameter(name string) *wire.Error {
	if r.isEC2() {
		return Fail("UnknownParameter", "The parameter %s is not recognized", name)
	}
	return Fail(r.code("InvalidQueryParameter"), "The parameter %s is not recognized", name)
}

func (r refusal) missing(name string) *wire.Error {
	if r.isEC2() {
		return Fail("MissingParameter", "The request must contain the parameter %s", name)
	}
	return Fail(r.code("ValidationError"), "1 validation error detected: Value null at '%s' failed to satisfy constraint: Member must not be null", lowerFirst(name))
}

func (r refusal) notInEnum(name, value string, allowed []string) *wire.Error {
	if r.isEC2() {
		return Fail("InvalidParameterValue", "Value (%s) for parameter %s is invalid. Valid values are: %s", value, name, strings.Join(allowed, ", "))
	}
	return Fail(r.code("ValidationError"), "1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: Member must satisfy enum value set: [%s]",
		value, lowerFirst(name), strings.Join(allowed, ", "))
}

func (r refusal) wrongType(name, value string, wanted model.Type) *wire.Error {
	if r.isEC2() {
		return Fail("InvalidParameterValue", "Invalid value '%s' for %s. It must be of type %s", value, name, wanted)
	}
	return Fail(r.code("MalformedInput"), "Invalid value '%s' for %s. It must be of type %s", value, name, wanted)
}

func (r refusal) outOfRange(name, value string, shape *model.Shape) *wire.Error {
	limits := []string{}
	if shape.Min != nil {
		limits = append(limits, fmt.Sprintf("at least %v", *shape.Min))
	}
	if shape.Max != nil {
		limits = append(limits, fmt.Sprintf("at most %v", *shape.Max))
	}
	if r.isEC2() {
		return Fail("InvalidParameterValue", "Value ( %s ) for parameter %s is invalid. Expecting %s", value, name, strings.Join(limits, " and "))
	}
	return Fail(r.code("ValidationError"), "1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: Member must have %s",
		value, lowerFirst(name), strings.Join(limits, " and "))
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
