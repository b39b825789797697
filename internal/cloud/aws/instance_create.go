package aws

import (
	"encoding/base64"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// InstanceCreate is the request for a new instance. Empty fields mean AWS' defaults.
type InstanceCreate struct {
	// Token makes repetitions return the same instance.
	Token                string
	ImageID, Type        string
	KeyName              string
	ProfileARN           string // or ProfileName
	ProfileName          string
	UserData             []byte
	Volumes              []InstanceVolume
	Interfaces           []InstanceInterfaceCreate
	EBSOptimized         bool
	Monitoring           bool
	Reservation          *InstanceReservation
	Metadata             *InstanceMetadata
	CPU                  *InstanceCPU
	Placement            *InstancePlacement
	MarketType, MaxPrice string // the price of a spot instance
	// Tags are those of the instance, its volumes and its interfaces.
	Tags Tags
}

// InstanceVolume is a volume that is created with an instance.
type InstanceVolume struct {
	Device, Type, KMSKeyID, SnapshotID string
	SizeGB, Iops, Throughput           int32
	Encrypted, Keep                    bool // Keep it when the instance ends
}

// InstanceInterfaceCreate is a network interface that is created with an instance.
type InstanceInterfaceCreate struct {
	SubnetID, Description, Type   string
	SecurityGroupIDs              []string
	NetworkCardIndex, DeviceIndex int32
	IPv6AddressCount              int32
	// PublicIP is the subnet's default if it is nil.
	PublicIP          *bool
	PrimaryIPv6, Keep bool // Keep it when the instance ends
}

// InstanceReservation is a capacity reservation, by its ID or the ARN of a group, or a preference for any.
type InstanceReservation struct{ Preference, ID, GroupARN string }

// InstanceMetadata configures the metadata service.
type InstanceMetadata struct {
	Endpoint, Tokens, IPv6 string
	HopLimit               *int32
}

// InstanceCPU are the cores and threads.
type InstanceCPU struct {
	Cores, ThreadsPerCore *int32
	SEVSNP                string
}

// InstancePlacement is a host or a placement group.
type InstancePlacement struct {
	GroupID, GroupName, Tenancy, HostID, Affinity string
	Partition                                     *int32
}

// resourceIDs are the IDs of what must exist.
func (c InstanceCreate) resourceIDs() []string {
	var ids []string
	for _, one := range c.Interfaces {
		ids = append(append(ids, one.SubnetID), one.SecurityGroupIDs...)
	}
	return ids
}

// optional is nil for the zero value.
func optional[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}

func (c InstanceCreate) input() *ec2.RunInstancesInput {
	input := &ec2.RunInstancesInput{
		ClientToken: aws.String(c.Token), MinCount: aws.Int32(1), MaxCount: aws.Int32(1), ImageId: aws.String(c.ImageID), InstanceType: types.InstanceType(c.Type),
		KeyName: optional(c.KeyName), UserData: optional(base64.StdEncoding.EncodeToString(c.UserData)), EbsOptimized: optional(c.EBSOptimized),
		BlockDeviceMappings: convert(c.Volumes, (*InstanceVolume).mapping), NetworkInterfaces: convert(c.Interfaces, (*InstanceInterfaceCreate).specification),
		CapacityReservationSpecification: c.Reservation.specification(), MetadataOptions: c.Metadata.options(), CpuOptions: c.CPU.options(),
		Placement: c.Placement.placement(),
	}
	for _, kind := range []types.ResourceType{types.ResourceTypeInstance, types.ResourceTypeVolume, types.ResourceTypeNetworkInterface} {
		input.TagSpecifications = append(input.TagSpecifications, tagSpecification(kind, c.Tags)...)
	}
	if c.ProfileARN != "" || c.ProfileName != "" {
		input.IamInstanceProfile = &types.IamInstanceProfileSpecification{Arn: optional(c.ProfileARN), Name: optional(c.ProfileName)}
	}
	if c.Monitoring {
		input.Monitoring = &types.RunInstancesMonitoringEnabled{Enabled: aws.Bool(true)}
	}
	if c.MarketType != "" {
		input.InstanceMarketOptions = &types.InstanceMarketOptionsRequest{MarketType: types.MarketType(c.MarketType)}
		if c.MarketType == string(types.MarketTypeSpot) {
			input.InstanceMarketOptions.SpotOptions = &types.SpotMarketOptions{SpotInstanceType: types.SpotInstanceTypeOneTime, MaxPrice: optional(c.MaxPrice)}
		}
	}
	return input
}

// mapping leaves the encryption to the account's default unless it is wanted: an explicit false is refused where the account encrypts all volumes.
func (v *InstanceVolume) mapping() types.BlockDeviceMapping {
	return types.BlockDeviceMapping{DeviceName: aws.String(v.Device), Ebs: &types.EbsBlockDevice{
		VolumeType: types.VolumeType(v.Type), VolumeSize: optional(v.SizeGB), Iops: optional(v.Iops), Throughput: optional(v.Throughput),
		Encrypted: optional(v.Encrypted), KmsKeyId: optional(v.KMSKeyID), SnapshotId: optional(v.SnapshotID), DeleteOnTermination: aws.Bool(!v.Keep),
	}}
}

func (n *InstanceInterfaceCreate) specification() types.InstanceNetworkInterfaceSpecification {
	return types.InstanceNetworkInterfaceSpecification{
		SubnetId: aws.String(n.SubnetID), Groups: n.SecurityGroupIDs, Description: optional(n.Description), InterfaceType: optional(n.Type),
		NetworkCardIndex: optional(n.NetworkCardIndex), DeviceIndex: aws.Int32(n.DeviceIndex), Ipv6AddressCount: optional(n.IPv6AddressCount),
		AssociatePublicIpAddress: n.PublicIP, PrimaryIpv6: optional(n.PrimaryIPv6), DeleteOnTermination: aws.Bool(!n.Keep),
	}
}

func (r *InstanceReservation) specification() *types.CapacityReservationSpecification {
	if r == nil {
		return nil
	}
	specification := &types.CapacityReservationSpecification{CapacityReservationPreference: types.CapacityReservationPreference(r.Preference)}
	if r.ID != "" || r.GroupARN != "" {
		specification.CapacityReservationTarget = &types.CapacityReservationTarget{
			CapacityReservationId: optional(r.ID), CapacityReservationResourceGroupArn: optional(r.GroupARN),
		}
	}
	return specification
}

func (m *InstanceMetadata) options() *types.InstanceMetadataOptionsRequest {
	if m == nil {
		return nil
	}
	return &types.InstanceMetadataOptionsRequest{
		HttpEndpoint: types.InstanceMetadataEndpointState(m.Endpoint), HttpTokens: types.HttpTokensState(m.Tokens),
		HttpProtocolIpv6: types.InstanceMetadataProtocolState(m.IPv6), HttpPutResponseHopLimit: m.HopLimit,
	}
}

func (c *InstanceCPU) options() *types.CpuOptionsRequest {
	if c == nil {
		return nil
	}
	return &types.CpuOptionsRequest{CoreCount: c.Cores, ThreadsPerCore: c.ThreadsPerCore, AmdSevSnp: types.AmdSevSnpSpecification(c.SEVSNP)}
}

func (p *InstancePlacement) placement() *types.Placement {
	if p == nil {
		return nil
	}
	return &types.Placement{
		GroupId: optional(p.GroupID), GroupName: optional(p.GroupName), Tenancy: types.Tenancy(p.Tenancy), HostId: optional(p.HostID), Affinity: optional(p.Affinity), PartitionNumber: p.Partition,
	}
}
