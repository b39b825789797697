package calico

import (
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	monitoringv1alpha1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
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

const (
	// prometheusName is the Prometheus in the shoot's namespace of the seed.
	prometheusName = "shoot"
	// prometheusAccess is the Secret with Prometheus' token for the shoot's kube-apiserver.
	prometheusAccess = "shoot-access-prometheus-shoot"
	// apiServerService is the shoot's kube-apiserver, as seen from its namespace in the seed.
	apiServerService = v1beta1constants.DeploymentNameKubeAPIServer
	dashboardsName   = "calico-dashboards"
)

// monitoringObjects returns the monitoring of Calico in the seed: scrape configurations, alerts and dashboards.
func (s *settings) monitoringObjects() ([]client.Object, error) {
	dashboards, err := s.dashboards()
	if err != nil {
		return nil, err
	}
	var objects []client.Object
	for _, target := range s.scrapeTargets() {
		objects = append(objects, s.scrapeConfig(target))
	}
	return append(objects, s.prometheusRule(), dashboards), nil
}

// exportsBIRD reports whether a container next to calico-node exposes BIRD's metrics.
func (s *settings) exportsBIRD() bool {
	return s.config.BirdExporter != nil && s.config.BirdExporter.Enabled && s.form.Backend == "bird"
}

// scrapeTarget is a component of Calico that exposes metrics.
type scrapeTarget struct {
	// name is the suffix of the ScrapeConfig's name, e.g. "calico-felix".
	name, job         string
	service, portName string
	// keep matches the metrics to keep. They are upstream's, which users have in dashboards and alerts.
	keep string
}

// scrapeTargets omits components that are not deployed: Gardener reports a ScrapeConfig without targets as unhealthy.
func (s *settings) scrapeTargets() []scrapeTarget {
	targets := []scrapeTarget{{
		name: "calico-felix", job: felixJob, service: felixMetricsService, portName: felixMetricsPortName, keep: "felix_.+",
	}}
	if s.form.Typha {
		targets = append(targets, scrapeTarget{
			name: "calico-typha", job: typhaJob, service: typhaMetricsService, portName: typhaMetricsPortName, keep: "typha_.+",
		})
	}
	if s.exportsBIRD() {
		targets = append(targets, scrapeTarget{
			name: "calico-bird", job: birdJob, service: birdMetricsService, portName: birdMetricsPortName, keep: "bird_protocol_(up.*|prefix_(export|filter|import)_count)",
		})
	}
	return targets
}

// scrapeConfig has the form of Gardener's own for components in shoots: Prometheus discovers pods through the shoot's kube-apiserver and scrapes them
// through its proxy, since the seed has no other access to a shoot.
func (s *settings) scrapeConfig(target scrapeTarget) *monitoringv1alpha1.ScrapeConfig {
	token := &monitoringv1.SafeAuthorization{Credentials: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: prometheusAccess}, Key: resourcesv1alpha1.DataKeyToken,
	}}
	// Gardener does not verify the kube-apiserver here either: the bundle's Secret has a name that changes.
	unverified := &monitoringv1.SafeTLSConfig{InsecureSkipVerify: new(true)}
	return &monitoringv1alpha1.ScrapeConfig{
		TypeMeta: metav1.TypeMeta{
			APIVersion: monitoringv1alpha1.SchemeGroupVersion.String(), Kind: monitoringv1alpha1.ScrapeConfigsKind,
		},
		ObjectMeta: s.prometheusMeta(target.name),
		Spec: monitoringv1alpha1.ScrapeConfigSpec{
			HonorLabels:   new(false),
			Scheme:        new(monitoringv1.SchemeHTTPS),
			TLSConfig:     unverified,
			Authorization: token,
			KubernetesSDConfigs: []monitoringv1alpha1.KubernetesSDConfig{{
				Role:          monitoringv1alpha1.KubernetesRoleEndpoint,
				APIServer:     new("https://" + apiServerService),
				Namespaces:    &monitoringv1alpha1.NamespaceDiscovery{Names: []string{metav1.NamespaceSystem}},
				Authorization: token.DeepCopy(),
				TLSConfig:     unverified.DeepCopy(),
			}},
			RelabelConfigs: relabelings(target),
			MetricRelabelConfigs: []monitoringv1.RelabelConfig{{
				Action: "keep", SourceLabels: labelNames("__name__"), Regex: target.keep,
			}},
		},
	}
}

// relabelings keep the target's pods, name them, and redirect the requests to the kube-apiserver.
func relabelings(target scrapeTarget) []monitoringv1.RelabelConfig {
	return []monitoringv1.RelabelConfig{
		{Action: "replace", Replacement: new(target.job), TargetLabel: "job"},
		{Replacement: new("shoot"), TargetLabel: "type"},
		{
			Action:       "keep",
			SourceLabels: labelNames("__meta_kubernetes_service_name", "__meta_kubernetes_endpoint_port_name"),
			Regex:        target.service + ";" + target.portName,
		},
		{Action: "labelmap", Regex: `__meta_kubernetes_service_label_(.+)`},
		{SourceLabels: labelNames("__meta_kubernetes_pod_name"), TargetLabel: "pod"},
		{SourceLabels: labelNames("__meta_kubernetes_pod_node_name"), TargetLabel: "node"},
		{Replacement: new(apiServerService + ":443"), TargetLabel: "__address__"},
		{
			SourceLabels: labelNames("__meta_kubernetes_pod_name", "__meta_kubernetes_pod_container_port_number"),
			Regex:        `(.+);(.+)`,
			Replacement:  new("/api/v1/namespaces/" + metav1.NamespaceSystem + "/pods/${1}:${2}/proxy/metrics"),
			TargetLabel:  "__metrics_path__",
		},
	}
}

func labelNames(names ...monitoringv1.LabelName) []monitoringv1.LabelName { return names }

// prometheusMeta has the label that the shoot's Prometheus selects, and its name as a prefix as Gardener's objects have.
func (s *settings) prometheusMeta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: prometheusName + "-" + name, Namespace: s.namespace, Labels: map[string]string{"prometheus": prometheusName},
	}
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
		wanted[target.name] = true
	}
	for _, name := range []string{"calico-typha", "calico-bird", "calico-bird-exporter"} {
		if !wanted[name] {
			retired = append(retired, &monitoringv1alpha1.ScrapeConfig{
				TypeMeta: metav1.TypeMeta{
					APIVersion: monitoringv1alpha1.SchemeGroupVersion.String(), Kind: monitoringv1alpha1.ScrapeConfigsKind,
				},
				ObjectMeta: metav1.ObjectMeta{Name: prometheusName + "-" + name, Namespace: s.namespace},
			})
		}
	}
	return retired
}
