package core

import (
	"fmt"
	"net/http"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// Fail returns an error with a status, a machine-readable type and a message.
func Fail(status int, kind, format string, args ...any) *wire.Error {
	return &wire.Error{Status: status, Type: kind, Message: fmt.Sprintf(format, args...)}
}

// BadRequest returns an error with status 400.
func BadRequest(kind, format string, args ...any) *wire.Error {
	return Fail(http.StatusBadRequest, kind, format, args...)
}

// NotFound returns an error with status 404.
func NotFound(kind, format string, args ...any) *wire.Error {
	return Fail(http.StatusNotFound, kind, format, args...)
}

// Conflict returns an error with status 409.
func Conflict(kind, format string, args ...any) *wire.Error {
	return Fail(http.StatusConflict, kind, format, args...)
}

// Forbidden returns an error with status 403.
func Forbidden(kind, format string, args ...any) *wire.Error {
	return Fail(http.StatusForbidden, kind, format, args...)
}

// Unauthenticated is the response of Keystone, and of its middleware in all other services.
func Unauthenticated() *wire.Error {
	return Fail(http.StatusUnauthorized, "Unauthorized", "The request you have made requires authentication.")
}

// UnauthenticatedAt is the response of a service that does not use the middleware's response.
func UnauthenticatedAt(service wire.Service) *wire.Error {
	if service == services.Glance {
		return Fail(http.StatusUnauthorized, "", "This server could not verify that you are authorized to access the document you requested. "+
			"Either you supplied the wrong credentials (e.g., bad password), or your browser does not understand how to supply the credentials required.")
	}
	return Unauthenticated()
}
