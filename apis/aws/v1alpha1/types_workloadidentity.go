package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// WorkloadIdentityConfig is the user's configuration of credentials without secrets (WorkloadIdentity.spec.targetSystem.providerConfig).
//
// +kubebuilder:object:root=true
type WorkloadIdentityConfig struct {
	metav1.TypeMeta `json:",inline"`

	// RoleARN is the ARN of the role that the workload identity assumes.
	RoleARN string `json:"roleARN,omitempty"`
}
