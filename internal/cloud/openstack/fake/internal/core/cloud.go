package core

import (
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// Cloud is the part of the cloud that all services share: its configuration, the HTTP server, quotas and transitions.
type Cloud struct {
	*wire.Tap

	Mux *http.ServeMux
	// identifier returns the caller of a token. Keystone sets it.
	Identifier func(token string, service wire.Service) (*Identity, *wire.Error)

	clockOffset atomic.Int64 // nanoseconds

	Mu      sync.Mutex // guards everything below, and the state of all services
	Config  Config
	Quotas  map[string]map[string]int // project ID, resource, limit
	pending map[string]*transition    // by ID of the resource
}

// New returns a cloud without services.
func New(settings Config) *Cloud {
	return &Cloud{
		Tap: new(wire.Tap), Mux: http.NewServeMux(), Config: settings,
		Quotas: map[string]map[string]int{}, pending: map[string]*transition{},
	}
}
