package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// NetworkStatus is what the controller says about a Network (Network.status.providerStatus).
//
// +kubebuilder:object:root=true
type NetworkStatus struct {
	metav1.TypeMeta `json:",inline"`

	// Effective is the configuration in force: what the user gave, the default of everything else, and what the overlay
	// switch or the infrastructure decided. Fields of an IP family that is not deployed are absent. Where overlay is
	// absent, ipv4.mode and ipv6.mode alone say what is wrapped.
	// Trellis extension.
	// +optional
	Effective *NetworkConfig `json:"effective,omitempty"`
	// Overridden says, in sentences, which wishes of the user the overlay switch or the infrastructure overrode, and why.
	// Trellis extension.
	// +optional
	Overridden []string `json:"overridden,omitempty"`
}
