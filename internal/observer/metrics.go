package observer

import (
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// metrics hold the last result of each observation of each object, so that alerts can name the shoot.
type metrics struct {
	conflicts     prometheus.Counter
	failures      *prometheus.CounterVec
	healthy, asOf *prometheus.GaugeVec
}

func newMetrics(registerer prometheus.Registerer, name string) (*metrics, error) {
	constant := prometheus.Labels{"contract": name}
	ofObject := []string{"namespace", "type", "observation"}
	m := &metrics{
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
		healthy: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name:        "trellis_observation_healthy",
			Help:        "Last result of an observation of a shoot, by the shoot's namespace in the seed: 1 healthy, 0 unhealthy, -1 unknown.",
			ConstLabels: constant,
		}, ofObject),
		asOf: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name:        "trellis_observation_timestamp_seconds",
			Help:        "Unix time of the reads that the last result of an observation of a shoot depends on, by the shoot's namespace in the seed.",
			ConstLabels: constant,
		}, ofObject),
	}
	if registerer == nil {
		return m, nil
	}
	for _, collector := range []prometheus.Collector{m.conflicts, m.failures, m.healthy, m.asOf} {
		if err := registerer.Register(collector); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// set records the result of an observation; condition is nil if it does not apply, or nothing is known yet.
func (m *metrics) set(key client.ObjectKey, objectType, observation string, condition *gardencorev1beta1.Condition, asOf time.Time) {
	if condition == nil {
		m.healthy.DeleteLabelValues(key.Namespace, objectType, observation)
		m.asOf.DeleteLabelValues(key.Namespace, objectType, observation)
		return
	}
	value := -1.0
	switch condition.Status {
	case gardencorev1beta1.ConditionTrue:
		value = 1
	case gardencorev1beta1.ConditionFalse:
		value = 0
	default:
	}
	m.healthy.WithLabelValues(key.Namespace, objectType, observation).Set(value)
	m.asOf.WithLabelValues(key.Namespace, objectType, observation).Set(float64(asOf.Unix()))
}

func (m *metrics) failed(observation string) { m.failures.WithLabelValues(observation).Inc() }

// forget removes the results of an object. A namespace has one object of a kind.
func (m *metrics) forget(key client.ObjectKey) {
	labels := prometheus.Labels{"namespace": key.Namespace}
	m.healthy.DeletePartialMatch(labels)
	m.asOf.DeletePartialMatch(labels)
}
