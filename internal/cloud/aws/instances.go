package aws

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/transport"
)

// The states of instances. A terminated instance is visible for about an hour.
const (
	InstancePending      = string(types.InstanceStateNamePending)
	InstanceRunning      = string(types.InstanceStateNameRunning)
	InstanceStopping     = string(types.InstanceStateNameStopping)
	InstanceStopped      = string(types.InstanceStateNameStopped)
	InstanceShuttingDown = string(types.InstanceStateNameShuttingDown)
	InstanceTerminated   = string(types.InstanceStateNameTerminated)
)

// Instance is a virtual machine.
type Instance struct {
	ID, State string
	// Token is that of the request that created it.
	Token string
	// Reason says why it left its former state, with a code such as "Server.InsufficientInstanceCapacity"; may be empty.
	Reason InstanceReason
	// PrivateDNSName may be empty while the instance is pending, and is afterwards.
	PrivateDNSName string
	Interfaces     []InstanceInterface
	Tags           Tags
}

// InstanceReason is the reason of a state.
type InstanceReason struct{ Code, Message string }

// Err returns the reason as an error of EC2: the last part of the code is one of EC2's codes of errors.
func (r InstanceReason) Err() error {
	code := r.Code[strings.LastIndex(r.Code, ".")+1:]
	message, _ := strings.CutPrefix(r.Message, r.Code+": ")
	return classified(&ResponseError{Service: "ec2", Operation: "RunInstances", Code: code, Message: message})
}

// InstanceInterface is a network interface of an instance.
type InstanceInterface struct {
	ID, SubnetID string
	// Type is e.g. "interface", "efa" or "efa-only".
	Type string
	// NetworkCardIndex and DeviceIndex are its place in the instance.
	NetworkCardIndex, DeviceIndex int32
	// SourceDestCheck is true if AWS drops packets with other addresses than the interface's.
	SourceDestCheck bool
	// PrivateIP and PublicIP may be empty.
	PrivateIP, PublicIP         string
	IPv6Addresses, IPv6Prefixes []string
}

// Identity implements Resource.
func (i Instance) Identity() (string, Tags) { return i.ID, i.Tags }

// HasEnded reports whether the instance is terminated, or will be.
func (i Instance) HasEnded() bool {
	return i.State == InstanceShuttingDown || i.State == InstanceTerminated
}

func instanceOf(i *types.Instance) Instance {
	instance := Instance{
		ID: aws.ToString(i.InstanceId), Token: aws.ToString(i.ClientToken), PrivateDNSName: aws.ToString(i.PrivateDnsName),
		Interfaces: convert(i.NetworkInterfaces, instanceInterfaceOf), Tags: tagsOf(i.Tags),
	}
	if i.State != nil {
		instance.State = string(i.State.Name)
	}
	if i.StateReason != nil {
		instance.Reason = InstanceReason{Code: aws.ToString(i.StateReason.Code), Message: aws.ToString(i.StateReason.Message)}
	}
	return instance
}

func instanceInterfaceOf(n *types.InstanceNetworkInterface) InstanceInterface {
	one := InstanceInterface{
		ID: aws.ToString(n.NetworkInterfaceId), SubnetID: aws.ToString(n.SubnetId), Type: aws.ToString(n.InterfaceType),
		SourceDestCheck: aws.ToBool(n.SourceDestCheck), PrivateIP: aws.ToString(n.PrivateIpAddress),
		IPv6Addresses: convert(n.Ipv6Addresses, func(a *types.InstanceIpv6Address) string { return aws.ToString(a.Ipv6Address) }),
		IPv6Prefixes:  convert(n.Ipv6Prefixes, func(p *types.InstanceIpv6Prefix) string { return aws.ToString(p.Ipv6Prefix) }),
	}
	if n.Attachment != nil {
		one.NetworkCardIndex, one.DeviceIndex = aws.ToInt32(n.Attachment.NetworkCardIndex), aws.ToInt32(n.Attachment.DeviceIndex)
	}
	if n.Association != nil {
		one.PublicIP = aws.ToString(n.Association.PublicIp)
	}
	return one
}

// MaxFilterValues is how many values a filter of EC2 takes.
const MaxFilterValues = 200

// InstanceFilter selects instances; all given criteria must match. A missing instance is missing in the list. Tags are visible some seconds later than instances.
type InstanceFilter struct {
	// IDs, Names and States are sets: any of them, at most MaxFilterValues. Names are values of the tag "Name", in which * stands for any text.
	IDs, Names, States []string
	// TagKeys must all be present.
	TagKeys []string
	// Token is that of the request that created it.
	Token string
}

