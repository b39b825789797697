package manager

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"

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
	assert.Equal(t, 512*1024, runtime.MemProfileRate)
}
