package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ControlPlaneConfig is the user's configuration of the control plane (Shoot.spec.provider.controlPlaneConfig,
// ControlPlane.spec.providerConfig). The example cloud has nothing to configure.
//
// +kubebuilder:object:root=true
type ControlPlaneConfig struct {
	metav1.TypeMeta `json:",inline"`
}
