package monitoring

import (
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	monitoringv1alpha1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// prometheusName is the Prometheus in the shoot's namespace of the seed.
	prometheusName = "shoot"
	// prometheusAccess is the Secret with Prometheus' token for the shoot's kube-apiserver.
	prometheusAccess = "shoot-access-prometheus-shoot"
	// apiServerService is the shoot's kube-apiserver, as seen from its namespace in the seed.
	apiServerService = v1beta1constants.DeploymentNameKubeAPIServer
)

// Target is a component in kube-system of the shoot that exposes metrics.
type Target struct {
	// Name is the suffix of the ScrapeConfig's name, e.g. "calico-felix".
	Name, Job string
	// Service selects the component's pods, and PortName is the name of the port with the metrics. The containers must declare that port, too: Prometheus
	// takes the number from there.
	Service, PortName string
	// Keep matches the names of the metrics to keep.
	Keep string
}

// ScrapeConfig returns the configuration by which Prometheus collects the metrics of a target. It has the form of Gardener's own for components in shoots: Prometheus discovers pods through the shoot's kube-apiserver and scrapes them
// through its proxy, since the seed has no other access to a shoot.
func ScrapeConfig(namespace string, target Target) *monitoringv1alpha1.ScrapeConfig {
	token := &monitoringv1.SafeAuthorization{Credentials: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: prometheusAccess}, Key: resourcesv1alpha1.DataKeyToken,
	}}
	// Gardener does not verify the kube-apiserver here either: the bundle's Secret has a name that changes.
	unverified := &monitoringv1.SafeTLSConfig{InsecureSkipVerify: new(true)}
	return &monitoringv1alpha1.ScrapeConfig{
		TypeMeta: metav1.TypeMeta{
			APIVersion: monitoringv1alpha1.SchemeGroupVersion.String(), Kind: monitoringv1alpha1.ScrapeConfigsKind,
		},
		ObjectMeta: prometheusMeta(namespace, target.Name),
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
				Action: "keep", SourceLabels: labelNames("__name__"), Regex: target.Keep,
			}},
		},
	}
}

// relabelings keep the target's pods, name them, and redirect the requests to the kube-apiserver.
func relabelings(target Target) []monitoringv1.RelabelConfig {
	return []monitoringv1.RelabelConfig{
		{Action: "replace", Replacement: new(target.Job), TargetLabel: "job"},
		{Replacement: new("shoot"), TargetLabel: "type"},
		{
			Action:       "keep",
			SourceLabels: labelNames("__meta_kubernetes_service_name", "__meta_kubernetes_endpoint_port_name"),
			Regex:        target.Service + ";" + target.PortName,
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
func prometheusMeta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: ObjectName(name), Namespace: namespace, Labels: map[string]string{"prometheus": prometheusName},
	}
}

// ObjectName returns the name of an object that belongs to the shoot's Prometheus.
func ObjectName(name string) string { return prometheusName + "-" + name }
