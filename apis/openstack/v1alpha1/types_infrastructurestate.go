package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// InfrastructureState is what a controller on another seed needs to go on with a shoot (Infrastructure.status.state).
// Upstream decodes it too: it contains nothing but strings under data, and keys that only Trellis writes begin with
// `trellis.`.
//
// +kubebuilder:object:root=true
type InfrastructureState struct {
	metav1.TypeMeta `json:",inline"`

	// Data maps keys to IDs, names and ranges; see the values below.
	Data map[string]string `json:"data"`
}

// Keys of InfrastructureState.Data that the upstream extension writes and reads.
const (
	StateKeyNetwork               = "Network"                // ID of the network
	StateKeyNetworkName           = "NetworkName"            // name of the network
	StateKeyRouter                = "Router"                 // ID of the router
	StateKeySubnet                = "Subnet"                 // ID of the IPv4 node subnet
	StateKeySubnetIPv6            = "SubnetIPv6"             // ID of the IPv6 node subnet
	StateKeySubnetIPv6Pods        = "SubnetIPv6Pod"          // ID of the subnet that reserves the IPv6 range of the pods
	StateKeySubnetIPv6Services    = "SubnetIPv6Svc"          // ID of the subnet that reserves the IPv6 range of the services
	StateKeyFloatingNetwork       = "FloatingNetwork"        // ID of the external network
	StateKeyFloatingNetworkName   = "FloatingNetworkName"    // name of the external network
	StateKeyFloatingPoolSubnet    = "FloatingPoolSubnetName" // name or pattern of the requested external subnets
	StateKeySecurityGroup         = "SecurityGroup"          // ID of the nodes' security group
	StateKeySecurityGroupName     = "SecurityGroupName"      // name of the nodes' security group
	StateKeyShareNetwork          = "ShareNetwork"           // ID of the share network
	StateKeyShareNetworkName      = "ShareNetworkName"       // name of the share network
	StateKeyKeyPair               = "KeyPair"                // name of the key pair
	StateKeyWorkersCIDR           = "WorkersCIDR"            // IPv4 range of the nodes, where a subnet pool gives it
	StateKeyNodeSubnetIPv6CIDR    = "NodeSubnetIPv6CIDR"     // IPv6 range of the nodes
	StateKeyPodSubnetIPv6CIDR     = "PodSubnetIPv6CIDR"      // IPv6 range of the pods
	StateKeyServiceSubnetIPv6CIDR = "ServiceSubnetIPv6CIDR"  // IPv6 range of the services
	StateKeyResourcesExist        = "resource_exist"         // "true" while anything of the shoot may exist
	StateKeyRouterIP              = "RouterIP"               // legacy, removed when found
)

// Keys of InfrastructureState.Data that only Trellis writes. Upstream keeps them unchanged.
const (
	StateKeyIntents          = "trellis.intents"          // what was about to be created when the state was saved, as JSON
	StateKeyOwnership        = "trellis.ownership"        // which of the recorded resources are owned by the shoot and which existed before, as JSON
	StateKeyUncertainCreates = "trellis.uncertainCreates" // since when creations have an unknown result, by key, as JSON
	StateKeyInterface        = "trellis.interface"        // ID of the existing subnet in which the router has an interface of the shoot
	StateKeyLeftovers        = "trellis.leftovers"        // resources that remain after load balancers, as kind/ID, separated by commas
	StateKeyAdopted          = "trellis.adopted"          // "true" for a shoot that the upstream extension has recorded before
)

// StateKeyPrefix begins every key of InfrastructureState.Data that only Trellis writes.
const StateKeyPrefix = "trellis."
