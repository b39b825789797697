package fake

import (
	"fmt"
	"net/http"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

func fail(status int, kind, format string, args ...any) *wire.Error {
	return &wire.Error{Status: status, Type: kind, Message: fmt.Sprintf(format, args...)}
}

func badRequest(kind, format string, args ...any) *wire.Error {
	return fail(http.StatusBadRequest, kind, format, args...)
}

func notFound(kind, format string, args ...any) *wire.Error {
	return fail(http.StatusNotFound, kind, format, args...)
}

func conflict(kind, format string, args ...any) *wire.Error {
	return fail(http.StatusConflict, kind, format, args...)
}

func forbidden(kind, format string, args ...any) *wire.Error {
	return fail(http.StatusForbidden, kind, format, args...)
}

// unauthenticated is what Keystone answers, and its middleware in front of every other service.
func unauthenticated() *wire.Error {
	return fail(http.StatusUnauthorized, "Unauthorized", "The request you have made requires authentication.")
}

// unauthenticatedAt is the same at a service that lets the middleware pass what it does not know, and looks itself.
func unauthenticatedAt(service wire.Service) *wire.Error {
	if service == wire.Glance {
		return fail(http.StatusUnauthorized, "", "This server could not verify that you are authorized to access the document you requested. "+
			"Either you supplied the wrong credentials (e.g., bad password), or your browser does not understand how to supply the credentials required.")
	}
	return unauthenticated()
}
