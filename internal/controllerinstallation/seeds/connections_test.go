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

func TestConnections_Forget(t *testing.T) {
	g, clock, registry := newTestGarden(t), newClock(), prometheus.NewRegistry()
	connections := g.connections(t, Options{Clock: clock, Registerer: registry})
	f := newTestProxy(t, g.env.config, nil)
	for _, seed := range []string{"deleted", "idle", "busy"} {
		g.createSecret(t, seed, f.kubeconfig(t, g.env.token(t)))
		mustConnect(t, connections, seed)
	}
	cluster := mustConnect(t, connections, "deleted")

	connections.Forget("deleted")
	connections.Forget("never heard of")
	assert.Equal(t, map[string]float64{"idle": 1, "busy": 1}, gauges(t, registry))
	require.NoError(t, listNodes(t.Context(), cluster), "who holds a client goes on")
	assert.NotContains(t, gauges(t, registry), "deleted")

	for range 60 {
		advance(clock, time.Minute)
		mustConnect(t, connections, "busy")
	}
	assert.Equal(t, map[string]float64{"busy": 1}, gauges(t, registry))
	assert.Len(t, connections.bySeed, 1)

	connections.Forget("busy")
	// By themselves, they would be closed after 90 seconds without a request.
	require.Eventually(t, func() bool { return f.open.Load() == 1 }, 45*time.Second, interval, "of the client that is held on to")
	mustConnect(t, connections, "busy")
	mustConnect(t, connections, "deleted")
	assert.Equal(t, map[string]float64{"deleted": 1, "busy": 1}, gauges(t, registry), "a seed may come back")
}

func TestConnect_CallerCancels(t *testing.T) {
	g := newTestGarden(t)
	connections := g.connections(t, Options{Clock: newClock(), RequestTimeout: timeout})
	f := newTestProxy(t, g.env.config, nil)
	g.createSecret(t, "slow", f.kubeconfig(t, g.env.token(t)))
	arrived := make(chan struct{}, 1)
	f.respondWith(func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		noResponse(w, r)
	})
	first, firstGivesUp := context.WithCancel(t.Context())
	second, secondGivesUp := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := connections.Connect(first, seedOf("slow"))
		ended <- err
	}()
	<-arrived
	go func() {
		_, err := connections.Connect(second, seedOf("slow"))
		ended <- err
	}()
	secondGivesUp()
	require.ErrorIs(t, <-ended, context.Canceled)
	firstGivesUp()
	require.ErrorIs(t, <-ended, context.Canceled)

	f.respondWith(nil)
	mustConnect(t, connections, "slow")
}

func TestInCluster_MetricRegisteredTwice(t *testing.T) {
	registry := prometheus.NewRegistry()
	_, err := InCluster("a", nil, Options{Registerer: registry})
	require.NoError(t, err)
	_, err = InCluster("a", nil, Options{Registerer: registry})
	assert.ErrorContains(t, err, "registering metrics of seeds: ")
}
