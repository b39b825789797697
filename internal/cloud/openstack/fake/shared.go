package fake

import (
	"net/http"
	"sync"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// shared is the part of the cloud that all services share: its configuration, the HTTP server, quotas and transitions.
type shared struct {
	*wire.Tap

	mux *http.ServeMux
	// identifier returns the caller that a token stands for. Keystone sets it.
	identifier func(token string, service wire.Service) (*identity, *wire.Error)

	mu      sync.Mutex // guards everything below, and the state of all services
	config  config
	quotas  map[string]map[string]int // project ID, resource, limit
	pending map[string]*transition    // by ID of the resource
}

// newShared returns a cloud without services.
func newShared(settings config) *shared {
	return &shared{
		Tap: new(wire.Tap), mux: http.NewServeMux(), config: settings,
		quotas: map[string]map[string]int{}, pending: map[string]*transition{},
	}
}
