// Package services has the names of OpenStack's services in call logs, normalizes their paths, and formats errors as they do. It must not
// depend on what the services do, or on a client.
package services

import (
	"net/http"

	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// The services whose calls are logged, by the names of their projects.
const (
	Keystone wire.Service = "keystone"
	Neutron  wire.Service = "neutron"
	Nova     wire.Service = "nova"
	Glance   wire.Service = "glance"
	Octavia  wire.Service = "octavia"
	Manila   wire.Service = "manila"
	Cinder   wire.Service = "cinder"
)

// IsLogin reports whether a call requests a token. The path is normalized.
func IsLogin(s wire.Service, method, path string) bool {
	return s == Keystone && method == http.MethodPost && path == "/v3/auth/tokens"
}
