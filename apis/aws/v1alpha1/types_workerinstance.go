package v1alpha1

// InstanceMetadataOptions restrict the metadata service. Only what is set is passed on to AWS.
type InstanceMetadataOptions struct {
	// HTTPTokens is `required` if requests need a token (IMDSv2), or `optional`.
	// +optional
	HTTPTokens *string `json:"httpTokens,omitempty"`
	// HTTPPutResponseHopLimit is the number of hops that an answer with a token may take, between 1 and 64. Pods in networks of their own need 2.
	// +optional
	HTTPPutResponseHopLimit *int32 `json:"httpPutResponseHopLimit,omitempty"`
}

// Values of instanceMetadataOptions.httpTokens.
const (
	HTTPTokensRequired = "required" // requests need a token
	HTTPTokensOptional = "optional" // requests may have a token
)

// CpuOptions configure the processors of a machine.
type CpuOptions struct {
	// CoreCount is the number of cores. Set it together with threadsPerCore.
	// +optional
	CoreCount *int32 `json:"coreCount,omitempty"`
	// ThreadsPerCore is the number of threads of each core: 1 or 2. Set it together with coreCount.
	// +optional
	ThreadsPerCore *int32 `json:"threadsPerCore,omitempty"`
	// AmdSevSnp is `enabled` for machines with encrypted memory (AMD SEV-SNP), or `disabled`.
	// +optional
	AmdSevSnp *string `json:"amdSevSnp,omitempty"`
}

// CapacityReservation makes machines use reserved capacity. At most one of capacityReservationId and capacityReservationResourceGroupArn is set.
type CapacityReservation struct {
	// CapacityReservationPreference is `capacity-reservations-only`, `open` or `none`. A reservation or a group needs `capacity-reservations-only`, or
	// that the field is absent.
	// +optional
	CapacityReservationPreference *string `json:"capacityReservationPreference,omitempty"`
	// CapacityReservationID is the ID of the reservation.
	// +optional
	CapacityReservationID *string `json:"capacityReservationId,omitempty"`
	// CapacityReservationResourceGroupARN is the ARN of a group of reservations.
	// +optional
	CapacityReservationResourceGroupARN *string `json:"capacityReservationResourceGroupArn,omitempty"`
}

// CapacityReservationsOnly is the preference for machines that run in reserved capacity only.
const CapacityReservationsOnly = "capacity-reservations-only"

// NetworkInterface describes a network interface of a machine, or one on each of several network cards. At most one of networkCardIndex and
// networkCardIndexRange is set.
type NetworkInterface struct {
	// NetworkCardIndex is the index of the network card.
	//
	// Default: 0.
	// +optional
	NetworkCardIndex *int64 `json:"networkCardIndex,omitempty"`
	// NetworkCardIndexRange are the indices of network cards that have such an interface each.
	// +optional
	NetworkCardIndexRange *IndexRange `json:"networkCardIndexRange,omitempty"`
	// DeviceIndex is the index of the interface on its network card.
	//
	// Default: 0.
	// +optional
	DeviceIndex *int64 `json:"deviceIndex,omitempty"`
	// Type is `interface`, `efa`, or `efa-only` for one without IP addresses, which the first interface of card 0 cannot be.
	//
	// Default: `interface`.
	// +optional
	Type *string `json:"type,omitempty"`
	// Description is the description of the interface.
	// +optional
	Description *string `json:"description,omitempty"`
	// SubnetID is the ID of the interface's subnet.
	//
	// Default: the subnet of the nodes in the zone.
	// +optional
	SubnetID *string `json:"subnetID,omitempty"`
}

// Types of network interfaces.
const (
	NetworkInterfaceStandard = "interface" // one with IP addresses
	NetworkInterfaceEFA      = "efa"       // an elastic fabric adapter with IP addresses
	NetworkInterfaceEFAOnly  = "efa-only"  // an elastic fabric adapter without IP addresses
)

// IndexRange are the indices between two, both included.
type IndexRange struct {
	// From is the first index.
	From int64 `json:"from"`
	// To is the last index.
	To int64 `json:"to"`
}

// Placement says where machines are placed.
type Placement struct {
	// GroupID is the ID of an existing placement group.
	// +optional
	GroupID *string `json:"groupId,omitempty"`
	// Tenancy is `default`, `dedicated` for hardware that no other account uses, or `host` for a dedicated host.
	// +optional
	Tenancy *string `json:"tenancy,omitempty"`
	// HostID is the ID of the dedicated host. It needs the tenancy `host`.
	// +optional
	HostID *string `json:"hostId,omitempty"`
	// PartitionNumber is the number of the partition in a placement group with partitions.
	// +optional
	PartitionNumber *int64 `json:"partitionNumber,omitempty"`
	// Affinity is `host` for machines that start on the same dedicated host again, or `default`.
	// +optional
	Affinity *string `json:"affinity,omitempty"`
}

// Values of placement.tenancy and placement.affinity.
const (
	PlacementDefault   = "default"   // as AWS chooses
	PlacementDedicated = "dedicated" // on hardware of the account; of tenancy only
	PlacementHost      = "host"      // on a dedicated host
)

// InstanceMarketOptions say how machines are bought.
type InstanceMarketOptions struct {
	// MarketType is `spot`, `capacity-block` or `interruptible-capacity-reservation`. The latter two need a capacityReservation.
	MarketType string `json:"marketType"`
}
