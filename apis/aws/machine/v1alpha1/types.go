package v1alpha1

// Provider is the value of MachineClass.provider for classes of this kind.
const Provider = "AWS"

// APIVersion is the apiVersion of a specification. It may be missing.
const APIVersion = "mcm.gardener.cloud/v1alpha1"

// Prefixes of the two tags that every machine has. The first is followed by the shoot's technical ID, the second by "node". Machines are found by them.
const (
	TagClusterPrefix = "kubernetes.io/cluster/"
	TagRolePrefix    = "kubernetes.io/role/"
)

// TagName is the tag that holds a machine's name. Classes do not set it.
const TagName = "Name"

// Keys of the Secret of a class, besides those of a Secret with credentials.
const (
	KeyUserData = "userData"
	// KeyAccessKeyID and KeySecretAccessKey are the older names of the keys of an access key.
	KeyAccessKeyID     = "providerAccessKeyId"
	KeySecretAccessKey = "providerSecretAccessKey"
	// KeyWorkloadIdentityTokenFile is the path of a file with the token for a role.
	KeyWorkloadIdentityTokenFile = "workloadIdentityTokenFile"
)

// RootDevice is the device name that stands for the root device of the image, whatever its name is.
const RootDevice = "/root"

// ProviderSpec describes the machines of a MachineClass in AWS (MachineClass.providerSpec).
type ProviderSpec struct {
	// APIVersion is the constant APIVersion, or empty.
	APIVersion string `json:"apiVersion,omitempty"`
	// AMI is the ID of the image.
	AMI string `json:"ami,omitempty"`
	// BlockDevices are the volumes. Without any, a machine has those of the image.
	BlockDevices []BlockDevice `json:"blockDevices,omitempty"`
	// CapacityReservation is the reservation to use.
	// +optional
	CapacityReservation *CapacityReservation `json:"capacityReservation,omitempty"`
	// EBSOptimized gives volumes a bandwidth of their own, for machine types that do not have it anyway.
	EBSOptimized bool `json:"ebsOptimized,omitempty"`
	// IAM is the instance profile. Exactly one of its fields is set.
	IAM InstanceProfile `json:"iam"`
	// MachineType is the EC2 instance type.
	MachineType string `json:"machineType,omitempty"`
	// KeyName is the name of the EC2 key pair. It is missing if SSH access is disabled.
	// +optional
	KeyName *string `json:"keyName,omitempty"`
	// Monitoring switches detailed monitoring on.
	Monitoring bool `json:"monitoring,omitempty"`
	// NetworkInterfaces are the machine's interfaces; at least one.
	NetworkInterfaces []NetworkInterface `json:"networkInterfaces,omitempty"`
	// Region is the region.
	Region string `json:"region,omitempty"`
	// SpotPrice makes machines spot instances, at this price at most; empty means the price on demand. It is older than InstanceMarketOptions.
	// +optional
	SpotPrice *string `json:"spotPrice,omitempty"`
	// SrcAndDstChecksEnabled false lets machines send and receive with addresses that are not theirs, as those of pods.
	//
	// Default: true.
	// +optional
	SrcAndDstChecksEnabled *bool `json:"srcAndDstChecksEnabled,omitempty"`
	// Tags are the tags of machines, their volumes and interfaces. The two tags described above are among them.
	Tags map[string]string `json:"tags,omitempty"`
	// InstanceMetadataOptions configure the metadata service.
	// +optional
	InstanceMetadataOptions *InstanceMetadataOptions `json:"instanceMetadataOptions,omitempty"`
	// CPUOptions are the number of cores and threads.
	// +optional
	CPUOptions *CPUOptions `json:"cpuOptions,omitempty"`
	// Placement is the host, or the placement group.
	// +optional
	Placement *Placement `json:"placement,omitempty"`
	// InstanceMarketOptions buy machines otherwise than on demand.
	// +optional
	InstanceMarketOptions *InstanceMarketOptions `json:"instanceMarketOptions,omitempty"`
}

// BlockDevice is a volume.
type BlockDevice struct {
	// DeviceName is RootDevice, or a name such as "/dev/sdf". That of the only volume is ignored: it is the root device.
	DeviceName string `json:"deviceName,omitempty"`
	// EBS describes the volume.
	EBS EBS `json:"ebs"`
	// NoDevice suppresses a device of the image.
	NoDevice string `json:"noDevice,omitempty"`
	// VirtualName is the name of an instance store volume.
	VirtualName string `json:"virtualName,omitempty"`
}

// EBS describes a volume of EBS.
type EBS struct {
	// DeleteOnTermination deletes the volume with its machine.
	//
	// Default: true.
	// +optional
	DeleteOnTermination *bool `json:"deleteOnTermination,omitempty"`
	// Encrypted encrypts the volume.
	Encrypted bool `json:"encrypted,omitempty"`
	// Iops are the provisioned operations per second. Volumes of the types io1 and io2 need it.
	Iops int32 `json:"iops,omitempty"`
	// Throughput is the provisioned throughput in MiB/s.
	// +optional
	Throughput *int32 `json:"throughput,omitempty"`
	// KMSKeyID is the key of the encryption.
	//
	// Default: the account's key for EBS.
	// +optional
	KMSKeyID *string `json:"kmsKeyID,omitempty"`
	// SnapshotID is the snapshot with the volume's first content.
	// +optional
	SnapshotID *string `json:"snapshotID,omitempty"`
	// VolumeSize is the size in GiB.
	VolumeSize int32 `json:"volumeSize,omitempty"`
	// VolumeType is a volume type of EBS.
	VolumeType string `json:"volumeType,omitempty"`
}

