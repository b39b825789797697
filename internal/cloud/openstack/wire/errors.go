package wire

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Error is an answer of a service that says no. Each service puts it into words of its own, see AnswerOf.
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

// AnswerOf is the error in the words of the service.
func (e *Error) AnswerOf(s Service) Answer {
	said := *e
	if said.Message == "" {
		said.Message = http.StatusText(e.Status)
	}
	answer := s.dialect(&said)
	if e.RetryAfter > 0 || e.isFull(s) {
		answer.Header.Set("Retry-After", e.retryAfter())
	}
	return answer
}

// isFull reports whether the error is about a quota. Nova and its kin call that a request too large, and bid to try again in no
// time at all.
func (e *Error) isFull(s Service) bool {
	return e.Status == http.StatusRequestEntityTooLarge && (s == Nova || s == Cinder || s == Manila)
}

// retryAfter is in whole seconds, rounded up.
func (e *Error) retryAfter() string {
	return strconv.Itoa(int((e.RetryAfter + time.Second - 1) / time.Second))
}

func (s Service) dialect(e *Error) Answer {
	if e.Status == http.StatusUnauthorized && s != Glance {
		return keystoneDialect(e) // its middleware is in front of every service, but lets everybody pass to Glance
	}
	switch s {
	case Neutron:
		return neutronDialect(e)
	case Octavia:
		return octaviaDialect(e)
	case Glance:
		return glanceDialect(e)
	case Nova, Cinder, Manila:
		return novaDialect(e)
	default:
		return keystoneDialect(e)
	}
}

func keystoneDialect(e *Error) Answer {
	return JSON(e.Status, map[string]any{"error": map[string]any{
		"code": e.Status, "title": http.StatusText(e.Status), "message": e.Message,
	}})
}

func neutronDialect(e *Error) Answer {
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

// novaDialect is also Cinder's and Manila's: the fault's name is the only key.
func novaDialect(e *Error) Answer {
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

func octaviaDialect(e *Error) Answer {
	code := "Client"
	if e.Status >= http.StatusInternalServerError {
		code = "Server"
	}
	return JSON(e.Status, map[string]any{"faultcode": code, "faultstring": e.Message, "debuginfo": nil})
}

// glanceDialect is what webob makes of its page for people where a client accepts JSON.
func glanceDialect(e *Error) Answer { return JSON(e.Status, Page(e.Status, e.Message)) }

// Page is the body of an error for which a service leaves the words to webob, as all of them do for paths that they do not
// have.
func Page(status int, message string) map[string]any {
	title := http.StatusText(status)
	return map[string]any{"message": message + "<br /><br />\n\n\n", "code": fmt.Sprintf("%d %s", status, title), "title": title}
}
