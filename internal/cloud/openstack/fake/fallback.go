package fake

import (
	"fmt"
	"net/http"
	"regexp"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// registerFallback answers for every path and method of a service that has no route. Most services look at the token first where the
// path bears a version.
func (c *shared) registerFallback(e endpoint) {
	versioned := regexp.MustCompile("^" + e.prefix + "/v[0-9]")
	c.routeWithoutToken(e, "/", func(q *request) (reply, error) {
		if e.service != wire.Keystone && versioned.MatchString(q.http.URL.Path) {
			if _, err := c.identifier(q.http.Header.Get("X-Auth-Token"), e.service); err != nil {
				return reply{}, err
			}
		}
		if c.hasOtherMethods(e, q.http) {
			return methodNotAllowed(e.service, q.http.Method)
		}
		return pathNotFound(e.service, versioned.MatchString(q.http.URL.Path))
	})
}

// hasOtherMethods reports whether there is something at the path of a request, for another method.
func (c *shared) hasOtherMethods(e endpoint, r *http.Request) bool {
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := c.mux.Handler(other); pattern != e.prefix+"/" {
			return true
		}
	}
	return false
}

// methodNotAllowed is what is answered for a method that a path does not have. For Nova and Cinder a path with another method is
// another path.
func methodNotAllowed(service wire.Service, method string) (reply, error) {
	const status = http.StatusMethodNotAllowed
	switch service {
	case wire.Keystone:
		return reply{status: status, body: map[string]any{"message": "The method is not allowed for the requested URL."}}, nil
	case wire.Neutron:
		return reply{}, core.Fail(status, "HTTPMethodNotAllowed", "The server could not comply with the request since it is either malformed or otherwise incorrect.")
	case wire.Octavia:
		return reply{status: status, body: map[string]any{"code": status, "title": http.StatusText(status), "description": ""}}, nil
	case wire.Glance:
		return reply{status: status, body: map[string]any{
			"message": fmt.Sprintf("The method %s is not allowed for this resource. <br /><br />\n", method),
			"code":    fmt.Sprintf("%d %s", status, http.StatusText(status)), "title": http.StatusText(status),
		}}, nil
	default:
		return pathNotFound(service, true)
	}
}

func pathNotFound(service wire.Service, versioned bool) (reply, error) {
	const status = http.StatusNotFound
	switch {
	case service == wire.Keystone:
		return reply{status: status, page: "<!doctype html>\n<html lang=en>\n<title>404 Not Found</title>\n<h1>Not Found</h1>\n" +
			"<p>The requested URL was not found on the server. If you entered the URL manually please check your spelling and try again.</p>\n"}, nil
	case service == wire.Neutron && versioned:
		return reply{}, core.NotFound("HTTPNotFound", "The resource could not be found.")
	case service == wire.Neutron:
		return reply{status: status, body: map[string]any{"code": status, "title": http.StatusText(status), "description": nil}}, nil
	case service == wire.Octavia:
		return reply{status: status, body: map[string]any{"code": status, "title": http.StatusText(status), "description": ""}}, nil
	default:
		return reply{status: status, body: wire.WebobErrorBody(status, "The resource could not be found.")}, nil
	}
}
