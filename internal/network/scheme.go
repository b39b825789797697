package network

import (
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	monitoringv1alpha1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/internal/kinds"
)

// AddToScheme registers the API types that the contract reads and writes. What network plugins consist of has its kind in itself. The binary and the
// suites share it, so that no suite registers a type that the binary lacks.
func AddToScheme(scheme *runtime.Scheme) error {
	builder := runtime.NewSchemeBuilder(
		kinds.In(extensionsv1alpha1.SchemeGroupVersion,
			&extensionsv1alpha1.Network{}, &extensionsv1alpha1.NetworkList{}, &extensionsv1alpha1.Cluster{},
			&extensionsv1alpha1.DNSRecord{}, &extensionsv1alpha1.DNSRecordList{}),
		kinds.In(resourcesv1alpha1.SchemeGroupVersion, &resourcesv1alpha1.ManagedResource{}, &resourcesv1alpha1.ManagedResourceList{}),
		// Besides Secrets, these are what other extensions for a plugin have left in the seed.
		kinds.In(corev1.SchemeGroupVersion, &corev1.Secret{}, &corev1.SecretList{}, &corev1.ConfigMap{}),
		kinds.In(monitoringv1alpha1.SchemeGroupVersion, &monitoringv1alpha1.ScrapeConfig{}),
	)
	return builder.AddToScheme(scheme)
}
