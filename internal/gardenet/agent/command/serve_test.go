package command

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	timeout  = 30 * time.Second
	interval = 20 * time.Millisecond
)

// buffer collects logs; it may be read while it is written.
type buffer struct {
	mutex   sync.Mutex
	content bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.content.Write(p)
}

func (b *buffer) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.content.String()
}

// get returns status and body, or zero while nobody answers.
func get(ctx context.Context, url string) (status int, body string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, ""
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, ""
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, ""
	}
	return response.StatusCode, string(content)
}

// kubeconfig returns the path of a kubeconfig for a server.
func kubeconfig(t *testing.T, server string) string {
	t.Helper()
	return file(t, `{"apiVersion": "v1", "kind": "Config", "current-context": "c", "clusters": [{"name": "c", "cluster": {"server": "`+server+`"}}],
		"contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}], "users": [{"name": "u", "user": {}}]}`)
}

// TestServe_WithoutAPIServer runs a process that cannot read anything: it lives, and is not ready.
func TestServe_WithoutAPIServer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	defer server.Close()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	args := []string{"--node=own", "--config=" + file(t, exampleDocument), "--kubeconfig=" + kubeconfig(t, server.URL), "--bind-address=" + address}

	logs := &buffer{}
	code := testBinary().run(t.Context(), args, environment{}, io.Discard, logs)
	assert.Equal(t, exitFailure, code)
	assert.Contains(t, logs.String(), "--bind-address: listening: listen tcp "+address)
	require.NoError(t, listener.Close())

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan int, 1)
	go func() { ended <- testBinary().run(ctx, args, environment{}, io.Discard, logs) }()
	require.Eventually(t, func() bool {
		status, _ := get(t.Context(), "http://"+address+"/healthz")
		return status == http.StatusOK
	}, timeout, interval)
	status, body := get(t.Context(), "http://"+address+"/readyz")
	assert.Equal(t, http.StatusServiceUnavailable, status)
	assert.Contains(t, body, "waiting for caches: [nodes]")
	_, body = get(t.Context(), "http://"+address+"/metrics")
	for _, metric := range []string{"gardenet_generation ", "trellis_build_info{", "go_goroutines ", "process_resident_memory_bytes "} {
		assert.Contains(t, body, "\n"+metric)
	}
	assert.Eventually(t, func() bool { return strings.Contains(logs.String(), `"msg":"Failed to watch"`) }, timeout, interval, "it says what it waits for")
	stop()
	assert.Equal(t, exitClean, <-ended)
	assert.Contains(t, logs.String(), `"msg":"Stopped"`)
	status, _ = get(t.Context(), "http://"+address+"/healthz")
	assert.Zero(t, status)
}
