package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// VPC is a virtual private cloud.
type VPC struct {
	ID string
	// CIDRs are its associated IPv4 blocks, the first one first.
	CIDRs []string
	// IPv6 are its IPv6 blocks in any state, see CIDRState.
	IPv6          []IPv6Block
	DHCPOptionsID string
	// Tenancy is "default" or "dedicated", State "pending" or "available".
	Tenancy, State string
	Tags           Tags
}

// IPv6Block is an IPv6 block of a VPC or subnet. Its state is that of the association, e.g. "associating", "associated" or "failed".
type IPv6Block struct{ CIDR, AssociationID, State string }

// Associated is the state of a block that can be used.
const Associated = "associated"

// VPCCreate is the request for a new VPC. At most one of AmazonIPv6 and IPAMPoolID is set.
type VPCCreate struct {
	CIDR      string
	Dedicated bool
	// AmazonIPv6 asks for a /56 of Amazon's addresses.
	AmazonIPv6 bool
	// IPAMPoolID asks for IPv6 addresses of a pool: IPv6CIDR, or any /56 if it is empty.
	IPAMPoolID, IPv6CIDR string
	Tags                 Tags
}

// ipv6NetmaskLength is the only size of IPv6 blocks of a VPC that subnets of /64 for 256 zones fit in.
const ipv6NetmaskLength = 56

func vpcOf(v *types.Vpc) VPC {
	vpc := VPC{
		ID: aws.ToString(v.VpcId), DHCPOptionsID: aws.ToString(v.DhcpOptionsId), Tenancy: string(v.InstanceTenancy), State: string(v.State), Tags: tagsOf(v.Tags),
	}
	for _, block := range v.CidrBlockAssociationSet {
		if block.CidrBlockState == nil || block.CidrBlockState.State == types.VpcCidrBlockStateCodeAssociated {
			vpc.CIDRs = append(vpc.CIDRs, aws.ToString(block.CidrBlock))
		}
	}
	for _, block := range v.Ipv6CidrBlockAssociationSet {
		one := IPv6Block{CIDR: aws.ToString(block.Ipv6CidrBlock), AssociationID: aws.ToString(block.AssociationId)}
		if block.Ipv6CidrBlockState != nil {
			one.State = string(block.Ipv6CidrBlockState.State)
		}
		vpc.IPv6 = append(vpc.IPv6, one)
	}
	return vpc
}

// ListVPCs returns the VPCs that match the filter.
func (s *Session) ListVPCs(ctx context.Context, filter Filter) ([]VPC, error) {
	return listAll(ctx, s, ec2Read("DescribeVpcs"), s.ec2.DescribeVpcs, func(token *string) *ec2.DescribeVpcsInput {
		return &ec2.DescribeVpcsInput{
			Filters: filter.filters(names{id: "vpc-id", vpc: "vpc-id"}), MaxResults: aws.Int32(pageSize), NextToken: token,
		}
	}, func(page *ec2.DescribeVpcsOutput) ([]VPC, *string) { return convert(page.Vpcs, vpcOf), page.NextToken })
}

// CreateVPC creates a VPC. Its IPv6 block is associated later.
func (s *Session) CreateVPC(ctx context.Context, wanted VPCCreate) (VPC, error) {
	input := &ec2.CreateVpcInput{
		CidrBlock: aws.String(wanted.CIDR), InstanceTenancy: types.TenancyDefault, TagSpecifications: tagSpecification(types.ResourceTypeVpc, wanted.Tags),
	}
	if wanted.Dedicated {
		input.InstanceTenancy = types.TenancyDedicated
	}
	if wanted.AmazonIPv6 {
		input.AmazonProvidedIpv6CidrBlock = aws.Bool(true)
	}
	if wanted.IPAMPoolID != "" {
		input.Ipv6IpamPoolId = aws.String(wanted.IPAMPoolID)
		if wanted.IPv6CIDR != "" {
			input.Ipv6CidrBlock = aws.String(wanted.IPv6CIDR)
		} else {
			input.Ipv6NetmaskLength = aws.Int32(ipv6NetmaskLength)
		}
	}
	output, err := invoke(ctx, s, ec2Create("CreateVpc"), s.ec2.CreateVpc, input)
	if err != nil {
		return VPC{}, err
	}
	vpc := vpcOf(output.Vpc)
	s.created.add(vpc.ID)
	return vpc, nil
}

// AddAmazonIPv6 asks for a /56 of Amazon's addresses for a VPC that has none.
func (s *Session) AddAmazonIPv6(ctx context.Context, vpcID string) error {
	_, err := invoke(ctx, s, ec2Create("AssociateVpcCidrBlock", vpcID), s.ec2.AssociateVpcCidrBlock, &ec2.AssociateVpcCidrBlockInput{
		VpcId: aws.String(vpcID), AmazonProvidedIpv6CidrBlock: aws.Bool(true),
	})
	return err
}

// DeleteVPC deletes a VPC. It fails with cloud.InUse while anything else is in it.
func (s *Session) DeleteVPC(ctx context.Context, id string) error {
	_, err := invoke(ctx, s, ec2Change("DeleteVpc"), s.ec2.DeleteVpc, &ec2.DeleteVpcInput{VpcId: aws.String(id)})
	s.created.remove(id)
	return err
}

// VPCAttribute is one of the settings for names in a VPC.
type VPCAttribute string

// Both must be on in the VPC of a shoot: nodes are known by the names that AWS gives them. DNS support is on in a new VPC, DNS hostnames are not.
const (
	DNSSupport   VPCAttribute = "enableDnsSupport"
	DNSHostnames VPCAttribute = "enableDnsHostnames"
)

// GetVPCAttribute returns a setting.
func (s *Session) GetVPCAttribute(ctx context.Context, vpcID string, attribute VPCAttribute) (bool, error) {
	o := ec2Read("DescribeVpcAttribute")
	o.about = []string{vpcID}
	output, err := invoke(ctx, s, o, s.ec2.DescribeVpcAttribute, &ec2.DescribeVpcAttributeInput{
		VpcId: aws.String(vpcID), Attribute: types.VpcAttributeName(attribute),
	})
	if err != nil {
		return false, err
	}
	value := output.EnableDnsSupport
	if attribute == DNSHostnames {
		value = output.EnableDnsHostnames
	}
	return value != nil && aws.ToBool(value.Value), nil
}

// EnableVPCAttribute switches a setting on. A request can change one of them.
func (s *Session) EnableVPCAttribute(ctx context.Context, vpcID string, attribute VPCAttribute) error {
	on := &types.AttributeBooleanValue{Value: aws.Bool(true)}
	input := &ec2.ModifyVpcAttributeInput{VpcId: aws.String(vpcID), EnableDnsSupport: on}
	if attribute == DNSHostnames {
		input.EnableDnsSupport, input.EnableDnsHostnames = nil, on
	}
	_, err := invoke(ctx, s, ec2Change("ModifyVpcAttribute", vpcID), s.ec2.ModifyVpcAttribute, input)
	return err
}
