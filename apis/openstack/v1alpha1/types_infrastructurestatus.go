package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// InfrastructureStatus is the output of the Infrastructure controller for the controllers of ControlPlane and Worker
// (Infrastructure.status.providerStatus). It is read by controllers of other versions and by the upstream extension, so
// a field never changes its meaning.
//
// +kubebuilder:object:root=true
type InfrastructureStatus struct {
	metav1.TypeMeta `json:",inline"`

	// Networks describes the network of the nodes.
	Networks NetworkStatus `json:"networks"`
	// Node describes what machines need besides the network.
	Node NodeStatus `json:"node"`
	// SecurityGroups are the security groups of the shoot, created or existing.
	SecurityGroups []SecurityGroup `json:"securityGroups"`
}

// NodeStatus describes what machines need besides the network.
type NodeStatus struct {
	// KeyName is the name of the Nova key pair.
	KeyName string `json:"keyName"`
}

// NetworkStatus describes the network of the nodes, created or existing.
type NetworkStatus struct {
	// ID is the network's ID.
	ID string `json:"id"`
	// Name is the network's name.
	Name string `json:"name"`
	// FloatingPool is the external network.
	FloatingPool FloatingPoolStatus `json:"floatingPool"`
	// Router is the shoot's router.
	Router RouterStatus `json:"router"`
	// Subnets are the subnets in use, one of each purpose at most.
	Subnets []Subnet `json:"subnets"`
	// ShareNetwork is the Manila share network, if there is one.
	// +optional
	ShareNetwork *ShareNetworkStatus `json:"shareNetwork,omitempty"`
}

// RouterStatus describes the shoot's router.
type RouterStatus struct {
	// ID is the router's ID.
	ID string `json:"id"`
	// IP is the first of the router's external addresses, for readers that are older than externalFixedIP.
	IP string `json:"ip"`
	// ExternalFixedIPs are the addresses of the router on the external network.
	ExternalFixedIPs []string `json:"externalFixedIP"`
}

// FloatingPoolStatus describes the external network.
type FloatingPoolStatus struct {
	// ID is the network's ID.
	ID string `json:"id"`
	// Name is the network's name.
	Name string `json:"name"`
}

// ShareNetworkStatus describes a Manila share network.
type ShareNetworkStatus struct {
	// ID is the share network's ID.
	ID string `json:"id"`
	// Name is the share network's name.
	Name string `json:"name"`
}

// Purpose is the purpose of a subnet or security group.
type Purpose string

// Purposes of subnets and security groups.
const (
	// PurposeNodes is for the nodes; of subnets the IPv4 one.
	PurposeNodes Purpose = "nodes"
	// PurposeNodesIPv6 is for the nodes' IPv6 addresses in a dual-stack shoot.
	PurposeNodesIPv6 Purpose = "nodes-ipv6"
	// PurposePods reserves the IPv6 range of the pods in a dual-stack shoot.
	PurposePods Purpose = "pods"
	// PurposeServices reserves the IPv6 range of the services in a dual-stack shoot.
	PurposeServices Purpose = "services"
)

// Subnet describes a Neutron subnet.
type Subnet struct {
	// Purpose is the purpose of the subnet.
	Purpose Purpose `json:"purpose"`
	// ID is the subnet's ID.
	ID string `json:"id"`
	// CIDR is the subnet's range.
	CIDR string `json:"cidr"`
}

// SecurityGroup describes a Neutron security group.
type SecurityGroup struct {
	// Purpose is the purpose of the security group.
	Purpose Purpose `json:"purpose"`
	// ID is the security group's ID.
	ID string `json:"id"`
	// Name is the security group's name.
	Name string `json:"name"`
}
