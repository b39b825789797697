package controlplane

import (
	druidcorev1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	vpaautoscalingv1 "k8s.io/autoscaler/vertical-pod-autoscaler/pkg/apis/autoscaling.k8s.io/v1"
)

// AddToScheme registers the API types of the contract, its webhooks and its drivers' components. The binary and the suites use it, so that a suite knows
// exactly the binary's types.
func AddToScheme(scheme *runtime.Scheme) error {
	builder := runtime.NewSchemeBuilder(
		corev1.AddToScheme, extensionsv1alpha1.AddToScheme, resourcesv1alpha1.AddToScheme, druidcorev1alpha1.AddToScheme,
		vpaautoscalingv1.AddToScheme, monitoringv1.AddToScheme,
		// Whether a kube-apiserver runs and how components are is read from Deployments, what has to go from a shoot are bindings.
		appsv1.AddToScheme, rbacv1.AddToScheme,
	)
	return builder.AddToScheme(scheme)
}
