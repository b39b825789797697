package seeds

import "github.com/prometheus/client_golang/prometheus"

// metrics report which seeds are reachable.
type metrics struct {
	reachable *prometheus.GaugeVec
}

func newMetrics(registerer prometheus.Registerer) (*metrics, error) {
	m := &metrics{reachable: prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "trellis_seed_reachable",
		Help: "1 if the last attempt to reach a seed succeeded, 0 if it failed.",
	}, []string{"seed"})}
	if registerer == nil {
		return m, nil
	}
	return m, registerer.Register(m.reachable)
}

func (m *metrics) set(seed string, reachable bool) {
	value := 0.0
	if reachable {
		value = 1
	}
	m.reachable.WithLabelValues(seed).Set(value)
}

func (m *metrics) forget(seed string) { m.reachable.DeleteLabelValues(seed) }
