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

func step(clock *clocktesting.FakePassiveClock, by time.Duration) { clock.SetTime(clock.Now().Add(by)) }

// mustEnter demands that a request may be sent.
func mustEnter(t *testing.T, b *breaker) *pass {
	t.Helper()
	p, failure := b.enter()
	require.Nil(t, failure)
	return p
}

func TestPausesDoubleUpToAMinute(t *testing.T) {
	b, clock, _ := newTestBreaker(t)
	wanted := time.Second
	for range 10 {
		failure := mustEnter(t, b).silent(errors.New("nobody home"))
		step(clock, wanted*4/5-time.Millisecond)
		assert.Same(t, failure, b.blocked(), "within a pause of %s", wanted)
		_, same := b.enter()
		assert.Same(t, failure, same)
		step(clock, wanted/5+time.Millisecond)
		assert.Nil(t, b.blocked(), "after a pause of %s", wanted)
		assert.Same(t, failure, b.last(), "it stays open until somebody has tried")
		wanted = min(2*wanted, time.Minute)
	}
}

func TestOneTriesForAll(t *testing.T) {
	b, clock, registry := newTestBreaker(t)
	failure := mustEnter(t, b).silent(errors.New("nobody home"))
	assert.Equal(t, map[string]float64{"a": 0}, gauges(t, registry))
	step(clock, time.Second)

	trial := mustEnter(t, b)
	_, same := b.enter()
	assert.Same(t, failure, same, "while another one tries")
	assert.Same(t, failure, b.blocked())

	trial.abandoned()
	assert.Nil(t, b.blocked(), "who has given up leaves it to the next")

	trial = mustEnter(t, b)
	trial.answered()
	assert.Nil(t, b.last())
	assert.Equal(t, map[string]float64{"a": 1}, gauges(t, registry))
	mustEnter(t, b)
	mustEnter(t, b).silent(errors.New("nobody home"))
	step(clock, time.Second)
	assert.Nil(t, b.blocked(), "after an answer, pauses begin anew")
}

func TestWhatIsKnownAlreadyDoesNotCount(t *testing.T) {
	b, clock, _ := newTestBreaker(t)
	first, second, third, slow := mustEnter(t, b), mustEnter(t, b), mustEnter(t, b), mustEnter(t, b)
	first.silent(errors.New("nobody home"))
	second.silent(errors.New("nobody home"))
	third.silent(errors.New("nobody home"))
	step(clock, time.Second)
	require.Nil(t, b.blocked(), "three that failed at once are one failure")

	mustEnter(t, b).answered()
	failure := slow.silent(errors.New("no answer"))
	assert.EqualError(t, failure, "reaching seed a: no answer")
	assert.Nil(t, b.last(), "a seed that answers others is there")

	slow = mustEnter(t, b)
	mustEnter(t, b).answered()
	slow.silent(errors.New("no answer"))
	assert.Nil(t, b.last(), "also when it was there all the time")

	late := mustEnter(t, b)
	late.answered()
	late.silent(errors.New("in the middle of it"))
	assert.NotNil(t, b.last(), "a seed may fall silent in the middle of an answer")
}

func TestAForgottenSeedHasNoMetric(t *testing.T) {
	b, _, registry := newTestBreaker(t)
	p := mustEnter(t, b)
	mustEnter(t, b).answered()
	require.Contains(t, gauges(t, registry), "a")
	b.retire()
	p.silent(errors.New("nobody home"))
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
