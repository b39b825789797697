package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// Subnet is a subnet of a VPC in one zone.
type Subnet struct {
	ID, VPCID, Zone string
	// CIDR is empty in an IPv6-only subnet.
	CIDR string
	// IPv6 are its IPv6 blocks in any state.
	IPv6 []IPv6Block
	// AssignsIPv6 means that interfaces get an IPv6 address at their creation, and DNS64 that names without IPv6 addresses get one for NAT64.
	IPv6Native, AssignsIPv6, DNS64 bool
	// NamesByAAAA means that names of nodes have IPv6 addresses.
	NamesByAAAA bool
	// State is "pending" or "available".
	State string
	// FreeAddresses is how many IPv4 addresses are left.
	FreeAddresses int
	Tags          Tags
}

// SubnetCreate is the request for a new subnet. Without a CIDR it is an IPv6-only one.
type SubnetCreate struct {
	VPCID, Zone, CIDR, IPv6CIDR string
	Tags                        Tags
}

// SubnetAttribute is a setting of a subnet for IPv6.
type SubnetAttribute string

// Settings that can be switched on.
const (
	AssignIPv6  SubnetAttribute = "assignIpv6AddressOnCreation"
	DNS64       SubnetAttribute = "enableDns64"
	NamesByAAAA SubnetAttribute = "enableResourceNameDnsAAAARecordOnLaunch"
)

func subnetOf(v *types.Subnet) Subnet {
	subnet := Subnet{
		ID: aws.ToString(v.SubnetId), VPCID: aws.ToString(v.VpcId), Zone: aws.ToString(v.AvailabilityZone), CIDR: aws.ToString(v.CidrBlock),
		IPv6Native: aws.ToBool(v.Ipv6Native), AssignsIPv6: aws.ToBool(v.AssignIpv6AddressOnCreation), DNS64: aws.ToBool(v.EnableDns64),
		State: string(v.State), FreeAddresses: int(aws.ToInt32(v.AvailableIpAddressCount)), Tags: tagsOf(v.Tags),
	}
	if names := v.PrivateDnsNameOptionsOnLaunch; names != nil {
		subnet.NamesByAAAA = aws.ToBool(names.EnableResourceNameDnsAAAARecord)
	}
	for _, block := range v.Ipv6CidrBlockAssociationSet {
		one := IPv6Block{CIDR: aws.ToString(block.Ipv6CidrBlock), AssociationID: aws.ToString(block.AssociationId)}
		if block.Ipv6CidrBlockState != nil {
			one.State = string(block.Ipv6CidrBlockState.State)
		}
		subnet.IPv6 = append(subnet.IPv6, one)
	}
	return subnet
}

// ListSubnets returns the subnets that match the filter.
func (s *Session) ListSubnets(ctx context.Context, filter Filter) ([]Subnet, error) {
	return listAll(ctx, s, ec2Read("DescribeSubnets"), s.ec2.DescribeSubnets, func(token *string) *ec2.DescribeSubnetsInput {
		return &ec2.DescribeSubnetsInput{
			Filters: filter.filters(names{id: "subnet-id", vpc: "vpc-id"}), MaxResults: aws.Int32(pageSize), NextToken: token,
		}
	}, func(page *ec2.DescribeSubnetsOutput) ([]Subnet, *string) {
		return convert(page.Subnets, subnetOf), page.NextToken
	})
}

// CreateSubnet creates a subnet. It fails with the code InvalidSubnet.Conflict if a block overlaps with that of another subnet.
func (s *Session) CreateSubnet(ctx context.Context, wanted SubnetCreate) (Subnet, error) {
	input := &ec2.CreateSubnetInput{
		VpcId: aws.String(wanted.VPCID), AvailabilityZone: aws.String(wanted.Zone), TagSpecifications: tagSpecification(types.ResourceTypeSubnet, wanted.Tags),
	}
	if wanted.CIDR != "" {
		input.CidrBlock = aws.String(wanted.CIDR)
	} else {
		input.Ipv6Native = aws.Bool(true)
	}
	if wanted.IPv6CIDR != "" {
		input.Ipv6CidrBlock = aws.String(wanted.IPv6CIDR)
	}
	output, err := invoke(ctx, s, ec2Create("CreateSubnet", wanted.VPCID), s.ec2.CreateSubnet, input)
	if err != nil {
		return Subnet{}, err
	}
	subnet := subnetOf(output.Subnet)
	s.created.add(subnet.ID)
	return subnet, nil
}

