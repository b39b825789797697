package manager

import (
	"net/http"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/trellis-garden/trellis/internal/memory"
)

const (
	// gcPercent is how much garbage is collected, in percent of what is in use; gcPercentGarden is that of binaries for the garden.
	gcPercent, gcPercentGarden = 30, 50
	// processors bounds how many processors run Go code at the same time.
	processors = 1
)

// tuneRuntime makes the process small: binaries that reconcile extension objects allocate little and are idle most of the time. Their cost is memory, in every
// seed and once per contract. Those for the garden are few, and are waited for.
func tuneRuntime(b Binary) {
	if b.Garden {
		memory.Tune(gcPercentGarden, 0)
		return
	}
	memory.Tune(gcPercent, processors)
}

// newReleaser returns what gives memory back while the binary runs.
func newReleaser(b Binary) *memory.Releaser {
	if b.Garden {
		return memory.NewReleaser()
	}
	return memory.NewReleaser(memory.UnmapProgram)
}

// uncompressed makes the metrics server respond without gzip, whose writers keep a megabyte between two scrapes. It is a metricsserver.Options.FilterProvider.
func uncompressed(*rest.Config, *http.Client) (metricsserver.Filter, error) {
	return func(_ logr.Logger, handler http.Handler) (http.Handler, error) {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del("Accept-Encoding")
			handler.ServeHTTP(w, r)
		}), nil
	}, nil
}