// InstanceProfile is an instance profile by its ARN or its name.
type InstanceProfile struct {
	ARN  string `json:"arn,omitempty"`
	Name string `json:"name,omitempty"`
}

// CapacityReservation is a capacity reservation.
type CapacityReservation struct {
	// CapacityReservationPreference is "open", "none" or "capacity-reservations-only".
	CapacityReservationPreference string `json:"capacityReservationPreference,omitempty"`
	// CapacityReservationID is the ID of the reservation.
	// +optional
	CapacityReservationID *string `json:"capacityReservationId,omitempty"`
	// CapacityReservationResourceGroupArn is the ARN of a group of reservations.
	// +optional
	CapacityReservationResourceGroupArn *string `json:"capacityReservationResourceGroupArn,omitempty"`
	// IsMLCapacityBlock is true for a capacity block. It is older than InstanceMarketOptions with the market type "capacity-block".
	// +optional
	IsMLCapacityBlock *bool `json:"isMLCapacityBlock,omitempty"`
}

// The types of network interfaces. Those for EFA traffic only have no addresses.
const (
	InterfaceTypeStandard = "interface"
	InterfaceTypeEFA      = "efa"
	InterfaceTypeEFAOnly  = "efa-only"
)

// NetworkInterface is a network interface that is created with its machine.
type NetworkInterface struct {
	// AssociatePublicIPAddress gives the interface a public address.
	//
	// Default: that of the subnet.
	// +optional
	AssociatePublicIPAddress *bool `json:"associatePublicIPAddress,omitempty"`
	// IPv6AddressCount is the number of IPv6 addresses.
	// +optional
	IPv6AddressCount *int32 `json:"ipv6AddressCount,omitempty"`
	// IPv6PrefixCount is the number of IPv6 prefixes, for pods.
	// +optional
	IPv6PrefixCount *int32 `json:"ipv6PrefixCount,omitempty"`
	// DeleteOnTermination deletes the interface with its machine.
	//
	// Default: true.
	// +optional
	DeleteOnTermination *bool `json:"deleteOnTermination,omitempty"`
	// Description is the interface's description.
	// +optional
	Description *string `json:"description,omitempty"`
	// SecurityGroupIDs are the IDs of its security groups; at least one.
	SecurityGroupIDs []string `json:"securityGroupIDs,omitempty"`
	// SubnetID is the ID of its subnet.
	SubnetID string `json:"subnetID,omitempty"`
	// InterfaceType is one of the constants.
	//
	// Default: "interface".
	// +optional
	InterfaceType *string `json:"interfaceType,omitempty"`
	// NetworkCardIndex is the index of its network card.
	//
	// Default: 0.
	// +optional
	NetworkCardIndex *int32 `json:"networkCardIndex,omitempty"`
	// DeviceIndex is its index on the network card.
	//
	// Default: its index in the list.
	// +optional
	DeviceIndex *int32 `json:"deviceIndex,omitempty"`
	// PrimaryIPv6 makes the first IPv6 address the primary one.
	// +optional
	PrimaryIPv6 *bool `json:"primaryIpv6,omitempty"`
}

// IsEFA reports whether the interface is for EFA traffic, also or only.
func (n NetworkInterface) IsEFA() bool {
	return n.InterfaceType != nil && (*n.InterfaceType == InterfaceTypeEFA || *n.InterfaceType == InterfaceTypeEFAOnly)
}

// InstanceMetadataOptions configure the metadata service.
type InstanceMetadataOptions struct {
	// HTTPEndpoint is "enabled" or "disabled".
	HTTPEndpoint string `json:"httpEndpoint,omitempty"`
	// HTTPPutResponseHopLimit is how many hops a token may travel.
	// +optional
	HTTPPutResponseHopLimit *int32 `json:"httpPutResponseHopLimit,omitempty"`
	// HTTPTokens is "required" or "optional".
	HTTPTokens string `json:"httpTokens,omitempty"`
	// HTTPProtocolIPv6 is "enabled" or "disabled".
	HTTPProtocolIPv6 string `json:"httpProtocolIpv6,omitempty"`
}

// CPUOptions are the number of cores and threads.
type CPUOptions struct {
	// CoreCount and ThreadsPerCore are both required.
	CoreCount      *int32 `json:"coreCount"`
	ThreadsPerCore *int32 `json:"threadsPerCore"`
	// AMDSEVSNP is "enabled" or "disabled".
	// +optional
	AMDSEVSNP *string `json:"amdSevSnp,omitempty"`
}

// Placement is the host, or the placement group.
type Placement struct {
	// GroupID is the ID of the placement group.
	// +optional
	GroupID *string `json:"groupId,omitempty"`
	// Tenancy is "default", "dedicated" or "host".
	// +optional
	Tenancy *string `json:"tenancy,omitempty"`
	// HostID is the ID of a dedicated host.
	// +optional
	HostID *string `json:"hostId,omitempty"`
	// PartitionNumber is the partition of the placement group.
	// +optional
	PartitionNumber *int32 `json:"partitionNumber,omitempty"`
	// Affinity is "default" or "host".
	// +optional
	Affinity *string `json:"affinity,omitempty"`
}

// InstanceMarketOptions say how machines are bought.
type InstanceMarketOptions struct {
	// MarketType is e.g. "spot" or "capacity-block".
	MarketType string `json:"marketType,omitempty"`
}
