package manager

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// collections is the number of garbage collections that were requested, as opposed to those that the runtime started itself.
func collections() uint32 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.NumForcedGC
}

func TestMemoryReleaser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- memoryReleaser{}.Start(ctx) }()
		before := collections()

		time.Sleep(firstRelease + time.Second)
		synctest.Wait()
		assert.Equal(t, before+1, collections(), "what the start has taken is given back soon")
		time.Sleep(10 * releaseInterval)
		synctest.Wait()
		assert.Equal(t, before+11, collections())

		cancel()
		assert.NoError(t, <-ended)
	})
	assert.False(t, memoryReleaser{}.NeedLeaderElection(), "those that stand by cost memory, too")
}
