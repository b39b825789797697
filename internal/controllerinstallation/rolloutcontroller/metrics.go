package rolloutcontroller

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/rollout"
)

// metrics report the state of rollouts.
type metrics struct {
	rolloutState  *prometheus.GaugeVec
	due           *prometheus.GaugeVec
	emptyWaves    *prometheus.GaugeVec
	messages      *prometheus.GaugeVec
	installations *prometheus.GaugeVec
}

// newMetrics registers the metrics, unless registerer is nil.
func newMetrics(registerer prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		rolloutState: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "trellis_rollout_state",
			Help: "1 for the state (Idle, Advancing, Soaking, Waiting, Paused, RollingBack, Stopped) that the rollout of a ControllerDeployment is in.",
		}, []string{"deployment", "state"}),
		due: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "trellis_rollout_due_timestamp_seconds",
			Help: "When the rollout of a ControllerDeployment should have gone on, had all been well: the last assignment with the time to become healthy and to soak. " +
				"Absent when nothing is to go on.",
		}, []string{"deployment"}),
		emptyWaves: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "trellis_rollout_empty_waves",
			Help: "Number of waves of a ControllerDeployment that select no seed with an installation.",
		}, []string{"deployment"}),
		messages: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "trellis_rollout_warnings",
			Help: "1 when seeds were deleted while the newest revision of a ControllerDeployment was failing in them, 0 or absent otherwise.",
		}, []string{"deployment"}),
		installations: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "trellis_rollout_installations",
			Help: "Installations of the wave that a rollout is at, all of them (total) and those that are healthy with the newest revision (updated).",
		}, []string{"deployment", "wave", "count"}),
	}
	if registerer == nil {
		return m, nil
	}
	for _, collector := range []prometheus.Collector{m.rolloutState, m.due, m.emptyWaves, m.messages, m.installations} {
		if err := registerer.Register(collector); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *metrics) rollout(deployment string, p rollout.Progress, hasMessage bool) {
	m.forgetRollout(deployment)
	if hasMessage {
		m.messages.WithLabelValues(deployment).Set(1)
	}
	m.rolloutState.WithLabelValues(deployment, string(p.State)).Set(1)
	m.emptyWaves.WithLabelValues(deployment).Set(float64(len(p.Empty)))
	if !p.DueAt.IsZero() {
		m.due.WithLabelValues(deployment).Set(float64(p.DueAt.Unix()))
	}
	m.installations.WithLabelValues(deployment, p.Wave, "updated").Set(float64(p.Updated))
	m.installations.WithLabelValues(deployment, p.Wave, "total").Set(float64(p.Total))
}

func (m *metrics) forgetRollout(deployment string) {
	m.rolloutState.DeletePartialMatch(prometheus.Labels{"deployment": deployment})
	for _, vector := range []*prometheus.GaugeVec{m.due, m.emptyWaves, m.messages, m.installations} {
		vector.DeletePartialMatch(prometheus.Labels{"deployment": deployment})
	}
}
