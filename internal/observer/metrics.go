package observer

import (
	"maps"
	"slices"
	"sync"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// metrics hold the last result of each observation of each object, so that alerts can name the shoot. It is a Collector, since objects come and go.
type metrics struct {
	clock     clock.PassiveClock
	conflicts prometheus.Counter
	failures  *prometheus.CounterVec

	healthy, age *prometheus.Desc

	mutex   sync.Mutex
	results map[client.ObjectKey]map[string]observed // by the name of the observation
}

// observed is the last result of one observation of one object.
type observed struct {
	objectType string
	value      float64
	asOf       time.Time
}

var _ prometheus.Collector = (*metrics)(nil)

func newMetrics(registerer prometheus.Registerer, name string, clock clock.PassiveClock) (*metrics, error) {
	constant := prometheus.Labels{"contract": name}
	labels := []string{"namespace", "type", "observation"}
	m := &metrics{
		clock: clock,
		conflicts: prometheus.NewCounter(prometheus.CounterOpts{
			Name:        "trellis_observation_conflicts_total",
			Help:        "Writes of conditions that were repeated because the object had been changed meanwhile.",
			ConstLabels: constant,
		}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name:        "trellis_observation_failures_total",
			Help:        "Observations of single aspects that failed, by observation.",
			ConstLabels: constant,
		}, []string{"observation"}),
		healthy: prometheus.NewDesc("trellis_observation_healthy",
			"Last result of an observation of a shoot: 1 healthy, 0 unhealthy, -1 unknown; by the shoot's namespace in the seed.", labels, constant),
		age: prometheus.NewDesc("trellis_observation_age_seconds",
			"Age of the reads that the last result of an observation of a shoot depends on.", labels, constant),
		results: map[client.ObjectKey]map[string]observed{},
	}
	if registerer == nil {
		return m, nil
	}
	for _, collector := range []prometheus.Collector{m.conflicts, m.failures, m} {
		if err := registerer.Register(collector); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// set records the result of an observation; condition is nil if it does not apply, or nothing is known yet.
func (m *metrics) set(key client.ObjectKey, objectType, observation string, condition *gardencorev1beta1.Condition, asOf time.Time) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if condition == nil {
		delete(m.results[key], observation)
		return
	}
	if m.results[key] == nil {
		m.results[key] = map[string]observed{}
	}
	value := -1.0
	switch condition.Status {
	case gardencorev1beta1.ConditionTrue:
		value = 1
	case gardencorev1beta1.ConditionFalse:
		value = 0
	default:
	}
	m.results[key][observation] = observed{objectType: objectType, value: value, asOf: asOf}
}

func (m *metrics) failed(observation string) { m.failures.WithLabelValues(observation).Inc() }

// forget removes the results of an object.
func (m *metrics) forget(key client.ObjectKey) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	delete(m.results, key)
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- m.healthy
	descriptions <- m.age
}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(values chan<- prometheus.Metric) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for key, results := range m.results {
		for _, observation := range slices.Sorted(maps.Keys(results)) {
			result := results[observation]
			labels := []string{key.Namespace, result.objectType, observation}
			values <- prometheus.MustNewConstMetric(m.healthy, prometheus.GaugeValue, result.value, labels...)
			values <- prometheus.MustNewConstMetric(m.age, prometheus.GaugeValue, m.clock.Since(result.asOf).Seconds(), labels...)
		}
	}
}
