package worker

import (
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	vpaautoscalingv1 "k8s.io/autoscaler/vertical-pod-autoscaler/pkg/apis/autoscaling.k8s.io/v1"
)

// AddToScheme registers the API types that the contract and its webhooks use. Binary and suites call it, so that no suite
// has a type that the binary does not have.
func AddToScheme(scheme *runtime.Scheme) error {
	builder := runtime.NewSchemeBuilder(
		extensionsv1alpha1.AddToScheme, machinev1alpha1.AddToScheme, vpaautoscalingv1.AddToScheme,
		// Credentials and user data are Secrets; machine-controller-manager is a Deployment with pods.
		corev1.AddToScheme, appsv1.AddToScheme,
		// A Deployment is scaled by its subresource, a Scale.
		autoscalingv1.AddToScheme,
	)
	return builder.AddToScheme(scheme)
}
