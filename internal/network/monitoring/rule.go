package monitoring

import (
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Alert is an alert of Prometheus.
type Alert struct {
	Name       string
	Expression string
	// Wait is how long the expression must be true, as Prometheus writes durations.
	Wait string
	// Severity is "warning" or "critical".
	Severity string
	// Visibility is who receives it: "operator", "owner" of the shoot, or "all".
	Visibility           string
	Summary, Description string
}

// Rule returns the alerts of a service, e.g. "calico", in the shoot's namespace of the seed.
func Rule(namespace, service string, alerts []Alert) *monitoringv1.PrometheusRule {
	rules := make([]monitoringv1.Rule, 0, len(alerts))
	for _, alert := range alerts {
		rules = append(rules, monitoringv1.Rule{
			Alert: alert.Name,
			Expr:  intstr.FromString(alert.Expression),
			For:   new(monitoringv1.Duration(alert.Wait)),
			Labels: map[string]string{
				"service": service, "severity": alert.Severity, "type": "shoot", "visibility": alert.Visibility,
			},
			Annotations: map[string]string{"summary": alert.Summary, "description": alert.Description},
		})
	}
	return &monitoringv1.PrometheusRule{
		TypeMeta:   metav1.TypeMeta{APIVersion: monitoringv1.SchemeGroupVersion.String(), Kind: monitoringv1.PrometheusRuleKind},
		ObjectMeta: prometheusMeta(namespace, service),
		Spec:       monitoringv1.PrometheusRuleSpec{Groups: []monitoringv1.RuleGroup{{Name: service + ".rules", Rules: rules}}},
	}
}
