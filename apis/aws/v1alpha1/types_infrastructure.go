package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// InfrastructureConfig is the user's configuration of the infrastructure of a shoot
// (Shoot.spec.provider.infrastructureConfig, Infrastructure.spec.providerConfig).
//
// +kubebuilder:object:root=true
type InfrastructureConfig struct {
	metav1.TypeMeta `json:",inline"`

	// EnableECRAccess lets the nodes pull images from the registries (ECR) of the account: their role gets the permissions, and the kubelet a
	// credential provider.
	//
	// Default: true.
	// +optional
	EnableECRAccess *bool `json:"enableECRAccess,omitempty"`

	// DualStack is the former switch for dual stack: newer shoots have spec.networking.ipFamilies. It gives VPC and subnets IPv6 ranges, and cannot be
	// switched off again.
	// +optional
	DualStack *DualStack `json:"dualStack,omitempty"`

	// Networks describes the network of the nodes. Existing resources are referenced by ID and are never changed beyond their tags, or
	// deleted; everything else is created.
	Networks Networks `json:"networks"`

	// IgnoreTags are tags of created resources that are left alone. All other tags that do not come from the controller are removed.
	// +optional
	IgnoreTags *IgnoreTags `json:"ignoreTags,omitempty"`

	// EnableDedicatedTenancyForVPC gives the created VPC the tenancy `dedicated`: all its machines run on hardware that no other account uses.
	// Immutable.
	//
	// Default: false.
	// +optional
	EnableDedicatedTenancyForVPC *bool `json:"enableDedicatedTenancyForVPC,omitempty"`

	// ElasticFileSystem is the file system for volumes that several nodes mount. Immutable once set.
	//
	// Default: none.
	// +optional
	ElasticFileSystem *ElasticFileSystemConfig `json:"elasticFileSystem,omitempty"`

	// EnableMTUCustomizer sets the MTU of the nodes' network interfaces to 1460. New shoots get false where the field is absent.
	//
	// Default: true.
	// +optional
	EnableMTUCustomizer *bool `json:"enableMTUCustomizer,omitempty"`
}

// DualStack is the former switch for dual stack.
type DualStack struct {
	// Enabled is true for dual stack.
	Enabled bool `json:"enabled"`
}

// Networks describes the network of the nodes.
type Networks struct {
	// VPC is the VPC of the shoot: one to create, or an existing one.
	VPC VPC `json:"vpc"`

	// Zones are the availability zones of the shoot, each with its subnets. At least one. Zones can be added at the end, and never be removed or
	// reordered. Either all of them have existing worker subnets, or none.
	Zones []Zone `json:"zones"`

	// NodesSecurityGroupID is the ID of an existing security group for the nodes, in the VPC given by vpc.id. Its owner configures its rules: they must
	// allow all traffic among the nodes, all traffic to the outside, and traffic from load balancers to ports 30000-32767. Immutable.
	//
	// Default: a security group is created.
	// +optional
	NodesSecurityGroupID *string `json:"nodesSecurityGroupID,omitempty"`
}

// VPC is the VPC of a shoot. Exactly one of id and cidr is set.
type VPC struct {
	// ID is the ID of an existing VPC. It needs DNS support and DNS host names, and an internet gateway if a zone has public. Immutable.
	// +optional
	ID *string `json:"id,omitempty"`

	// CIDR is the IPv4 range of the VPC to create. It contains spec.networking.nodes of the Shoot and all subnets. Immutable.
	// +optional
	CIDR *string `json:"cidr,omitempty"`

	// GatewayEndpoints are services that the nodes reach by a gateway endpoint instead of the internet, without the prefix
	// `com.amazonaws.<region>.`, e.g. `s3`. Not allowed with existing worker subnets.
	// +optional
	GatewayEndpoints []string `json:"gatewayEndpoints,omitempty"`

	// Ipv6IpamPool is where the created VPC takes its IPv6 range from. Immutable once set.
	//
	// Default: AWS assigns a range.
	// +optional
	Ipv6IpamPool *IPAMPool `json:"ipv6IpamPool,omitempty"`
}

