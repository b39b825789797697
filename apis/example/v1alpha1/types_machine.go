package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Provider is the value of MachineClass.provider for classes of this kind.
const Provider = "Example"

// MachineProviderSpec describes the machines of a MachineClass (MachineClass.providerSpec). It has no credentials.
//
// +kubebuilder:object:root=true
type MachineProviderSpec struct {
	metav1.TypeMeta `json:",inline"`

	// Owner is the shoot's UID. Machines are found by it and their name.
	Owner string `json:"owner"`
	// Zone is the zone.
	Zone string `json:"zone"`
	// Network is the ID of the network.
	Network string `json:"network"`
	// Group is the ID of the group.
	// +optional
	Group string `json:"group,omitempty"`
	// MachineType is the machine type.
	MachineType string `json:"machineType"`
	// Image is the name of the image.
	Image string `json:"image"`
	// Feature gives the machines the feature.
	// +optional
	Feature bool `json:"feature,omitempty"`
}
