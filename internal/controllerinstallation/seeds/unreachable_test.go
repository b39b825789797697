package seeds

import (
	"net/http"
	"net/url"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
)

// connectConcurrently calls To many times at once and returns the errors.
func connectConcurrently(t *testing.T, connections *Connections, seed string) []error {
	t.Helper()
	failures := make([]error, 50)
	var group sync.WaitGroup
	for i := range failures {
		group.Go(func() { _, failures[i] = connections.Connect(t.Context(), seedOf(seed)) })
	}
	group.Wait()
	return failures
}

// assertSameFailure demands that all failed for the same reason.
func assertSameFailure(t *testing.T, failures []error, seed string) {
	t.Helper()
	for _, failure := range failures {
		assert.Same(t, unreachable(t, failures[0], seed), unreachable(t, failure, seed))
	}
}

func TestConnect_UnreachableSeedConcurrently(t *testing.T) {
	g, clock, registry := newTestGarden(t), newClock(), prometheus.NewRegistry()
	connections := g.connections(t, Options{RequestTimeout: shortTimeout, Clock: clock, Registerer: registry})
	hole := newUnresponsiveServer(t, false)
	g.createSecret(t, "dead", kubeconfig(t, hole.address, nil, "token"))

	assertSameFailure(t, connectConcurrently(t, connections, "dead"), "dead")
	for range 50 {
		_, err := connections.Connect(t.Context(), seedOf("dead"))
		unreachable(t, err, "dead")
	}
	assert.EqualValues(t, 1, hole.connections.Load(), "one has waited for all")

	advance(clock, maxBackoff)
	failures := connectConcurrently(t, connections, "dead")
	for _, failure := range failures {
		unreachable(t, failure, "dead")
	}
	assert.EqualValues(t, 2, hole.connections.Load(), "after the pause, one has waited for all")
	assert.Equal(t, map[string]float64{"dead": 0}, gauges(t, registry))
}

func TestConnect_UnresponsiveSeedDelaysNoOther(t *testing.T) {
	g, clock := newTestGarden(t), newClock()
	connections := g.connections(t, Options{RequestTimeout: timeout, Clock: clock})
	silent, well := newTestProxy(t, g.env.config, nil), newTestProxy(t, g.env.config, nil)
	g.createSecret(t, "silent", silent.kubeconfig(t, g.env.token(t)))
	g.createSecret(t, "well", well.kubeconfig(t, g.env.token(t)))
	arrived, release := make(chan struct{}, 1), make(chan struct{})
	silent.respondWith(func(http.ResponseWriter, *http.Request) {
		arrived <- struct{}{}
		<-release
		panic(http.ErrAbortHandler)
	})

	done := make(chan []error)
	go func() { done <- connectConcurrently(t, connections, "silent") }()
	<-arrived
	for range 10 {
		cluster, err := connections.Connect(t.Context(), seedOf("well"))
		require.NoError(t, err)
		require.NoError(t, listNodes(t.Context(), cluster))
	}
	select {
	case <-done:
		t.Fatal("they were to wait")
	default:
	}
	close(release)
	assertSameFailure(t, <-done, "silent")
	assert.Equal(t, 1, silent.count("/version"))
}

func TestConnect_SeedBecomesUnreachable(t *testing.T) {
	g, clock, registry := newTestGarden(t), newClock(), prometheus.NewRegistry()
	connections := g.connections(t, Options{RequestTimeout: shortTimeout, Clock: clock, Registerer: registry})
	f := newTestProxy(t, g.env.config, nil)
	g.createSecret(t, "dying", f.kubeconfig(t, g.env.token(t)))
	cluster, err := connections.Connect(t.Context(), seedOf("dying"))
	require.NoError(t, err)
	require.NoError(t, listNodes(t.Context(), cluster))
	assert.Equal(t, map[string]float64{"dying": 1}, gauges(t, registry))

	f.respondWith(noResponse)
	before := f.count("")
	for range 50 {
		unreachable(t, listNodes(t.Context(), cluster), "dying")
		_, err := connections.Connect(t.Context(), seedOf("dying"))
		unreachable(t, err, "dying")
	}
	assert.Equal(t, 1, f.count("")-before)
	assert.Equal(t, map[string]float64{"dying": 0}, gauges(t, registry))

	f.respondWith(respondStatus(http.StatusBadGateway))
	advance(clock, initialBackoff)
	_, err = connections.Connect(t.Context(), seedOf("dying"))
	assert.ErrorContains(t, unreachable(t, err, "dying"), "502", "To tries the seed before it lets anybody work there")

	f.respondWith(nil)
	advance(clock, maxBackoff)
	cluster, err = connections.Connect(t.Context(), seedOf("dying"))
	require.NoError(t, err)
	require.NoError(t, listNodes(t.Context(), cluster))
	assert.Equal(t, map[string]float64{"dying": 1}, gauges(t, registry))
	assert.Zero(t, g.grants.Load())
}

func TestConnect_DroppedConnection(t *testing.T) {
	env, clock := start(t), newClock()
	server, err := url.Parse(env.config.Host)
	require.NoError(t, err)
	wire := newTCPProxy(t, server.Host)
	config := &rest.Config{Host: wire.address, BearerToken: env.token(t), TLSClientConfig: rest.TLSClientConfig{CAData: env.config.CAData}}
	connections, err := InCluster("cut", config, Options{RequestTimeout: shortTimeout, Clock: clock})
	require.NoError(t, err)
	cluster := mustConnect(t, connections, "cut")

	wire.dropConnections()
	unreachable(t, listNodes(t.Context(), cluster), "cut")
	advance(clock, maxBackoff)
	mustConnect(t, connections, "cut")
}
