package infrastructure

import (
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/internal/kinds"
)

// AddToScheme registers the API types of the contract. The binary and the suites use it, so that a suite knows exactly the binary's types.
func AddToScheme(scheme *runtime.Scheme) error {
	builder := runtime.NewSchemeBuilder(
		kinds.In(corev1.SchemeGroupVersion, &corev1.Secret{}),
		kinds.In(extensionsv1alpha1.SchemeGroupVersion,
			&extensionsv1alpha1.Infrastructure{}, &extensionsv1alpha1.InfrastructureList{}, &extensionsv1alpha1.Cluster{}),
	)
	return builder.AddToScheme(scheme)
}
