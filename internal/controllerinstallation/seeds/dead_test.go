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

// together calls To many times at once and returns the errors.
func together(t *testing.T, lines *Lines, seed string) []error {
	t.Helper()
	failures := make([]error, 50)
	var group sync.WaitGroup
	for i := range failures {
		group.Go(func() { _, failures[i] = lines.To(t.Context(), seedOf(seed)) })
	}
	group.Wait()
	return failures
}

// allSame demands that all failed for the same reason.
func allSame(t *testing.T, failures []error, seed string) {
	t.Helper()
	for _, failure := range failures {
		assert.Same(t, unreachable(t, failures[0], seed), unreachable(t, failure, seed))
	}
}

func TestManyDoNotWaitForASeedThatIsDead(t *testing.T) {
	g, clock, registry := newGarden(t), newClock(), prometheus.NewRegistry()
	lines := g.lines(t, Options{RequestTimeout: short, Clock: clock, Registerer: registry})
	hole := newHole(t, false)
	g.give(t, "dead", kubeconfig(t, hole.address, nil, "token"))

	allSame(t, together(t, lines, "dead"), "dead")
	for range 50 {
		_, err := lines.To(t.Context(), seedOf("dead"))
		unreachable(t, err, "dead")
	}
	assert.EqualValues(t, 1, hole.connections.Load(), "one has waited for all")

	step(clock, longestPause)
	failures := together(t, lines, "dead")
	for _, failure := range failures {
		unreachable(t, failure, "dead")
	}
	assert.EqualValues(t, 2, hole.connections.Load(), "after the pause, one has waited for all")
	assert.Equal(t, map[string]float64{"dead": 0}, gauges(t, registry))
}

func TestASeedThatIsSilentDelaysOnlyItself(t *testing.T) {
	g, clock := newGarden(t), newClock()
	lines := g.lines(t, Options{RequestTimeout: patience, Clock: clock})
	silent, well := newFront(t, g.env.config, nil), newFront(t, g.env.config, nil)
	g.give(t, "silent", silent.kubeconfig(t, g.env.token(t)))
	g.give(t, "well", well.kubeconfig(t, g.env.token(t)))
	arrived, release := make(chan struct{}, 1), make(chan struct{})
	silent.answer(func(http.ResponseWriter, *http.Request) {
		arrived <- struct{}{}
		<-release
		panic(http.ErrAbortHandler)
	})

	done := make(chan []error)
	go func() { done <- together(t, lines, "silent") }()
	<-arrived
	for range 10 {
		cluster, err := lines.To(t.Context(), seedOf("well"))
		require.NoError(t, err)
		require.NoError(t, listNodes(t.Context(), cluster))
	}
	select {
	case <-done:
		t.Fatal("they were to wait")
	default:
	}
	close(release)
	allSame(t, <-done, "silent")
	assert.Equal(t, 1, silent.count("/version"))
}

func TestCallsToASeedThatHasDiedDoNotWaitOneByOne(t *testing.T) {
	g, clock, registry := newGarden(t), newClock(), prometheus.NewRegistry()
	lines := g.lines(t, Options{RequestTimeout: short, Clock: clock, Registerer: registry})
	f := newFront(t, g.env.config, nil)
	g.give(t, "dying", f.kubeconfig(t, g.env.token(t)))
	cluster, err := lines.To(t.Context(), seedOf("dying"))
	require.NoError(t, err)
	require.NoError(t, listNodes(t.Context(), cluster))
	assert.Equal(t, map[string]float64{"dying": 1}, gauges(t, registry))

	f.answer(silence)
	before := f.count("")
	for range 50 {
		unreachable(t, listNodes(t.Context(), cluster), "dying")
		_, err := lines.To(t.Context(), seedOf("dying"))
		unreachable(t, err, "dying")
	}
	assert.Equal(t, 1, f.count("")-before)
	assert.Equal(t, map[string]float64{"dying": 0}, gauges(t, registry))

	f.answer(code(http.StatusBadGateway))
	step(clock, firstPause)
	_, err = lines.To(t.Context(), seedOf("dying"))
	assert.ErrorContains(t, unreachable(t, err, "dying"), "502", "To tries the seed before it lets anybody work there")

	f.answer(nil)
	step(clock, longestPause)
	cluster, err = lines.To(t.Context(), seedOf("dying"))
	require.NoError(t, err)
	require.NoError(t, listNodes(t.Context(), cluster))
	assert.Equal(t, map[string]float64{"dying": 1}, gauges(t, registry))
	assert.Zero(t, g.grants.Load())
}

func TestAConnectionThatHasDiedIsNotTakenTwice(t *testing.T) {
	env, clock := start(t), newClock()
	server, err := url.Parse(env.config.Host)
	require.NoError(t, err)
	wire := newWire(t, server.Host)
	config := &rest.Config{Host: wire.address, BearerToken: env.token(t), TLSClientConfig: rest.TLSClientConfig{CAData: env.config.CAData}}
	lines, err := Own("cut", config, Options{RequestTimeout: short, Clock: clock})
	require.NoError(t, err)
	cluster := mustReach(t, lines, "cut")

	wire.cutAll()
	unreachable(t, listNodes(t.Context(), cluster), "cut")
	step(clock, longestPause)
	mustReach(t, lines, "cut")
}
