// Package memory keeps processes small that are idle most of the time. It must not depend on what they do.
package memory

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
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
	// profiledBytes is how many bytes are allocated between two allocations that heap profiles record, the runtime's own value.
	profiledBytes = 512 << 10
)

// Tune makes the garbage collector run after that much garbage, in percent of what is in use, unless $GOGC is set, and Go code run on at most so many processors,
// unless $GOMAXPROCS is set or it is 0: the runtime keeps free memory for each one. Allocations are not recorded for heap profiles, whose table would grow to
// 2 MB, unless RecordAllocations follows. It belongs at the start of main.
func Tune(gcPercent, processors int) {
	runtime.MemProfileRate = 0
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if processors > 0 && os.Getenv("GOMAXPROCS") == "" && runtime.GOMAXPROCS(0) > processors {
		runtime.GOMAXPROCS(processors)
	}
}

// RecordAllocations makes heap profiles show what is allocated from now on.
func RecordAllocations() { runtime.MemProfileRate = profiledBytes }

// Releaser gives memory back that is free: shortly after work has ended, and at least every 110 seconds. The Go runtime keeps as much as it has needed before,
// which is several times what an idle process needs, for minutes.
type Releaser struct {
	// allocated is how many bytes of the heap the process has allocated since its start, and release gives free memory back.
	allocated func() uint64
	release   func()
}

// NewReleaser returns the Releaser of this process. It calls further functions that release memory after it has given memory back.
func NewReleaser(further ...func()) *Releaser {
	return &Releaser{allocated: heapAllocated, release: func() {
		debug.FreeOSMemory()
		for _, release := range further {
			release()
		}
	}}
}

// UnmapProgram removes the running program's code and constants from the process's resident memory. Most of a program is only used at its start and for work.
// What is used comes back from the page cache, in microseconds and a few pages at a time, or from the disk if the machine has needed the page cache for others:
// that is for processes that nobody waits for.
func UnmapProgram() { readProgram().unmap() }

// NeedLeaderElection implements controller-runtime's manager.LeaderElectionRunnable: replicas that stand by cost memory, too.
func (*Releaser) NeedLeaderElection() bool { return false }

// Start runs until the context ends. It returns no error.
func (r *Releaser) Start(ctx context.Context) error {
	before := r.allocated()
	released, releasedAt := before, time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(allocationInterval):
		}
		now := r.allocated()
		ended := now-before <= restAllocation && now-released >= workAllocation
		if ended || time.Since(releasedAt) >= releaseInterval {
			r.release()
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
