package manager

import (
	"context"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const (
	// allocationInterval is how often the amount of allocated memory is compared. A process that has allocated at most restAllocation bytes in it rests; if it has
	// allocated workAllocation since memory was given back, it has worked before. The start of a process is such work.
	allocationInterval = 5 * time.Second
	restAllocation     = 1 << 20
	workAllocation     = 8 << 20
	// releaseInterval is a little less than the longest time between two garbage collections of the Go runtime, so that a process at rest collects as often
	// as without it.
	releaseInterval = 110 * time.Second
	// gcPercent is how much garbage is collected, in percent of what is in use; gcPercentGarden is that of binaries for the garden.
	gcPercent, gcPercentGarden = 30, 50
	// maxProcs bounds how many processors run Go code at the same time.
	maxProcs = 1
	// profiledBytes is how many bytes are allocated between two allocations that heap profiles record, the runtime's own value.
	profiledBytes = 512 << 10
)

// tuneRuntime makes the garbage collector run more often than by default, unless $GOGC is set. Binaries that reconcile extension objects allocate little
// and are idle most of the time: their cost is memory, in every seed and once per contract. They also use few processors, unless $GOMAXPROCS is set: the
// runtime keeps free memory for each one. Allocations are not recorded for heap profiles, whose table would grow to 2 MB, unless recordAllocations follows.
func tuneRuntime(b Binary) {
	runtime.MemProfileRate = 0
	percent := gcPercent
	if b.Garden {
		percent = gcPercentGarden
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
	if !b.Garden && os.Getenv("GOMAXPROCS") == "" && runtime.GOMAXPROCS(0) > maxProcs {
		runtime.GOMAXPROCS(maxProcs)
	}
}

// recordAllocations makes heap profiles show what is allocated from now on.
func recordAllocations() { runtime.MemProfileRate = profiledBytes }

// uncompressed makes the metrics server respond without gzip, whose writers keep a megabyte between two scrapes. It is a metricsserver.Options.FilterProvider.
func uncompressed(*rest.Config, *http.Client) (metricsserver.Filter, error) {
	return func(_ logr.Logger, handler http.Handler) (http.Handler, error) {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del("Accept-Encoding")
			handler.ServeHTTP(w, r)
		}), nil
	}, nil
}

// memoryReleaser gives memory back that is free: shortly after work has ended, and at least every releaseInterval. The Go runtime keeps as much as it has
// needed before, which is several times what a controller needs at rest, for minutes. Every replica does it, not only the leader.
type memoryReleaser struct {
	// allocated is how many bytes of the heap the process has allocated since its start, and release gives free memory back.
	allocated func() uint64
	release   func()
}

var _ ctrlmanager.LeaderElectionRunnable = &memoryReleaser{}

func newMemoryReleaser() *memoryReleaser {
	return &memoryReleaser{allocated: heapAllocated, release: debug.FreeOSMemory}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (*memoryReleaser) NeedLeaderElection() bool { return false }

// Start implements manager.Runnable.
func (m *memoryReleaser) Start(ctx context.Context) error {
	before := m.allocated()
	released, releasedAt := before, time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(allocationInterval):
		}
		now := m.allocated()
		ended := now-before <= restAllocation && now-released >= workAllocation
		if ended || time.Since(releasedAt) >= releaseInterval {
			m.release()
			released, releasedAt = now, time.Now()
		}
		before = now
	}
}

// heapAllocated reads a counter of the runtime. Unlike runtime.ReadMemStats it stops no goroutine.
func heapAllocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
