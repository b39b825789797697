package process

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestReleaseMemory(t *testing.T) {
	collections := func() uint32 {
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.NumForcedGC
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			ReleaseMemory(ctx)
		}()
		before := collections()
		time.Sleep(firstRelease + time.Second)
		synctest.Wait()
		assert.Equal(t, before+1, collections(), "what the start has taken is given back soon")
		time.Sleep(10 * releaseInterval)
		synctest.Wait()
		assert.Equal(t, before+11, collections())
		cancel()
		<-ended
	})
}
