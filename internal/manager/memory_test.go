package manager

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

func TestMemoryReleaser(t *testing.T) {
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
				m := &memoryReleaser{
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
	assert.False(t, newMemoryReleaser().NeedLeaderElection(), "those that stand by cost memory, too")
}

// allocation is a variable of the package so that the compiler does not place it on the stack.
var allocation []byte

func TestMemoryReleaserReadsAndReleases(t *testing.T) {
	m := newMemoryReleaser()
	before := m.allocated()
	allocation = make([]byte, 1<<20)
	assert.GreaterOrEqual(t, m.allocated()-before, uint64(1<<20))

	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	collections := stats.NumForcedGC
	m.release()
	runtime.ReadMemStats(&stats)
	assert.Equal(t, collections+1, stats.NumForcedGC)
}

func TestUncompressed(t *testing.T) {
	filter, err := uncompressed(nil, nil)
	require.NoError(t, err)
	handler, err := filter(logr.Discard(), promhttp.HandlerFor(prometheus.NewRegistry(), promhttp.HandlerOpts{}))
	require.NoError(t, err)
	request := httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody)
	request.Header.Set("Accept-Encoding", "gzip")
	response := httptest.NewRecorder()
	handler.ServeHTTP(response, request)
	assert.Equal(t, http.StatusOK, response.Code)
	assert.Empty(t, response.Header().Get("Content-Encoding"))
}

func TestAllocationsAreRecordedForProfilesOnly(t *testing.T) {
	before := runtime.MemProfileRate
	t.Cleanup(func() { runtime.MemProfileRate = before })
	mgr, err := ctrlmanager.New(&rest.Config{}, ctrlmanager.Options{
		Metrics:        metricsserver.Options{BindAddress: noAddress},
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return meta.MultiRESTMapper{}, nil },
	})
	require.NoError(t, err)

	runtime.MemProfileRate = 0
	_, err = addDebugServer(t.Context(), mgr, noAddress)
	require.NoError(t, err)
	assert.Zero(t, runtime.MemProfileRate)
	_, err = addDebugServer(t.Context(), mgr, "127.0.0.1:0")
	require.NoError(t, err)
	assert.Equal(t, profiledBytes, runtime.MemProfileRate)
}
