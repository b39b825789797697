package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// NetworkConfig is the user's configuration of the example plugin (Shoot.spec.networking.providerConfig, Network.spec.providerConfig). The effective
// configuration, with all defaults, is in the NetworkStatus.
//
// +kubebuilder:object:root=true
type NetworkConfig struct {
	metav1.TypeMeta `json:",inline"`

	// Encapsulation is the encapsulation of packets between nodes: vxlan, ipip or none. An existing shoot cannot change to or from none.
	//
	// Default: vxlan.
	// +optional
	Encapsulation Encapsulation `json:"encapsulation,omitempty"`
	// Agent deploys an agent that routes Services. A shoot without kube-proxy needs it.
	//
	// Default: false.
	// +optional
	Agent bool `json:"agent,omitempty"`
	// Routes sends packets within a subnet by the routes of the cloud to the nodes' pods, without encapsulation.
	//
	// Default: false.
	// +optional
	Routes bool `json:"routes,omitempty"`
}

// Encapsulation is an encapsulation of packets between nodes.
type Encapsulation string

// The encapsulations.
const (
	EncapsulationVXLAN Encapsulation = "vxlan" // in VXLAN
	EncapsulationIPIP  Encapsulation = "ipip"  // in IP-in-IP
	EncapsulationNone  Encapsulation = "none"  // not at all
)
