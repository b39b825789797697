package services

import (
	"fmt"
	"net/http"

	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// Response returns an error in the format of the service.
func Response(s wire.Service, e *wire.Error) wire.Response {
	filled := *e
	if filled.Message == "" {
		filled.Message = http.StatusText(e.Status)
	}
	response := errorResponse(s, &filled)
	if e.RetryAfter > 0 || isQuotaError(s, e) {
		response.Header.Set("Retry-After", e.RetryAfterSeconds())
	}
	return response
}

// isQuotaError reports whether the error is an exceeded quota. Nova, Cinder and Manila respond with "request too large" and a Retry-After of 0 then.
func isQuotaError(s wire.Service, e *wire.Error) bool {
	return e.Status == http.StatusRequestEntityTooLarge && (s == Nova || s == Cinder || s == Manila)
}

func errorResponse(s wire.Service, e *wire.Error) wire.Response {
	if e.Status == http.StatusUnauthorized && s != Glance {
		return keystoneError(e) // its middleware is in front of every service except Glance
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

func keystoneError(e *wire.Error) wire.Response {
	return wire.JSON(e.Status, map[string]any{"error": map[string]any{
		"code": e.Status, "title": http.StatusText(e.Status), "message": e.Message,
	}})
}

func neutronError(e *wire.Error) wire.Response {
	kind := e.Type
	if kind == "" {
		kind = webobClass(e.Status)
	}
	return wire.JSON(e.Status, map[string]any{"NeutronError": map[string]any{"type": kind, "message": e.Message, "detail": ""}})
}

// webobClass is the class name of Python's webob for a status, Neutron's default type.
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
func novaError(e *wire.Error) wire.Response {
	kind := e.Type
	if kind == "" {
		kind = faultName(e.Status)
	}
	fault := map[string]any{"code": e.Status, "message": e.Message}
	if e.RetryAfter > 0 || e.Status == http.StatusRequestEntityTooLarge {
		fault["retryAfter"] = e.RetryAfterSeconds()
	}
	return wire.JSON(e.Status, map[string]any{kind: fault})
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

func octaviaError(e *wire.Error) wire.Response {
	code := "Client"
	if e.Status >= http.StatusInternalServerError {
		code = "Server"
	}
	return wire.JSON(e.Status, map[string]any{"faultcode": code, "faultstring": e.Message, "debuginfo": nil})
}

// glanceError is webob's error page for clients that accept JSON.
func glanceError(e *wire.Error) wire.Response {
	return wire.JSON(e.Status, WebobErrorBody(e.Status, e.Message))
}

// WebobErrorBody is the body of an error in webob's format, in which all services respond to unknown paths.
func WebobErrorBody(status int, message string) map[string]any {
	title := http.StatusText(status)
	return map[string]any{"message": message + "<br /><br />\n\n\n", "code": fmt.Sprintf("%d %s", status, title), "title": title}
}
