package contract

import (
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	utilversion "k8s.io/apimachinery/pkg/util/version"
)

// MutatingAdmissionPolicies returns the API version in which a shoot's kube-apiserver serves MutatingAdmissionPolicies, or
// nothing. It does so by itself since 1.36, and before that only when the shoot's owner has switched gate and version on.
func MutatingAdmissionPolicies(kubernetes gardencorev1beta1.Kubernetes) (apiVersion string) {
	const group = "admissionregistration.k8s.io/"
	since136 := utilversion.MajorMinor(1, 36)
	if version, err := utilversion.ParseGeneric(kubernetes.Version); err == nil && version.AtLeast(since136) {
		return group + "v1"
	}
	server := kubernetes.KubeAPIServer
	if server == nil || !server.FeatureGates["MutatingAdmissionPolicy"] {
		return ""
	}
	for _, version := range []string{group + "v1beta1", group + "v1alpha1"} {
		if server.RuntimeConfig[version] {
			return version
		}
	}
	return ""
}