func (f InstanceFilter) filters() []types.Filter {
	all := Filter{IDs: f.IDs, Name: f.Token, TagKeys: f.TagKeys}.filters(names{id: "instance-id", name: "client-token"})
	for name, values := range map[string][]string{"tag:Name": f.Names, "instance-state-name": f.States} {
		if len(values) > 0 {
			all = append(all, types.Filter{Name: aws.String(name), Values: values})
		}
	}
	return all
}

// ListInstances returns the instances that match the filter, also terminated ones.
func (s *Session) ListInstances(ctx context.Context, filter InstanceFilter) ([]Instance, error) {
	return listAll(ctx, s, ec2Read("DescribeInstances"), s.ec2.DescribeInstances, func(token *string) *ec2.DescribeInstancesInput {
		return &ec2.DescribeInstancesInput{Filters: filter.filters(), MaxResults: aws.Int32(pageSize), NextToken: token}
	}, func(page *ec2.DescribeInstancesOutput) ([]Instance, *string) {
		var found []Instance
		for i := range page.Reservations {
			found = append(found, convert(page.Reservations[i].Instances, instanceOf)...)
		}
		return found, page.NextToken
	})
}

// CreateInstance creates an instance. Repetitions with the same token return the same instance as it is then, also after its end; with anything else changed,
// they fail with the code IdempotentParameterMismatch.
func (s *Session) CreateInstance(ctx context.Context, wanted InstanceCreate) (Instance, error) {
	o := ec2Change("RunInstances", wanted.resourceIDs()...)
	output, err := invoke(ctx, s, o, s.ec2.RunInstances, wanted.input())
	if err != nil {
		return Instance{}, err
	}
	if len(output.Instances) != 1 {
		return Instance{}, unusable(o, transport.InvalidResponse("it has %d instances instead of one", len(output.Instances)))
	}
	instance := instanceOf(&output.Instances[0])
	s.created.add(instance.ID)
	for _, one := range instance.Interfaces {
		s.created.add(one.ID)
	}
	return instance, nil
}

// TerminateInstance starts the end of an instance.
func (s *Session) TerminateInstance(ctx context.Context, id string) error {
	_, err := invoke(ctx, s, ec2Change("TerminateInstances", id), s.ec2.TerminateInstances, &ec2.TerminateInstancesInput{InstanceIds: []string{id}})
	s.created.remove(id)
	return err
}

// DisableSourceDestCheck lets a network interface send and receive with other addresses than its own.
func (s *Session) DisableSourceDestCheck(ctx context.Context, interfaceID string) error {
	o := ec2Change("ModifyNetworkInterfaceAttribute", interfaceID)
	_, err := invoke(ctx, s, o, s.ec2.ModifyNetworkInterfaceAttribute, &ec2.ModifyNetworkInterfaceAttributeInput{
		NetworkInterfaceId: aws.String(interfaceID), SourceDestCheck: &types.AttributeBooleanValue{Value: aws.Bool(false)},
	})
	return err
}

// AssignIPv6Prefixes gives a network interface more IPv6 prefixes, and returns them. A repetition gives it more.
func (s *Session) AssignIPv6Prefixes(ctx context.Context, interfaceID string, count int32) ([]string, error) {
	output, err := invoke(ctx, s, ec2Create("AssignIpv6Addresses", interfaceID), s.ec2.AssignIpv6Addresses, &ec2.AssignIpv6AddressesInput{
		NetworkInterfaceId: aws.String(interfaceID), Ipv6PrefixCount: aws.Int32(count),
	})
	if err != nil {
		return nil, err
	}
	return output.AssignedIpv6Prefixes, nil
}

// Image is a machine image.
type Image struct {
	ID string
	// RootDevice is the name of the device with the root file system, e.g. "/dev/xvda".
	RootDevice string
}

// GetImage returns an image. It fails with cloud.NotFound if the account has no access to it.
func (s *Session) GetImage(ctx context.Context, id string) (Image, error) {
	output, err := invoke(ctx, s, ec2Read("DescribeImages"), s.ec2.DescribeImages, &ec2.DescribeImagesInput{ImageIds: []string{id}})
	if err != nil {
		return Image{}, err
	}
	if len(output.Images) == 0 {
		return Image{}, cloud.Errorf(cloud.NotFound, "there is no image %s", id)
	}
	return Image{ID: aws.ToString(output.Images[0].ImageId), RootDevice: aws.ToString(output.Images[0].RootDeviceName)}, nil
}