// AddSubnetIPv6 gives a subnet an IPv6 block.
func (s *Session) AddSubnetIPv6(ctx context.Context, id, cidr string) error {
	_, err := invoke(ctx, s, ec2Create("AssociateSubnetCidrBlock", id), s.ec2.AssociateSubnetCidrBlock, &ec2.AssociateSubnetCidrBlockInput{
		SubnetId: aws.String(id), Ipv6CidrBlock: aws.String(cidr),
	})
	return err
}

// EnableSubnetAttribute switches a setting on. A request can change one of them.
func (s *Session) EnableSubnetAttribute(ctx context.Context, id string, attribute SubnetAttribute) error {
	on := &types.AttributeBooleanValue{Value: aws.Bool(true)}
	input := &ec2.ModifySubnetAttributeInput{SubnetId: aws.String(id)}
	switch attribute {
	case AssignIPv6:
		input.AssignIpv6AddressOnCreation = on
	case DNS64:
		input.EnableDns64 = on
	case NamesByAAAA:
		input.EnableResourceNameDnsAAAARecordOnLaunch = on
	}
	_, err := invoke(ctx, s, ec2Change("ModifySubnetAttribute", id), s.ec2.ModifySubnetAttribute, input)
	return err
}

// DeleteSubnet deletes a subnet, and its associations with route tables. It fails with cloud.InUse while an interface is in it.
func (s *Session) DeleteSubnet(ctx context.Context, id string) error {
	_, err := invoke(ctx, s, ec2Change("DeleteSubnet"), s.ec2.DeleteSubnet, &ec2.DeleteSubnetInput{SubnetId: aws.String(id)})
	s.created.remove(id)
	return err
}

// CIDRReservation is a part of a subnet's addresses that AWS gives to no interface by itself.
type CIDRReservation struct{ ID, SubnetID, CIDR string }

// ListIPv6Reservations returns the reservations of a subnet's IPv6 addresses.
func (s *Session) ListIPv6Reservations(ctx context.Context, subnetID string) ([]CIDRReservation, error) {
	o := ec2Read("GetSubnetCidrReservations")
	o.about = []string{subnetID}
	return listAll(ctx, s, o, s.ec2.GetSubnetCidrReservations, func(token *string) *ec2.GetSubnetCidrReservationsInput {
		return &ec2.GetSubnetCidrReservationsInput{SubnetId: aws.String(subnetID), NextToken: token}
	}, func(page *ec2.GetSubnetCidrReservationsOutput) ([]CIDRReservation, *string) {
		return convert(page.SubnetIpv6CidrReservations, reservationOf), page.NextToken
	})
}

func reservationOf(r *types.SubnetCidrReservation) CIDRReservation {
	return CIDRReservation{aws.ToString(r.SubnetCidrReservationId), aws.ToString(r.SubnetId), aws.ToString(r.Cidr)}
}

// ReserveCIDR reserves a part of a subnet's addresses for explicit use.
func (s *Session) ReserveCIDR(ctx context.Context, subnetID, cidr string, tags Tags) error {
	_, err := invoke(ctx, s, ec2Create("CreateSubnetCidrReservation", subnetID), s.ec2.CreateSubnetCidrReservation, &ec2.CreateSubnetCidrReservationInput{
		SubnetId: aws.String(subnetID), Cidr: aws.String(cidr), ReservationType: types.SubnetCidrReservationTypeExplicit,
		TagSpecifications: tagSpecification(types.ResourceTypeSubnetCidrReservation, tags),
	})
	return err
}
