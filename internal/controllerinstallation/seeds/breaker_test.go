package seeds

import (
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	clocktesting "k8s.io/utils/clock/testing"
)

func newTestBreaker(t *testing.T) (*breaker, *clocktesting.FakePassiveClock, *prometheus.Registry) {
	t.Helper()
	registry := prometheus.NewRegistry()
	metrics, err := newMetrics(registry)
	require.NoError(t, err)
	clock := newClock()
	return &breaker{seed: "a", clock: clock, metrics: metrics}, clock, registry
}

func advance(clock *clocktesting.FakePassiveClock, by time.Duration) {
	clock.SetTime(clock.Now().Add(by))
}

// mustAcquire demands that a request may be sent.
func mustAcquire(t *testing.T, b *breaker) *permit {
	t.Helper()
	p, failure := b.acquire()
	require.Nil(t, failure)
	return p
}

func TestBreaker_Backoff(t *testing.T) {
	b, clock, _ := newTestBreaker(t)
	want := time.Second
	for range 10 {
		failure := mustAcquire(t, b).unanswered(errors.New("nobody home"))
		advance(clock, want*4/5-time.Millisecond)
		assert.Same(t, failure, b.blocked(), "within a pause of %s", want)
		_, same := b.acquire()
		assert.Same(t, failure, same)
		advance(clock, want/5+time.Millisecond)
		assert.Nil(t, b.blocked(), "after a pause of %s", want)
		assert.Same(t, failure, b.openFailure(), "it stays open until somebody has tried")
		want = min(2*want, time.Minute)
	}
}

func TestBreaker_SingleProbe(t *testing.T) {
	b, clock, registry := newTestBreaker(t)
	failure := mustAcquire(t, b).unanswered(errors.New("nobody home"))
	assert.Equal(t, map[string]float64{"a": 0}, gauges(t, registry))
	advance(clock, time.Second)

	probe := mustAcquire(t, b)
	_, same := b.acquire()
	assert.Same(t, failure, same, "while another one tries")
	assert.Same(t, failure, b.blocked())

	probe.abandoned()
	assert.Nil(t, b.blocked(), "who has given up leaves it to the next")

	probe = mustAcquire(t, b)
	probe.answered()
	assert.Nil(t, b.openFailure())
	assert.Equal(t, map[string]float64{"a": 1}, gauges(t, registry))
	mustAcquire(t, b)
	mustAcquire(t, b).unanswered(errors.New("nobody home"))
	advance(clock, time.Second)
	assert.Nil(t, b.blocked(), "after an answer, pauses begin anew")
}

func TestBreaker_StaleFailures(t *testing.T) {
	b, clock, _ := newTestBreaker(t)
	first, second, third, slow := mustAcquire(t, b), mustAcquire(t, b), mustAcquire(t, b), mustAcquire(t, b)
	first.unanswered(errors.New("nobody home"))
	second.unanswered(errors.New("nobody home"))
	third.unanswered(errors.New("nobody home"))
	advance(clock, time.Second)
	require.Nil(t, b.blocked(), "three that failed at once are one failure")

	mustAcquire(t, b).answered()
	failure := slow.unanswered(errors.New("no answer"))
	assert.EqualError(t, failure, "reaching seed a: no answer")
	assert.Nil(t, b.openFailure(), "a seed that answers others is there")

	slow = mustAcquire(t, b)
	mustAcquire(t, b).answered()
	slow.unanswered(errors.New("no answer"))
	assert.Nil(t, b.openFailure(), "also when it was there all the time")

	late := mustAcquire(t, b)
	late.answered()
	late.unanswered(errors.New("in the middle of it"))
	assert.NotNil(t, b.openFailure(), "a seed may fall silent in the middle of an answer")
}

func TestBreaker_RetireRemovesMetric(t *testing.T) {
	b, _, registry := newTestBreaker(t)
	p := mustAcquire(t, b)
	mustAcquire(t, b).answered()
	require.Contains(t, gauges(t, registry), "a")
	b.retire()
	p.unanswered(errors.New("nobody home"))
	assert.Empty(t, gauges(t, registry))
}

// gauges returns what the metric says of each seed.
func gauges(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	require.NoError(t, err)
	found := map[string]float64{}
	for _, family := range families {
		require.Equal(t, "trellis_seed_reachable", family.GetName())
		for _, metric := range family.GetMetric() {
			found[metric.GetLabel()[0].GetValue()] = metric.GetGauge().GetValue()
		}
	}
	return found
}
