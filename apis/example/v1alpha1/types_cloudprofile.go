package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// CloudProfileConfig is the landscape admin's configuration of the cloud (CloudProfile.spec.providerConfig).
//
// +kubebuilder:object:root=true
type CloudProfileConfig struct {
	metav1.TypeMeta `json:",inline"`

	// URL is the address of the cloud's API, e.g. https://cloud.example.org.
	URL string `json:"url"`
}
