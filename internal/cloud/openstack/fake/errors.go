package fake

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"strconv"
	"time"
)

// Error is an answer of a service that says no. Each service writes it in its own dialect, see the dialect functions.
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

func fail(status int, kind, format string, args ...any) *Error {
	return &Error{Status: status, Type: kind, Message: fmt.Sprintf(format, args...)}
}

func badRequest(kind, format string, args ...any) *Error {
	return fail(http.StatusBadRequest, kind, format, args...)
}

func notFound(kind, format string, args ...any) *Error {
	return fail(http.StatusNotFound, kind, format, args...)
}

func conflict(kind, format string, args ...any) *Error {
	return fail(http.StatusConflict, kind, format, args...)
}

func forbidden(kind, format string, args ...any) *Error {
	return fail(http.StatusForbidden, kind, format, args...)
}

// unauthenticated is what Keystone, and its middleware in front of every other service, answers.
func unauthenticated() *Error {
	return fail(http.StatusUnauthorized, "Unauthorized", "The request you have made requires authentication.")
}

func (e *Error) orDefault() *Error {
	out := *e
	if out.Message == "" {
		out.Message = http.StatusText(e.Status)
	}
	return &out
}

func (e *Error) writeHeader(h http.Header) {
	if e.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int((e.RetryAfter+time.Second-1)/time.Second)))
	}
	if e.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Keystone uri="/identity"`)
	}
}

// dialect turns an error into the body that one service sends, and its content type.
type dialect func(*Error) (body []byte, contentType string)

func jsonBody(v any) ([]byte, string) {
	body, err := json.Marshal(v)
	if err != nil {
		return []byte("encoding the answer: " + err.Error()), "text/plain; charset=utf-8"
	}
	return body, "application/json"
}

func keystoneDialect(e *Error) ([]byte, string) {
	return jsonBody(map[string]any{"error": map[string]any{
		"code": e.Status, "title": http.StatusText(e.Status), "message": e.Message,
	}})
}

func neutronDialect(e *Error) ([]byte, string) {
	if e.Status == http.StatusUnauthorized {
		return keystoneDialect(e)
	}
	kind := e.Type
	if kind == "" {
		kind = webobClass(e.Status)
	}
	return jsonBody(map[string]any{"NeutronError": map[string]any{"type": kind, "message": e.Message, "detail": ""}})
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
func novaDialect(e *Error) ([]byte, string) {
	if e.Status == http.StatusUnauthorized {
		return keystoneDialect(e)
	}
	kind := e.Type
	if kind == "" {
		kind = faultName(e.Status)
	}
	fault := map[string]any{"code": e.Status, "message": e.Message}
	if e.RetryAfter > 0 {
		fault["retryAfter"] = strconv.Itoa(int((e.RetryAfter + time.Second - 1) / time.Second))
	}
	return jsonBody(map[string]any{kind: fault})
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

func octaviaDialect(e *Error) ([]byte, string) {
	if e.Status == http.StatusUnauthorized {
		return keystoneDialect(e)
	}
	code := "Client"
	if e.Status >= http.StatusInternalServerError {
		code = "Server"
	}
	return jsonBody(map[string]any{"faultcode": code, "faultstring": e.Message, "debuginfo": nil})
}

// glanceDialect is a small HTML page: Glance lets webob render its errors.
func glanceDialect(e *Error) ([]byte, string) {
	if e.Status == http.StatusUnauthorized {
		return keystoneDialect(e)
	}
	title := fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status))
	page := fmt.Sprintf("<html>\n <head>\n  <title>%s</title>\n </head>\n <body>\n  <h1>%s</h1>\n  %s<br /><br />\n\n\n </body>\n</html>",
		title, title, html.EscapeString(e.Message))
	return []byte(page), "text/html; charset=UTF-8"
}
