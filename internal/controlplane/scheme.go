package controlplane

import (
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/internal/kinds"
)

// AddToScheme registers the API types that the contract reads and writes. What components consist of has its kind in itself. The binary and the suites
// use it, so that a suite knows exactly the binary's types.
func AddToScheme(scheme *runtime.Scheme) error {
	builder := runtime.NewSchemeBuilder(
		kinds.In(corev1.SchemeGroupVersion, &corev1.Secret{}, &corev1.SecretList{}, &corev1.Pod{}, &corev1.PodList{}),
		kinds.In(extensionsv1alpha1.SchemeGroupVersion, &extensionsv1alpha1.ControlPlane{}, &extensionsv1alpha1.ControlPlaneList{}, &extensionsv1alpha1.Cluster{}),
		kinds.In(resourcesv1alpha1.SchemeGroupVersion, &resourcesv1alpha1.ManagedResource{}, &resourcesv1alpha1.ManagedResourceList{}),
		// Whether a kube-apiserver runs and how components are is read from Deployments, what has to go from a shoot are bindings.
		kinds.In(appsv1.SchemeGroupVersion, &appsv1.Deployment{}),
		kinds.In(rbacv1.SchemeGroupVersion, &rbacv1.ClusterRoleBinding{}, &rbacv1.RoleBinding{}),
	)
	return builder.AddToScheme(scheme)
}
