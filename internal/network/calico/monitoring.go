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

// Services in the shoot by which Prometheus finds who shows metrics, and what their ports are called. The containers have to
// declare these ports as well: Prometheus learns the number from there.
const (
	felixMetricsService, felixMetricsPortName, felixMetricsPort = "calico-felix-monitoring", "metrics", 9091
	typhaMetricsService, typhaMetricsPortName, typhaMetricsPort = "calico-typha-monitoring", "metrics", 9093
	birdMetricsService, birdMetricsPortName, birdMetricsPort    = "calico-bird-monitoring", "bird-metrics", 9094
)

// Jobs are those of upstream's extension, so that series go on when a shoot is taken over.
const (
	felixJob = "felix-metrics"
	typhaJob = "typha-metrics"
	birdJob  = "bird-metrics"
)

const (
	// prometheusName is the Prometheus in the shoot's namespace of the seed.
	prometheusName = "shoot"
	// prometheusAccess is the Secret with the token that Prometheus shows the shoot's kube-apiserver.
	prometheusAccess = "shoot-access-prometheus-shoot"
	// apiServerService is the shoot's kube-apiserver, as seen from its namespace in the seed.
	apiServerService = v1beta1constants.DeploymentNameKubeAPIServer
	dashboardsName   = "calico-dashboards"
)

// monitoringObjects returns what makes Calico visible in the seed: what Prometheus scrapes, what it warns of, and dashboards.
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

// exportsBIRD is true where a container next to calico-node shows metrics of BIRD. Without BIRD there are none to show.
func (s *settings) exportsBIRD() bool {
	return s.config.BirdExporter != nil && s.config.BirdExporter.Enabled && s.form.Backend == "bird"
}

// scrapeTarget is a part of Calico that shows metrics.
type scrapeTarget struct {
	// name is the end of the ScrapeConfig's, e.g. "calico-felix".
	name, job         string
	service, portName string
	// keep matches the metrics that are kept, of all that the part shows. Those are upstream's, on which users have dashboards and alerts.
	keep string
}

// scrapeTargets leaves out parts that are not there: Gardener finds fault with a ScrapeConfig that finds nothing.
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

// scrapeConfig is in the form of Gardener's own for what runs in shoots: pods are found by the shoot's kube-apiserver and
// scraped through its proxy, as nothing in a shoot can be reached from the seed in any other way.
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

// relabelings leave the target's pods over, name them, and turn to the kube-apiserver for them.
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

// prometheusMeta has the label by which the shoot's Prometheus selects, and its name in front as Gardener's objects have.
func (s *settings) prometheusMeta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: prometheusName + "-" + name, Namespace: s.namespace, Labels: map[string]string{"prometheus": prometheusName},
	}
}

// retiredSeedObjects are those that upstream's extension has put into the seed and that these settings have no use for.
// Upstream applied them itself, so no ManagedResource takes them away.
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
