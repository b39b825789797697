package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// NetworkStatus is the controller's status of a Network (Network.status.providerStatus).
//
// +kubebuilder:object:root=true
type NetworkStatus struct {
	metav1.TypeMeta `json:",inline"`

	// Effective is the effective configuration: the user's values, and the defaults of all other fields.
	// +optional
	Effective *NetworkConfig `json:"effective,omitempty"`
}
