package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ControlPlaneConfig is the user's configuration of the control plane of a shoot
// (Shoot.spec.provider.controlPlaneConfig, ControlPlane.spec.providerConfig).
//
// +kubebuilder:object:root=true
type ControlPlaneConfig struct {
	metav1.TypeMeta `json:",inline"`

	// CloudControllerManager configures the cloud-controller-manager.
	// +optional
	CloudControllerManager *CloudControllerManagerConfig `json:"cloudControllerManager,omitempty"`
	// LoadBalancerController configures the aws-load-balancer-controller.
	// +optional
	LoadBalancerController *LoadBalancerControllerConfig `json:"loadBalancerController,omitempty"`
	// Storage configures storage.
	// +optional
	Storage *Storage `json:"storage,omitempty"`
}

// CloudControllerManagerConfig configures the cloud-controller-manager.
type CloudControllerManagerConfig struct {
	// FeatureGates switches features of the cloud-controller-manager on or off. A name that its version does not know is
	// rejected. In a shoot that already has it, it is ignored with a message.
	// +optional
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
	// UseCustomRouteController makes the aws-custom-route-controller program the routes for pods. It is set with every change of the Shoot: true if
	// the overlay of its network is switched off.
	// +optional
	UseCustomRouteController *bool `json:"useCustomRouteController,omitempty"`
}

// LoadBalancerControllerConfig configures the aws-load-balancer-controller.
type LoadBalancerControllerConfig struct {
	// Enabled installs the controller. It is always installed in shoots with IPv6.
	Enabled bool `json:"enabled"`
	// IngressClassName is the class of Ingresses for which the controller creates load balancers.
	//
	// Default: `alb`.
	// +optional
	IngressClassName *string `json:"ingressClassName,omitempty"`
}

// Storage configures storage.
type Storage struct {
	// ManagedDefaultClass makes the storage class and the volume snapshot class `default` the default ones of the cluster. Set it to false to have
	// other default classes.
	//
	// Default: true.
	// +optional
	ManagedDefaultClass *bool `json:"managedDefaultClass,omitempty"`
}
