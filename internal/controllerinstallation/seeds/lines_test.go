package seeds

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSeedsThatAreGoneAreForgotten(t *testing.T) {
	g, clock, registry := newGarden(t), newClock(), prometheus.NewRegistry()
	lines := g.lines(t, Options{Clock: clock, Registerer: registry})
	f := newFront(t, g.env.config, nil)
	for _, seed := range []string{"deleted", "idle", "busy"} {
		g.give(t, seed, f.kubeconfig(t, g.env.token(t)))
		mustReach(t, lines, seed)
	}
	cluster := mustReach(t, lines, "deleted")

	lines.Forget("deleted")
	lines.Forget("never heard of")
	assert.Equal(t, map[string]float64{"idle": 1, "busy": 1}, gauges(t, registry))
	require.NoError(t, listNodes(t.Context(), cluster), "who holds a client goes on")
	assert.NotContains(t, gauges(t, registry), "deleted")

	for range 60 {
		step(clock, time.Minute)
		mustReach(t, lines, "busy")
	}
	assert.Equal(t, map[string]float64{"busy": 1}, gauges(t, registry))
	assert.Len(t, lines.lines, 1)

	lines.Forget("busy")
	// By themselves, they would be closed after 90 seconds without a request.
	require.Eventually(t, func() bool { return f.open.Load() == 1 }, 45*time.Second, pauseOfTests, "of the client that is held on to")
	mustReach(t, lines, "busy")
	mustReach(t, lines, "deleted")
	assert.Equal(t, map[string]float64{"deleted": 1, "busy": 1}, gauges(t, registry), "a seed may come back")
}

func TestWhoWaitsMayGiveUp(t *testing.T) {
	g := newGarden(t)
	lines := g.lines(t, Options{Clock: newClock(), RequestTimeout: patience})
	f := newFront(t, g.env.config, nil)
	g.give(t, "slow", f.kubeconfig(t, g.env.token(t)))
	arrived := make(chan struct{}, 1)
	f.answer(func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		silence(w, r)
	})
	first, firstGivesUp := context.WithCancel(t.Context())
	second, secondGivesUp := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := lines.To(first, seedOf("slow"))
		ended <- err
	}()
	<-arrived
	go func() {
		_, err := lines.To(second, seedOf("slow"))
		ended <- err
	}()
	secondGivesUp()
	require.ErrorIs(t, <-ended, context.Canceled)
	firstGivesUp()
	require.ErrorIs(t, <-ended, context.Canceled)

	f.answer(nil)
	mustReach(t, lines, "slow")
}

func TestAMetricOfTheSameNameIsRefused(t *testing.T) {
	registry := prometheus.NewRegistry()
	_, err := Own("a", nil, Options{Registerer: registry})
	require.NoError(t, err)
	_, err = Own("a", nil, Options{Registerer: registry})
	assert.ErrorContains(t, err, "registering metrics of seeds: ")
}
