package process

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

const (
	// firstRelease is how long after its start a process gives back the memory that the start has taken: it has read all pods of the cluster.
	firstRelease = 15 * time.Second
	// releaseInterval is a little less than the longest time between two garbage collections of the Go runtime, so that a process at rest collects as often
	// as without it.
	releaseInterval = 110 * time.Second
	// gcPercent is how much garbage is collected, in percent of what is in use.
	gcPercent = 30
	// maxProcs bounds how many processors run Go code at the same time.
	maxProcs = 2
)

// TuneRuntime makes the process small, unless $GOGC and $GOMAXPROCS are set: there is one on each node of a shoot, and it is idle most of the time. The
// runtime keeps free memory for each processor that it uses.
func TuneRuntime() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMAXPROCS") == "" && runtime.GOMAXPROCS(0) > maxProcs {
		runtime.GOMAXPROCS(maxProcs)
	}
}

// ReleaseMemory gives memory back that is free, until the context ends.
func ReleaseMemory(ctx context.Context) {
	for pause := firstRelease; ; pause = releaseInterval {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
			debug.FreeOSMemory()
		}
	}
}
