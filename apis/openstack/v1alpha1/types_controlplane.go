package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ControlPlaneConfig is what a user says about the control plane of a shoot
// (Shoot.spec.provider.controlPlaneConfig, ControlPlane.spec.providerConfig).
//
// +kubebuilder:object:root=true
type ControlPlaneConfig struct {
	metav1.TypeMeta `json:",inline"`

	// CloudControllerManager configures the cloud-controller-manager.
	// +optional
	CloudControllerManager *CloudControllerManagerConfig `json:"cloudControllerManager,omitempty"`
	// LoadBalancerClasses are classes that Services may choose by annotation. Without them those of the floating pool in
	// the CloudProfile apply.
	// +optional
	LoadBalancerClasses []LoadBalancerClass `json:"loadBalancerClasses,omitempty"`
	// LoadBalancerProvider is the Octavia provider, one of those that the CloudProfile lists.
	LoadBalancerProvider string `json:"loadBalancerProvider"`
	// Zone has no effect.
	//
	// Deprecated: leave it out.
	// +optional
	Zone *string `json:"zone,omitempty"`
	// Storage configures storage.
	// +optional
	Storage *Storage `json:"storage,omitempty"`
}

// CloudControllerManagerConfig configures the cloud-controller-manager.
type CloudControllerManagerConfig struct {
	// FeatureGates switches features of the cloud-controller-manager on or off.
	// +optional
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
}

// Storage configures storage.
type Storage struct {
	// CSIManila configures shared file systems (NFS) by Manila.
	// +optional
	CSIManila *CSIManila `json:"csiManila,omitempty"`
}

// CSIManila configures shared file systems (NFS) by Manila.
type CSIManila struct {
	// Enabled deploys the Manila CSI driver. It needs networks.shareNetwork.enabled in the InfrastructureConfig.
	//
	// Default: false.
	Enabled bool `json:"enabled"`
}
