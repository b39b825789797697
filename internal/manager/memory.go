package manager

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
)

const (
	// firstRelease is how long after its start a process gives back the memory that the start has taken.
	firstRelease = 15 * time.Second
	// releaseInterval is a little less than the longest time between two garbage collections of the Go runtime, so that a process at rest collects as often
	// as without it.
	releaseInterval = 110 * time.Second
	// gcPercent is how much garbage is collected, in percent of what is in use; gcPercentGarden is that of binaries for the garden.
	gcPercent, gcPercentGarden = 30, 50
	// maxProcs bounds how many processors run Go code at the same time.
	maxProcs = 2
)

// tuneRuntime makes the garbage collector run more often than by default, unless $GOGC is set. Binaries that reconcile extension objects allocate little
// and are idle most of the time: their cost is memory, in every seed and once per contract. They also use few processors, unless $GOMAXPROCS is set: the
// runtime keeps free memory for each one.
func tuneRuntime(b Binary) {
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

// memoryReleaser gives memory back that is free. The Go runtime keeps as much as it has needed before, which is several times what a controller needs
// at rest, for minutes. Every replica does it, not only the leader.
type memoryReleaser struct{}

var _ ctrlmanager.LeaderElectionRunnable = memoryReleaser{}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (memoryReleaser) NeedLeaderElection() bool { return false }

// Start implements manager.Runnable.
func (memoryReleaser) Start(ctx context.Context) error {
	for pause := firstRelease; ; pause = releaseInterval {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
			debug.FreeOSMemory()
		}
	}
}
