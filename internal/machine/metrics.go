package machine

import (
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics counts MCM's requests.
type Metrics struct {
	operations *prometheus.CounterVec
	duration   *prometheus.HistogramVec
}

// NewMetrics returns metrics that are registered if there is a registerer. It fails if the registerer has other metrics with the same
// names.
func NewMetrics(registerer prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		operations: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "trellis_machine_operations_total",
			Help: "Requests of machine-controller-manager to the machine driver, by operation and status code.",
		}, []string{"operation", "code"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "trellis_machine_operation_duration_seconds",
			Help:    "Duration of requests of machine-controller-manager to the machine driver, by operation.",
			Buckets: []float64{.05, .1, .5, 1, 5, 10, 30, 60, 120, 300, 600},
		}, []string{"operation"}),
	}
	if registerer == nil {
		return m, nil
	}
	if err := errors.Join(registerer.Register(m.operations), registerer.Register(m.duration)); err != nil {
		return nil, fmt.Errorf("registering the metrics of machines: %w", err)
	}
	return m, nil
}

// Observe counts a request that has ended.
func (m *Metrics) Observe(operation string, started time.Time, err error) {
	m.operations.WithLabelValues(operation, CodeOf(err).String()).Inc()
	m.duration.WithLabelValues(operation).Observe(time.Since(started).Seconds())
}
