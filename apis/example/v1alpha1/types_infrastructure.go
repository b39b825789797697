package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// InfrastructureConfig is the user's configuration of the network (Shoot.spec.provider.infrastructureConfig,
// Infrastructure.spec.providerConfig).
//
// +kubebuilder:object:root=true
type InfrastructureConfig struct {
	metav1.TypeMeta `json:",inline"`

	// Networks describes the network of the nodes.
	Networks Networks `json:"networks"`
}

// Networks describes the network of the nodes.
type Networks struct {
	// Workers is the IPv4 range of the subnet of the nodes in CIDR notation. It cannot be changed.
	Workers string `json:"workers"`
}

// InfrastructureStatus is what the Infrastructure controller reports (Infrastructure.status.providerStatus), and what it needs to continue on
// another seed (Infrastructure.status.state).
//
// +kubebuilder:object:root=true
type InfrastructureStatus struct {
	metav1.TypeMeta `json:",inline"`

	// Network is the ID of the network.
	// +optional
	Network string `json:"network,omitempty"`
	// Subnet is the ID of the subnet of the nodes.
	// +optional
	Subnet string `json:"subnet,omitempty"`
}
