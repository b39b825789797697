package contract

import (
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	utilversion "k8s.io/apimachinery/pkg/util/version"
)

// MutatingAdmissionPolicies returns the API version in which a shoot's kube-apiserver serves MutatingAdmissionPolicies, or
// an empty string. It does so by default since 1.36, and before that only if the shoot's owner has enabled the feature gate and a
// version of the group that has the kind: v1beta1 since 1.34, v1alpha1 since 1.32.
func MutatingAdmissionPolicies(kubernetes gardencorev1beta1.Kubernetes) (apiVersion string) {
	const group = "admissionregistration.k8s.io/"
	version, err := utilversion.ParseGeneric(kubernetes.Version)
	if err != nil {
		return ""
	}
	if version.AtLeast(utilversion.MajorMinor(1, 36)) {
		return group + "v1"
	}
	server := kubernetes.KubeAPIServer
	if server == nil || !server.FeatureGates["MutatingAdmissionPolicy"] {
		return ""
	}
	for _, served := range []struct {
		apiVersion string
		since      *utilversion.Version
	}{
		{group + "v1beta1", utilversion.MajorMinor(1, 34)},
		{group + "v1alpha1", utilversion.MajorMinor(1, 32)},
	} {
		if server.RuntimeConfig[served.apiVersion] && version.AtLeast(served.since) {
			return served.apiVersion
		}
	}
	return ""
}
