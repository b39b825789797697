package component

import (
	"fmt"
	"maps"
	"strings"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// prometheusName is the Prometheus of a shoot's control plane.
	prometheusName = "shoot"
	// prometheusAccess is the Secret with its token for components that delegate authentication to the shoot's kube-apiserver.
	prometheusAccess = shootAccessPrefix + "prometheus-shoot"
	// bundleKey is the key of a CA bundle in the Secrets of Gardener's secrets manager.
	bundleKey = "bundle.crt"
)

// monitoring returns the Service of the metrics, the ServiceMonitor, and the alerts if there are any.
func (c Component) monitoring(values Values) ([]client.Object, error) {
	port, found := c.port(c.Metrics.Port)
	if !found {
		return nil, fmt.Errorf("no container has the port %q, which has the metrics", c.Metrics.Port)
	}
	service, err := c.metricsService(values, port)
	if err != nil {
		return nil, err
	}
	serviceMonitor, err := c.serviceMonitor(values)
	if err != nil {
		return nil, err
	}
	objects := []client.Object{service, serviceMonitor}
	if len(c.Metrics.Alerts) > 0 {
		objects = append(objects, c.prometheusRule(values))
	}
	return objects, nil
}

// metricsService is headless: Prometheus scrapes pods, and nothing else uses it.
func (c Component) metricsService(values Values, port corev1.ContainerPort) (*corev1.Service, error) {
	annotations, err := allowFrom(v1beta1constants.LabelNetworkPolicyScrapeTargets, port)
	if err != nil {
		return nil, err
	}
	return &corev1.Service{
		TypeMeta: metav1.TypeMeta{APIVersion: corev1.SchemeGroupVersion.String(), Kind: "Service"},
		ObjectMeta: metav1.ObjectMeta{
			Name: c.Name, Namespace: values.Namespace, Labels: maps.Clone(c.Selector),
			Annotations: annotations,
		},
		Spec: corev1.ServiceSpec{
			Type:      corev1.ServiceTypeClusterIP,
			ClusterIP: corev1.ClusterIPNone,
			Selector:  maps.Clone(c.Selector),
			Ports: []corev1.ServicePort{{
				Name: port.Name, Port: port.ContainerPort, TargetPort: intstr.FromInt32(port.ContainerPort), Protocol: corev1.ProtocolTCP,
			}},
		},
	}, nil
}

func (c Component) serviceMonitor(values Values) (*monitoringv1.ServiceMonitor, error) {
	endpoint := monitoringv1.Endpoint{
		Port:           c.Metrics.Port,
		RelabelConfigs: []monitoringv1.RelabelConfig{{Action: "labelmap", Regex: `__meta_kubernetes_service_label_(.+)`}},
		MetricRelabelConfigs: []monitoringv1.RelabelConfig{{
			Action: "keep", SourceLabels: []monitoringv1.LabelName{"__name__"}, Regex: `^(` + strings.Join(c.Metrics.Keep, "|") + `)$`,
		}},
	}
	if c.Metrics.Certificate != "" {
		bundle, found := values.Secrets[CABundleOf(c.Metrics.Certificate)]
		if !found {
			return nil, fmt.Errorf("the plan has no CA bundle of certificate %q, which the metrics endpoint serves", c.Metrics.Certificate)
		}
		endpoint.Scheme = new(monitoringv1.SchemeHTTPS)
		endpoint.HTTPConfigWithTLSFiles = verifiedTLS(bundle, c.Name+"."+values.Namespace+".svc")
	}
	return &monitoringv1.ServiceMonitor{
		TypeMeta:   metav1.TypeMeta{APIVersion: monitoringv1.SchemeGroupVersion.String(), Kind: monitoringv1.ServiceMonitorsKind},
		ObjectMeta: c.prometheusMeta(values),
		Spec: monitoringv1.ServiceMonitorSpec{
			Selector:  metav1.LabelSelector{MatchLabels: maps.Clone(c.Selector)},
			Endpoints: []monitoringv1.Endpoint{endpoint},
		},
	}, nil
}

// verifiedTLS makes Prometheus verify the server before it sends its token.
func verifiedTLS(bundle, serverName string) monitoringv1.HTTPConfigWithTLSFiles {
	key := func(secret, key string) *corev1.SecretKeySelector {
		return &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Key: key}
	}
	return monitoringv1.HTTPConfigWithTLSFiles{
		TLSConfig: &monitoringv1.TLSConfig{SafeTLSConfig: monitoringv1.SafeTLSConfig{
			CA:         monitoringv1.SecretOrConfigMap{Secret: key(bundle, bundleKey)},
			ServerName: new(serverName),
		}},
		HTTPConfigWithoutTLS: monitoringv1.HTTPConfigWithoutTLS{
			Authorization: &monitoringv1.SafeAuthorization{Credentials: key(prometheusAccess, resourcesv1alpha1.DataKeyToken)},
		},
	}
}

func (c Component) prometheusRule(values Values) *monitoringv1.PrometheusRule {
	rules := make([]monitoringv1.Rule, 0, len(c.Metrics.Alerts))
	for _, alert := range c.Metrics.Alerts {
		rule := monitoringv1.Rule{
			Alert: alert.Name,
			Expr:  intstr.FromString(alert.Expression),
			Labels: map[string]string{
				"service": c.Name, "severity": alert.Severity, "type": "seed", "visibility": alert.Visibility,
			},
			Annotations: map[string]string{"summary": alert.Summary, "description": alert.Description},
		}
		if alert.For != "" {
			rule.For = new(monitoringv1.Duration(alert.For))
		}
		rules = append(rules, rule)
	}
	return &monitoringv1.PrometheusRule{
		TypeMeta:   metav1.TypeMeta{APIVersion: monitoringv1.SchemeGroupVersion.String(), Kind: monitoringv1.PrometheusRuleKind},
		ObjectMeta: c.prometheusMeta(values),
		Spec:       monitoringv1.PrometheusRuleSpec{Groups: []monitoringv1.RuleGroup{{Name: c.Name + ".rules", Rules: rules}}},
	}
}

func (c Component) prometheusMeta(values Values) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: prometheusName + "-" + c.Name, Namespace: values.Namespace, Labels: map[string]string{"prometheus": prometheusName},
	}
}
