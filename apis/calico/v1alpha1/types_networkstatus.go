package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// NetworkStatus is the controller's status of a Network (Network.status.providerStatus).
//
// +kubebuilder:object:root=true
type NetworkStatus struct {
	metav1.TypeMeta `json:",inline"`

	// Effective is the effective configuration: the user's values, the defaults of all other fields, and the values that
	// the overlay setting or the infrastructure determines. Fields of an IP family that is not deployed are absent. If
	// overlay is absent, ipv4.mode and ipv6.mode alone determine what is encapsulated. Trellis extension.
	// +optional
	Effective *NetworkConfig `json:"effective,omitempty"`
	// Overridden lists, in sentences, the user's values that the overlay setting or the infrastructure overrides, and why.
	// Trellis extension.
	// +optional
	Overridden []string `json:"overridden,omitempty"`
}
