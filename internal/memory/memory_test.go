package memory

import (
	"context"
	"runtime"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestReleaser(t *testing.T) {
	const mega = 1 << 20
	for name, test := range map[string]struct {
		allocates func(elapsed time.Duration) uint64 // since the start
		want      []time.Duration                    // after which memory is given back
	}{
		"a process that does nothing gives memory back now and then": {
			func(time.Duration) uint64 { return 0 },
			[]time.Duration{releaseInterval, 2 * releaseInterval},
		},
		"what little a process at rest allocates is no work": {
			func(elapsed time.Duration) uint64 { return uint64(elapsed.Seconds()) * mega / 20 },
			[]time.Duration{releaseInterval, 2 * releaseInterval},
		},
		"shortly after work has ended": {
			func(elapsed time.Duration) uint64 { return 10 * mega * uint64(min(elapsed, 20*time.Second).Seconds()) },
			[]time.Duration{25 * time.Second, 25*time.Second + releaseInterval},
		},
		"not each time a little work has ended": {
			func(elapsed time.Duration) uint64 { return 2 * mega * uint64(elapsed/(50*time.Second)) },
			[]time.Duration{releaseInterval, 2 * releaseInterval},
		},
		"work that does not end": {
			func(elapsed time.Duration) uint64 { return 10 * mega * uint64(elapsed.Seconds()) },
			[]time.Duration{releaseInterval, 2 * releaseInterval},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, released := time.Now(), []time.Duration(nil)
				m := &Releaser{
					allocated: func() uint64 { return test.allocates(time.Since(start)) },
					release:   func() { released = append(released, time.Since(start)) },
				}
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error)
				go func() { ended <- m.Start(ctx) }()
				time.Sleep(2*releaseInterval + time.Second)
				cancel()
				assert.NoError(t, <-ended)
				assert.Equal(t, test.want, released)
			})
		})
	}
	assert.False(t, NewReleaser().NeedLeaderElection(), "those that stand by cost memory, too")
}

// allocation is a variable of the package so that the compiler does not place it on the stack.
var allocation []byte

func TestReleaser_ReadsAndReleases(t *testing.T) {
	further := 0
	m := NewReleaser(func() { further++ })
	before := m.allocated()
	allocation = make([]byte, 1<<20)
	assert.GreaterOrEqual(t, m.allocated()-before, uint64(1<<20))

	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	collections := stats.NumForcedGC
	m.release()
	runtime.ReadMemStats(&stats)
	assert.Equal(t, collections+1, stats.NumForcedGC)
	assert.Equal(t, 1, further)
}

func TestTune(t *testing.T) {
	profiled, processors, percent := runtime.MemProfileRate, runtime.GOMAXPROCS(0), debug.SetGCPercent(100)
	t.Cleanup(func() {
		runtime.MemProfileRate = profiled
		runtime.GOMAXPROCS(processors)
		debug.SetGCPercent(percent)
	})
	t.Setenv("GOGC", "")
	t.Setenv("GOMAXPROCS", "")

	Tune(42, 1)
	assert.Equal(t, 42, debug.SetGCPercent(100))
	assert.Equal(t, 1, runtime.GOMAXPROCS(0))
	assert.Zero(t, runtime.MemProfileRate)
	RecordAllocations()
	assert.Equal(t, 512*1024, runtime.MemProfileRate)

	runtime.GOMAXPROCS(processors)
	Tune(42, 0)
	assert.Equal(t, processors, runtime.GOMAXPROCS(0), "not limited")

	t.Setenv("GOGC", "100")
	t.Setenv("GOMAXPROCS", "7")
	debug.SetGCPercent(100)
	Tune(42, 1)
	assert.Equal(t, 100, debug.SetGCPercent(100), "who sets the variable decides")
	assert.Equal(t, processors, runtime.GOMAXPROCS(0), "who sets the variable decides")
}
