package contract

import (
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/prometheus/client_golang/prometheus"
)

// metrics count and time a contract's reconciliations.
type metrics struct {
	reconciliations *prometheus.CounterVec
	duration        *prometheus.HistogramVec
}

// Results of a reconciliation, as the label result of trellis_reconcile_total.
const (
	resultSucceeded   = "succeeded"
	resultFailed      = "failed"
	resultInterrupted = "interrupted"
)

func newMetrics(registerer prometheus.Registerer, contract string) (*metrics, error) {
	constant := prometheus.Labels{"contract": contract}
	m := &metrics{
		reconciliations: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name:        "trellis_reconcile_total",
			Help:        "Reconciliations of extension objects by operation and result (succeeded, failed, interrupted).",
			ConstLabels: constant,
		}, []string{"operation", "result"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:        "trellis_reconcile_duration_seconds",
			Help:        "Time from the start of an operation to its final status, by operation.",
			ConstLabels: constant,
			Buckets:     []float64{.1, .25, .5, 1, 2.5, 5, 10, 30, 60, 180, 600, 1200},
		}, []string{"operation"}),
	}
	if registerer == nil {
		return m, nil
	}
	for _, collector := range []prometheus.Collector{m.reconciliations, m.duration} {
		if err := registerer.Register(collector); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *metrics) observe(operation gardencorev1beta1.LastOperationType, result string, took time.Duration) {
	m.reconciliations.WithLabelValues(string(operation), result).Inc()
	m.duration.WithLabelValues(string(operation)).Observe(took.Seconds())
}
