package infrastructure

import (
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// AddToScheme registers the API types of the contract. The binary and the suites use it, so that a suite knows exactly the binary's types.
func AddToScheme(scheme *runtime.Scheme) error {
	builder := runtime.NewSchemeBuilder(corev1.AddToScheme, extensionsv1alpha1.AddToScheme)
	return builder.AddToScheme(scheme)
}
