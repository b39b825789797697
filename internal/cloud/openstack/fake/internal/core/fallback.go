package core

import (
	"fmt"
	"net/http"
	"regexp"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// RegisterFallback answers for all paths and methods of a service without a route. Most services validate the token first if the path has a
// version.
func (c *Cloud) RegisterFallback(e Endpoint) {
	versioned := regexp.MustCompile("^" + e.Prefix + "/v[0-9]")
	c.RouteWithoutToken(e, "/", func(q *Request) (Reply, error) {
		if e.Service != services.Keystone && versioned.MatchString(q.HTTP.URL.Path) {
			if _, err := c.Identifier(q.HTTP.Header.Get("X-Auth-Token"), e.Service); err != nil {
				return Reply{}, err
			}
		}
		if c.hasOtherMethods(e, q.HTTP) {
			return methodNotAllowed(e.Service, q.HTTP.Method)
		}
		return PathNotFound(e.Service, versioned.MatchString(q.HTTP.URL.Path))
	})
}

// hasOtherMethods reports whether the path of a request exists with another method.
func (c *Cloud) hasOtherMethods(e Endpoint, r *http.Request) bool {
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := c.Mux.Handler(other); pattern != e.Prefix+"/" {
			return true
		}
	}
	return false
}

// methodNotAllowed is the response for a path that exists with another method. For Nova and Cinder it does not exist then.
func methodNotAllowed(service wire.Service, method string) (Reply, error) {
	const status = http.StatusMethodNotAllowed
	switch service {
	case services.Keystone:
		return Reply{Status: status, Body: map[string]any{"message": "The method is not allowed for the requested URL."}}, nil
	case services.Neutron:
		return Reply{}, Fail(status, "HTTPMethodNotAllowed", "The server could not comply with the request since it is either malformed or otherwise incorrect.")
	case services.Octavia:
		return Reply{Status: status, Body: map[string]any{"code": status, "title": http.StatusText(status), "description": ""}}, nil
	case services.Glance:
		return Reply{Status: status, Body: map[string]any{
			"message": fmt.Sprintf("The method %s is not allowed for this resource. <br /><br />\n", method),
			"code":    fmt.Sprintf("%d %s", status, http.StatusText(status)), "title": http.StatusText(status),
		}}, nil
	default:
		return PathNotFound(service, true)
	}
}

// PathNotFound returns a service's response to an unknown path.
func PathNotFound(service wire.Service, versioned bool) (Reply, error) {
	const status = http.StatusNotFound
	switch {
	case service == services.Keystone:
		return Reply{Status: status, page: "<!doctype html>\n<html lang=en>\n<title>404 Not Found</title>\n<h1>Not Found</h1>\n" +
			"<p>The requested URL was not found on the server. If you entered the URL manually please check your spelling and try again.</p>\n"}, nil
	case service == services.Neutron && versioned:
		return Reply{}, NotFound("HTTPNotFound", "The resource could not be found.")
	case service == services.Neutron:
		return Reply{Status: status, Body: map[string]any{"code": status, "title": http.StatusText(status), "description": nil}}, nil
	case service == services.Octavia:
		return Reply{Status: status, Body: map[string]any{"code": status, "title": http.StatusText(status), "description": ""}}, nil
	default:
		return Reply{Status: status, Body: services.WebobErrorBody(status, "The resource could not be found.")}, nil
	}
}
