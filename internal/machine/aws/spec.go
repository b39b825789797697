package aws

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"

	"github.com/trellis-garden/trellis/apis/aws/machine/v1alpha1"
	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	machineprocess "github.com/trellis-garden/trellis/internal/machine"
)

// placementAnnotation on a machine's node template is a placement in the form of EC2's API, for classes without one.
const placementAnnotation = "machine.sapcloud.io/awsPlacement"

const (
	marketSpot          = "spot"
	marketCapacityBlock = "capacity-block"
)

// instanceSpec returns the instance to create, except for its token.
func (m *machine) instanceSpec(ctx context.Context) (cloudaws.InstanceCreate, error) {
	c := m.class
	wanted := cloudaws.InstanceCreate{
		ImageID: c.AMI, Type: c.MachineType, KeyName: deref(c.KeyName), ProfileARN: c.IAM.ARN, ProfileName: c.IAM.Name, UserData: c.userData,
		Interfaces: c.interfaces(), EBSOptimized: c.EBSOptimized, Monitoring: c.Monitoring, Reservation: c.reservation(), Tags: cloudaws.Tags{},
	}
	maps.Copy(wanted.Tags, c.Tags)
	wanted.Tags[v1alpha1.TagName] = m.name
	wanted.MarketType, wanted.MaxPrice = c.market()
	if o := c.InstanceMetadataOptions; o != nil {
		wanted.Metadata = &cloudaws.InstanceMetadata{
			Endpoint: o.HTTPEndpoint, Tokens: o.HTTPTokens, IPv6: o.HTTPProtocolIPv6, HopLimit: o.HTTPPutResponseHopLimit,
		}
	}
	if o := c.CPUOptions; o != nil {
		wanted.CPU = &cloudaws.InstanceCPU{Cores: o.CoreCount, ThreadsPerCore: o.ThreadsPerCore, SEVSNP: deref(o.AMDSEVSNP)}
	}
	var err error
	if wanted.Placement, err = m.placementSpec(); err != nil {
		return wanted, err
	}
	wanted.Volumes, err = m.volumes(ctx)
	return wanted, err
}

// volumes returns the volumes to create. The root device is called as in the image.
func (m *machine) volumes(ctx context.Context) ([]cloudaws.InstanceVolume, error) {
	var volumes []cloudaws.InstanceVolume
	for _, device := range m.class.BlockDevices {
		volume := cloudaws.InstanceVolume{
			Device: device.DeviceName, Type: device.EBS.VolumeType, SizeGB: device.EBS.VolumeSize, Iops: device.EBS.Iops, Throughput: deref(device.EBS.Throughput),
			Encrypted: device.EBS.Encrypted, KMSKeyID: deref(device.EBS.KMSKeyID), SnapshotID: deref(device.EBS.SnapshotID),
			Keep: isFalse(device.EBS.DeleteOnTermination),
		}
		if device.DeviceName == v1alpha1.RootDevice || len(m.class.BlockDevices) == 1 {
			name, err := m.account.rootDevice(ctx, m.class.AMI)
			if err != nil {
				return nil, err
			}
			volume.Device = name
		}
		volumes = append(volumes, volume)
	}
	return volumes, nil
}

// interfaces returns the interfaces to create. Prefixes cannot be assigned together with addresses.
func (c *class) interfaces() []cloudaws.InstanceInterfaceCreate {
	var interfaces []cloudaws.InstanceInterfaceCreate
	for i, one := range c.NetworkInterfaces {
		interfaces = append(interfaces, cloudaws.InstanceInterfaceCreate{
			SubnetID: one.SubnetID, SecurityGroupIDs: one.SecurityGroupIDs, Description: deref(one.Description), Type: deref(one.InterfaceType),
			NetworkCardIndex: deref(one.NetworkCardIndex), DeviceIndex: deviceIndex(one, i), IPv6AddressCount: deref(one.IPv6AddressCount),
			PublicIP: one.AssociatePublicIPAddress, PrimaryIPv6: deref(one.PrimaryIPv6), Keep: isFalse(one.DeleteOnTermination),
		})
	}
	return interfaces
}

func isFalse(value *bool) bool { return value != nil && !*value }

func (c *class) reservation() *cloudaws.InstanceReservation {
	r := c.CapacityReservation
	if r == nil {
		return nil
	}
	wanted := cloudaws.InstanceReservation{
		Preference: r.CapacityReservationPreference, ID: deref(r.CapacityReservationID), GroupARN: deref(r.CapacityReservationResourceGroupArn),
	}
	if wanted == (cloudaws.InstanceReservation{}) {
		return nil
	}
	return &wanted
}

// market returns how machines are bought, and the maximum price of a spot instance.
func (c *class) market() (kind, maxPrice string) {
	switch {
	case c.InstanceMarketOptions != nil && c.InstanceMarketOptions.MarketType != "":
		return c.InstanceMarketOptions.MarketType, deref(c.SpotPrice)
	case c.SpotPrice != nil:
		return marketSpot, *c.SpotPrice
	case c.CapacityReservation != nil && deref(c.CapacityReservation.IsMLCapacityBlock):
		return marketCapacityBlock, ""
	}
	return "", ""
}

// placementSpec returns the placement of the class, or that of the annotation.
func (m *machine) placementSpec() (*cloudaws.InstancePlacement, error) {
	if p := m.class.Placement; p != nil {
		return &cloudaws.InstancePlacement{
			GroupID: deref(p.GroupID), Tenancy: deref(p.Tenancy), HostID: deref(p.HostID), Affinity: deref(p.Affinity), Partition: p.PartitionNumber,
		}, nil
	}
	if m.placement == "" {
		return nil, nil
	}
	var p struct {
		Affinity        string `json:"Affinity"`
		GroupID         string `json:"GroupId"`
		GroupName       string `json:"GroupName"`
		HostID          string `json:"HostId"`
		Tenancy         string `json:"Tenancy"`
		PartitionNumber *int32 `json:"PartitionNumber"`
	}
	if err := json.Unmarshal([]byte(m.placement), &p); err != nil {
		return nil, machineprocess.Failuref(codes.InvalidArgument, "annotation %s must be a placement in JSON: %w", placementAnnotation, err)
	}
	return &cloudaws.InstancePlacement{
		GroupID: p.GroupID, GroupName: p.GroupName, Tenancy: p.Tenancy, HostID: p.HostID, Affinity: p.Affinity, Partition: p.PartitionNumber,
	}, nil
}
