//go:build kind

package release

import (
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/process"
)

// localRegistry is a registry in this process, without TLS. Clients use none for a private address, and nodes none where UseRegistry says so.
type localRegistry struct {
	address string

	mutex    sync.Mutex
	requests map[string]bool // by method and path
}

func startRegistry(t *testing.T, ip string) *localRegistry {
	t.Helper()
	address, err := process.FreeAddressAt(ip)
	require.NoError(t, err)
	listener, err := net.Listen("tcp", address)
	require.NoError(t, err)
	r := &localRegistry{address: address, requests: map[string]bool{}}
	content := registry.New(registry.WithReferrersSupport(true), registry.Logger(log.New(io.Discard, "", 0)))
	server := &http.Server{
		ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
			r.mutex.Lock()
			r.requests[request.Method+" "+request.URL.Path] = true
			r.mutex.Unlock()
			content.ServeHTTP(response, request)
		}),
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return r
}

// forgetRequests makes wasPulled report later requests only.
func (r *localRegistry) forgetRequests() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	clear(r.requests)
}

// wasPulled reports whether a client has read the manifest of a repository by its digest.
func (r *localRegistry) wasPulled(repository, digest string) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	path := "/v2/" + repository + "/manifests/" + digest
	return r.requests["GET "+path] || r.requests["HEAD "+path]
}