// IPAMPool is a pool of the IP Address Manager.
type IPAMPool struct {
	// ID is the pool's ID.
	// +optional
	ID *string `json:"id,omitempty"`

	// CIDRBlock is the range to take, a /56 of the pool. It needs the ID, and a Shoot with IPv6.
	//
	// Default: the pool chooses.
	// +optional
	CIDRBlock *string `json:"cidrBlock,omitempty"`
}

// Zone is an availability zone with its subnets. Either workers or workersSubnetID is set. Ranges lie within the VPC and do not overlap, neither each
// other nor spec.networking.pods and spec.networking.services of the Shoot.
type Zone struct {
	// Name is the zone's name, one of those that the CloudProfile has for the region. Immutable.
	Name string `json:"name"`

	// Internal is the range (CIDR) of the subnet to create for internal load balancers. Immutable once set.
	//
	// Default: there is none, so that internal load balancers need another subnet.
	// +optional
	Internal *string `json:"internal,omitempty"`

	// Public is the range (CIDR) of the subnet to create for public load balancers and the NAT gateway. Immutable once set.
	//
	// Default: there is none, so that the VPC must have other ways to the internet.
	// +optional
	Public *string `json:"public,omitempty"`

	// Workers is the range (CIDR) of the subnet to create for the nodes. It lies within spec.networking.nodes of the Shoot. Immutable once set.
	// +optional
	Workers *string `json:"workers,omitempty"`

	// WorkersSubnetID is the ID of an existing subnet for the nodes, in the VPC given by vpc.id. Its owner configures its routes. Immutable.
	// +optional
	WorkersSubnetID *string `json:"workersSubnetID,omitempty"`

	// PublicSubnetID is the ID of an existing subnet for public load balancers. It needs workersSubnetID, and is then set for all zones or none.
	// Immutable once set.
	//
	// Default: the subnet that has the tag `kubernetes.io/role/elb`.
	// +optional
	PublicSubnetID *string `json:"publicSubnetID,omitempty"`

	// InternalSubnetID is the ID of an existing subnet for internal load balancers. It needs workersSubnetID, and is then set for all zones or none.
	// Immutable once set.
	//
	// Default: the subnet that has the tag `kubernetes.io/role/internal-elb`.
	// +optional
	InternalSubnetID *string `json:"internalSubnetID,omitempty"`

	// ElasticIPAllocationID is the allocation ID of an existing elastic IP address for the zone's NAT gateway. It needs workers and public. When it
	// changes, the NAT gateway is created again, which interrupts connections to the internet for some minutes.
	//
	// Default: an address is allocated.
	// +optional
	ElasticIPAllocationID *string `json:"elasticIPAllocationID,omitempty"`
}

// IgnoreTags are tags that are left alone. The key `Name`, and keys that begin with `kubernetes.io` or `gardener.cloud`, cannot be ignored.
type IgnoreTags struct {
	// Keys are the keys of tags.
	// +optional
	Keys []string `json:"keys,omitempty"`

	// KeyPrefixes are beginnings of keys of tags.
	// +optional
	KeyPrefixes []string `json:"keyPrefixes,omitempty"`
}

// ElasticFileSystemConfig switches an elastic file system on, with the CSI driver for it. Nodes reach it through a mount target in each zone.
type ElasticFileSystemConfig struct {
	// Enabled is true for an elastic file system.
	Enabled bool `json:"enabled"`

	// ID is the ID of an existing file system. It is neither changed nor deleted; zones without a mount target get one, in the VPC of the shoot, in which all
	// its mount targets must be. Required with existing worker subnets.
	//
	// Default: an encrypted file system is created.
	// +optional
	ID *string `json:"id,omitempty"`
}
