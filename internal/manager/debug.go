package manager

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/memory"
)

const (
	// noAddress is the value of an address flag for no listener.
	noAddress = "0"
	// debugHeaderTimeout bounds how long the debug server waits for a request's header.
	debugHeaderTimeout = 30 * time.Second
	// debugShutdown is how long the shutdown waits for a page, such as a profile that is being recorded.
	debugShutdown = time.Second
)

// addDebugServer adds a server with Go's profiles at the address, unless that is noAddress. What is added to the returned mux is served as well. It
// listens at once, so that an address in use is an error of the start; standbys serve, too.
func addDebugServer(ctx context.Context, mgr ctrlmanager.Manager, address string) (*http.ServeMux, error) {
	mux := http.NewServeMux()
	if address == noAddress {
		return mux, nil
	}
	memory.RecordAllocations()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--pprof-bind-address: listening: %w", err)
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: debugHeaderTimeout}
	if err := mgr.Add(&ctrlmanager.Server{Name: "debug", Server: server, Listener: listener, ShutdownTimeout: new(debugShutdown)}); err != nil {
		return nil, fmt.Errorf("adding the debug server: %w", err)
	}
	return mux, nil
}
