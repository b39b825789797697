package fleet

import (
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReplica_Live(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	replica := &Replica{ProfilesURL: server.URL + "/debug/pprof"}

	before, err := replica.Live(t.Context())
	require.NoError(t, err)
	kept, release := make([]byte, 64<<20), make(chan struct{})
	for range 100 {
		go func() { <-release }()
	}
	after, err := replica.Live(t.Context())
	close(release)
	runtime.KeepAlive(kept)
	require.NoError(t, err)
	assert.InDelta(t, 64<<20, after.Heap-before.Heap, 4<<20)
	assert.InDelta(t, 100, after.Goroutines-before.Goroutines, 10)

	_, err = (&Replica{ProfilesURL: server.URL}).Live(t.Context())
	assert.ErrorContains(t, err, "404")
}
