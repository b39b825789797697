package calico

import (
	monitoringv1alpha1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/network/monitoring"
)

// Services in the shoot through which Prometheus discovers the metrics, and the names of their ports. The containers must declare these ports, too:
// Prometheus takes the number from there.
const (
	felixMetricsService, felixMetricsPortName, felixMetricsPort = "calico-felix-monitoring", "metrics", 9091
	typhaMetricsService, typhaMetricsPortName, typhaMetricsPort = "calico-typha-monitoring", "metrics", 9093
	birdMetricsService, birdMetricsPortName, birdMetricsPort    = "calico-bird-monitoring", "bird-metrics", 9094
)

// Jobs have upstream's names, so that time series continue when a shoot moves to this extension.
const (
	felixJob = "felix-metrics"
	typhaJob = "typha-metrics"
	birdJob  = "bird-metrics"
)

const dashboardsName = "calico-dashboards"

// monitoringObjects returns the monitoring of Calico in the seed: scrape configurations, alerts and dashboards.
func (s *settings) monitoringObjects() ([]client.Object, error) {
	dashboards, err := s.dashboards()
	if err != nil {
		return nil, err
	}
	var objects []client.Object
	for _, target := range s.scrapeTargets() {
		objects = append(objects, monitoring.ScrapeConfig(s.namespace, target))
	}
	return append(objects, monitoring.Rule(s.namespace, "calico", s.alerts()), dashboards), nil
}

// exportsBIRD reports whether a container next to calico-node exposes BIRD's metrics.
func (s *settings) exportsBIRD() bool {
	return s.config.BirdExporter != nil && s.config.BirdExporter.Enabled && s.form.Backend == "bird"
}

// scrapeTargets omits components that are not deployed: Gardener reports a ScrapeConfig without targets as unhealthy. The metrics to keep are upstream's, which users
// have in dashboards and alerts.
func (s *settings) scrapeTargets() []monitoring.Target {
	targets := []monitoring.Target{{
		Name: "calico-felix", Job: felixJob, Service: felixMetricsService, PortName: felixMetricsPortName, Keep: "felix_.+",
	}}
	if s.form.Typha {
		targets = append(targets, monitoring.Target{
			Name: "calico-typha", Job: typhaJob, Service: typhaMetricsService, PortName: typhaMetricsPortName, Keep: "typha_.+",
		})
	}
	if s.exportsBIRD() {
		targets = append(targets, monitoring.Target{
			Name: "calico-bird", Job: birdJob, Service: birdMetricsService, PortName: birdMetricsPortName, Keep: "bird_protocol_(up.*|prefix_(export|filter|import)_count)",
		})
	}
	return targets
}

// retiredSeedObjects returns the objects that upstream's extension created in the seed and that these settings do not render. Upstream applied them
// itself, so no ManagedResource deletes them.
func (s *settings) retiredSeedObjects() []client.Object {
	retired := []client.Object{&corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Name: "calico-monitoring-config", Namespace: s.namespace},
	}}
	wanted := map[string]bool{}
	for _, target := range s.scrapeTargets() {
		wanted[target.Name] = true
	}
	for _, name := range []string{"calico-typha", "calico-bird", "calico-bird-exporter"} {
		if !wanted[name] {
			retired = append(retired, &monitoringv1alpha1.ScrapeConfig{
				TypeMeta: metav1.TypeMeta{
					APIVersion: monitoringv1alpha1.SchemeGroupVersion.String(), Kind: monitoringv1alpha1.ScrapeConfigsKind,
				},
				ObjectMeta: metav1.ObjectMeta{Name: monitoring.ObjectName(name), Namespace: s.namespace},
			})
		}
	}
	return retired
}
