package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func TestCertificate(t *testing.T) {
	later, earlier := time.Now().Add(time.Hour), time.Now().Add(-time.Hour)
	authority := newIssuer(t, "authority", later)
	c := newCertificate(logr.Discard())
	registry := prometheus.NewRegistry()
	require.NoError(t, c.registerMetric(registry))
	assert.Zero(t, certificateNotAfter(t, registry))
	_, err := c.get(nil)
	assert.EqualError(t, err, "there is no certificate yet")
	assert.EqualError(t, c.check(), "there is no certificate yet")

	expired := authority.server(t, "x", earlier)
	c.load(expired)
	assert.EqualError(t, c.check(), "the certificate has expired at "+expired.Leaf.NotAfter.Format(time.RFC3339))

	good := authority.server(t, "x", later)
	c.load(good)
	c.load(nil)
	shown, err := c.get(nil)
	require.NoError(t, err)
	assert.Same(t, &good.Certificate, shown, "nothing instead of a certificate is no reason to give it up")
	assert.NoError(t, c.check())
	assert.Equal(t, good.Leaf.NotAfter.Unix(), certificateNotAfter(t, registry))
}

// certificateNotAfter returns when the certificate ends, as Prometheus hears it.
func certificateNotAfter(t *testing.T, registry *prometheus.Registry) int64 {
	t.Helper()
	families, err := registry.Gather()
	require.NoError(t, err)
	require.Len(t, families, 1)
	return int64(families[0].GetMetric()[0].GetGauge().GetValue())
}

func TestHandlerWithTimeout(t *testing.T) {
	process, end := context.WithCancel(t.Context())
	end()
	handler := handlerWithTimeout{timeout: time.Minute, count: func(admission.Response) {}, Handler: admission.HandlerFunc(func(ctx context.Context, _ admission.Request) admission.Response {
		deadline, ok := ctx.Deadline()
		assert.True(t, ok)
		assert.WithinDuration(t, time.Now().Add(time.Minute), deadline, 10*time.Second)
		assert.NoError(t, ctx.Err(), "the end of the process must not end the handler")
		return admission.Allowed("")
	})}
	assert.True(t, handler.Handle(process, admission.Request{}).Allowed)
}

func TestServer_HandlerPanics(t *testing.T) {
	s := newServer("", 0, newCertificate(logr.Discard()))
	completed, err := complete([]Webhook{configMapWebhook("tune", func(context.Context, admission.Request) admission.Response {
		panic("oh")
	})}, []string{"tune"})
	require.NoError(t, err)
	registry := prometheus.NewRegistry()
	counted, err := newResults(registry)
	require.NoError(t, err)
	s.serve(completed[0], counted, logr.Discard())

	review := `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1"}}`
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/tune", bytes.NewBufferString(review))
	request.Header.Set("Content-Type", "application/json")
	response := httptest.NewRecorder()
	s.WebhookMux().ServeHTTP(response, request)
	assert.Contains(t, response.Body.String(), `"uid":"1","allowed":false`)
	assert.Contains(t, response.Body.String(), `panic: oh`)
	assert.Equal(t, map[string]float64{"allowed": 0, "patched": 0, "denied": 0, "failed": 1, "busy": 0}, countsOf(t, registry))
}

// startServer starts one with a webhook that is called tune. It returns its URL, a way to end it, and how it ended.
func startServer(t *testing.T, limits *limits, handle admission.HandlerFunc) (url string, end func(), ended <-chan error, registry *prometheus.Registry) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := listener.Addr().(*net.TCPAddr).Port
	require.NoError(t, listener.Close())
	shown := newCertificate(logr.Discard())
	shown.load(newIssuer(t, "authority", time.Now().Add(time.Hour)).server(t, "x", time.Now().Add(time.Hour)))
	s := newServer("127.0.0.1", port, shown)
	s.limits = limits
	completed, err := complete([]Webhook{configMapWebhook("tune", handle)}, []string{"tune"})
	require.NoError(t, err)
	registry = prometheus.NewRegistry()
	counted, err := newResults(registry)
	require.NoError(t, err)
	s.serve(completed[0], counted, logr.Discard())
	process, end := context.WithCancel(t.Context())
	t.Cleanup(end)
	result := make(chan error, 1)
	go func() { result <- s.Start(process) }()
	require.Eventually(t, func() bool { return s.ready(nil) == nil }, 10*time.Second, 10*time.Millisecond)
	return fmt.Sprintf("https://127.0.0.1:%d", port), end, result, registry
}

const emptyReview = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1"}}`

func TestServer_ClosesConnectionsOnShutdown(t *testing.T) {
	address, end, ended, _ := startServer(t, defaultLimits(), func(context.Context, admission.Request) admission.Response {
		return admission.Allowed("")
	})

	// As API servers do: HTTP/1.1, with connections that are kept.
	caller := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	get := func() *http.Response {
		response, err := caller.Post(address+"/tune", "application/json", strings.NewReader(emptyReview))
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, response.Body)
		require.NoError(t, errors.Join(err, response.Body.Close()))
		return response
	}
	assert.False(t, get().Close)
	end()
	require.Eventually(t, func() bool { return get().Close }, shutdownDelay/2, time.Millisecond, "it answers on, and has its connections closed")
	require.NoError(t, <-ended)
}

// A handshake for each probe and each look at the certificates would be most of what an idle process does.
func TestServer_ReadyWithoutHandshakes(t *testing.T) {
	shown := newCertificate(logr.Discard())
	shown.load(newIssuer(t, "authority", time.Now().Add(time.Hour)).server(t, "x", time.Now().Add(time.Hour)))
	s := newServer("127.0.0.1", 0, shown)
	require.Error(t, s.ready(nil), "it has not begun to listen")
	s.responding.Store(true) // as after a connection
	require.NoError(t, s.ready(nil))
	s.shuttingDown.Store(true)
	assert.Error(t, s.ready(nil), "during the shutdown it is tried again")
}
