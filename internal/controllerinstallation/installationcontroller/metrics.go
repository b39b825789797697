package installationcontroller

import (
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/prometheus/client_golang/prometheus"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

// metrics report the phases of installations.
type metrics struct {
	phase *prometheus.GaugeVec
}

// newMetrics registers the metrics, unless registerer is nil.
func newMetrics(registerer prometheus.Registerer) (*metrics, error) {
	m := &metrics{phase: prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "trellis_installation_phase",
		Help: "1 for the phase that a ControllerInstallation is in.",
	}, []string{"installation", "seed", "phase"})}
	if registerer == nil {
		return m, nil
	}
	return m, registerer.Register(m.phase)
}

func (m *metrics) installation(of *gardencorev1beta1.ControllerInstallation, status *installationv1alpha1.ControllerInstallationStatus) {
	m.forgetInstallation(of.Name)
	m.phase.WithLabelValues(of.Name, of.Spec.SeedRef.Name, string(status.Phase)).Set(1)
}

func (m *metrics) forgetInstallation(name string) {
	m.phase.DeletePartialMatch(prometheus.Labels{"installation": name})
}
