package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// InfrastructureState is what a controller on another seed needs to go on with a shoot (Infrastructure.status.state). Upstream decodes it too: it
// contains nothing but strings under data, and keys that only Trellis writes begin with `trellis.`. An empty value means that the resource was deleted,
// or is not known.
//
// +kubebuilder:object:root=true
type InfrastructureState struct {
	metav1.TypeMeta `json:",inline"`

	// Data maps keys to IDs, names and ranges; see the values below.
	Data map[string]string `json:"data"`
}

// Keys of InfrastructureState.Data that the upstream extension writes and reads.
const (
	StateKeyVPC                       = "VPC"                                     // ID of the VPC
	StateKeyDHCPOptions               = "DHCPOptions"                             // ID of the DHCP options
	StateKeyDefaultSecurityGroup      = "DefaultSecurityGroup"                    // ID of the VPC's own security group
	StateKeyInternetGateway           = "InternetGateway"                         // ID of the internet gateway
	StateKeyEgressOnlyInternetGateway = "EgressOnlyInternetGateway"               // ID of the egress-only internet gateway
	StateKeyMainRouteTable            = "MainRouteTable"                          // ID of the route table of public subnets
	StateKeyNodesSecurityGroup        = "NodesSecurityGroup"                      // ID of the nodes' security group
	StateKeyVPCIPv6CIDR               = "VPCIPv6CidrBlock"                        // IPv6 range of the VPC
	StateKeyServiceCIDR               = "ServiceCIDR"                             // IPv6 range of the services
	StateKeyEgressCIDRs               = "EgressCIDRs"                             // addresses of the NAT gateways as ranges, separated by commas
	StateKeyIAMRoleName               = "IAMRoleName"                             // name of the nodes' role
	StateKeyIAMRoleARN                = "IAMRoleARN"                              // ARN of the nodes' role
	StateKeyIAMInstanceProfileName    = "IAMInstanceProfileName"                  // name of the nodes' instance profile
	StateKeyIAMRolePolicyName         = "IAMRolePolicyName"                       // name of the policy of the nodes' role
	StateKeyKeyPair                   = "KeyPair"                                 // name of the key pair
	StateKeyKeyPairFingerprint        = "KeyPairFingerprint"                      // fingerprint of the key pair that AWS computed
	StateKeyKeyPairSpecFingerprint    = "KeyPairSpecFingerprint"                  // hexadecimal MD5 of the public key in the spec
	StateKeyElasticFileSystem         = "efsSystemID"                             // ID of the elastic file system, created or existing
	StateKeyMigratedFromTerraform     = "MigratedFromTerraform"                   // "true" once the state of Terraform was imported
	StateKeyTerraformCleanedUp        = "TerraformCleanedUp"                      // "true" once the state of Terraform was deleted
	StateKeyLoadBalancersDeleted      = "LoadBalancersAndSecurityGroupsDestroyed" // "true" once load balancers of Services and their security groups are deleted
)

// Keys of InfrastructureState.Data for a zone, as ZoneStateKey composes them.
const (
	ZoneKeySuffix                  = "Suffix"                       // number of the zone in names of its resources: z0, z1 and so on; never reused
	ZoneKeySubnetWorkers           = "SubnetWorkers"                // ID of the nodes' subnet
	ZoneKeySubnetPublic            = "SubnetPublicUtility"          // ID of the subnet for public load balancers
	ZoneKeySubnetInternal          = "SubnetPrivateUtility"         // ID of the subnet for internal load balancers
	ZoneKeySubnetWorkersCIDR       = "SubnetWorkersCIDR"            // IPv4 range of an existing subnet for the nodes
	ZoneKeySubnetWorkersIPv6CIDR   = "SubnetWorkersIPv6CIDR"        // IPv6 range of an existing subnet for the nodes
	ZoneKeySubnetPublicCIDR        = "SubnetPublicUtilityCIDR"      // IPv4 range of an existing subnet for public load balancers
	ZoneKeySubnetPublicIPv6CIDR    = "SubnetPublicUtilityIPv6CIDR"  // IPv6 range of an existing subnet for public load balancers
	ZoneKeySubnetInternalCIDR      = "SubnetPrivateUtilityCIDR"     // IPv4 range of an existing subnet for internal load balancers
	ZoneKeySubnetInternalIPv6CIDR  = "SubnetPrivateUtilityIPv6CIDR" // IPv6 range of an existing subnet for internal load balancers
	ZoneKeyElasticIP               = "NATGatewayElasticIP"          // allocation ID of the allocated address of the NAT gateway, not of an existing one
	ZoneKeyNATGateway              = "NATGateway"                   // ID of the NAT gateway
	ZoneKeyRouteTable              = "ZoneRouteTable"               // ID of the route table, created or existing
	ZoneKeyPublicRouteTableAssoc   = "SubnetPublicRouteTableAssoc"  // ID of the association of the public subnet with its route table
	ZoneKeyInternalRouteTableAssoc = "SubnetPrivateRouteTableAssoc" // ID of the association of the internal subnet with its route table
	ZoneKeyWorkersRouteTableAssoc  = "SubnetWorkersRouteTableAssoc" // ID of the association of the nodes' subnet with its route table
)

// Keys of InfrastructureState.Data that only Trellis writes, and that others read too.
const (
	StateKeyIntents          = "trellis.intents"          // what was about to be created when the state was saved, as JSON
	StateKeyOwners           = "trellis.owners"           // which of the recorded resources are owned by the shoot and which existed before, as JSON
	StateKeyUncertainCreates = "trellis.uncertainCreates" // since when creations have an unknown result, by key, as JSON
	StateKeyAdopted          = "trellis.adopted"          // "true" for a shoot that the upstream extension has recorded before
)

// StateKeyPrefix begins every key of InfrastructureState.Data that only Trellis writes. Upstream keeps them unchanged.
const StateKeyPrefix = "trellis."
