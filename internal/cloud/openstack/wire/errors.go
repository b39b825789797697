package wire

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Error is an answer of a service that says no. Each service puts it into words of its own, see ResponseFor.
type Error struct {
	// Status is the HTTP status code.
	Status int
	// Type is the machine-readable name: the exception class in Neutron, the fault name in Nova, the fault code in
	// Octavia. Empty means: what the service derives from the status.
	Type    string
	Message string
	// RetryAfter is sent as a Retry-After header, in whole seconds rounded up, when it is not zero.
	RetryAfter time.Duration
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%d %s: %s", e.Status, e.Type, e.Message) }

// ResponseFor is the error in the words of the service.
func (e *Error) ResponseFor(s Service) Response {
	filled := *e
	if filled.Message == "" {
		filled.Message = http.StatusText(e.Status)
	}
	response := s.errorResponse(&filled)
	if e.RetryAfter > 0 || e.isQuotaError(s) {
		response.Header.Set("Retry-After", e.retryAfter())
	}
	return response
}

// isQuotaError reports whether the error is about a quota. Nova and its kin call that a request too large, and bid to try again in no
// time at all.
func (e *Error) isQuotaError(s Service) bool {
	return e.Status == http.StatusRequestEntityTooLarge && (s == Nova || s == Cinder || s == Manila)
}

// retryAfter is in whole seconds, rounded up.
func (e *Error) retryAfter() string {
	return strconv.Itoa(int((e.RetryAfter + time.Second - 1) / time.Second))
}

func (s Service) errorResponse(e *Error) Response {
	if e.Status == http.StatusUnauthorized && s != Glance {
		return keystoneError(e) // its middleware is in front of every service, but lets everybody pass to Glance
	}
	switch s {
	case Neutron:
		return neutronError(e)
	case Octavia:
		return octaviaError(e)
	case Glance:
		return glanceError(e)
	case Nova, Cinder, Manila:
		return novaError(e)
	default:
		return keystoneError(e)
	}
}

func keystoneError(e *Error) Response {
	return JSON(e.Status, map[string]any{"error": map[string]any{
		"code": e.Status, "title": http.StatusText(e.Status), "message": e.Message,
	}})
}

func neutronError(e *Error) Response {
	kind := e.Type
	if kind == "" {
		kind = webobClass(e.Status)
	}
	return JSON(e.Status, map[string]any{"NeutronError": map[string]any{"type": kind, "message": e.Message, "detail": ""}})
}

// webobClass is the class name of Python's webob for a status, which Neutron gives as type when it has nothing better.
func webobClass(status int) string {
	switch status {
	case http.StatusInternalServerError:
		return "HTTPInternalServerError"
	case http.StatusBadRequest:
		return "HTTPBadRequest"
	case http.StatusNotFound:
		return "HTTPNotFound"
	case http.StatusForbidden:
		return "HTTPForbidden"
	case http.StatusConflict:
		return "HTTPConflict"
	case http.StatusServiceUnavailable:
		return "HTTPServiceUnavailable"
	case http.StatusTooManyRequests:
		return "HTTPTooManyRequests"
	default:
		return "HTTPClientError"
	}
}

// novaError is also Cinder's and Manila's: the fault's name is the only key.
func novaError(e *Error) Response {
	kind := e.Type
	if kind == "" {
		kind = faultName(e.Status)
	}
	fault := map[string]any{"code": e.Status, "message": e.Message}
	if e.RetryAfter > 0 || e.Status == http.StatusRequestEntityTooLarge {
		fault["retryAfter"] = e.retryAfter()
	}
	return JSON(e.Status, map[string]any{kind: fault})
}

func faultName(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "badRequest"
	case http.StatusForbidden:
		return "forbidden"
	case http.StatusNotFound:
		return "itemNotFound"
	case http.StatusMethodNotAllowed:
		return "badMethod"
	case http.StatusNotAcceptable:
		return "notAcceptable"
	case http.StatusConflict:
		return "conflictingRequest"
	case http.StatusRequestEntityTooLarge, http.StatusTooManyRequests:
		return "overLimit"
	case http.StatusNotImplemented:
		return "notImplemented"
	case http.StatusServiceUnavailable:
		return "serviceUnavailable"
	default:
		return "computeFault"
	}
}

func octaviaError(e *Error) Response {
	code := "Client"
	if e.Status >= http.StatusInternalServerError {
		code = "Server"
	}
	return JSON(e.Status, map[string]any{"faultcode": code, "faultstring": e.Message, "debuginfo": nil})
}

// glanceError is what webob makes of its page for people where a client accepts JSON.
func glanceError(e *Error) Response { return JSON(e.Status, WebobErrorBody(e.Status, e.Message)) }

// WebobErrorBody is the body of an error for which a service leaves the words to webob, as all of them do for paths that they do not
// have.
func WebobErrorBody(status int, message string) map[string]any {
	title := http.StatusText(status)
	return map[string]any{"message": message + "<br /><br />\n\n\n", "code": fmt.Sprintf("%d %s", status, title), "title": title}
}
