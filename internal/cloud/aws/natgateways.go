package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/trellis-garden/trellis/internal/cloud"
)

// States of NAT gateways. A deleted one is listed for about an hour.
const (
	NATPending   = "pending"
	NATAvailable = "available"
	NATDeleting  = "deleting"
	NATDeleted   = "deleted"
)

// NATGateway lets connections out of private subnets.
type NATGateway struct {
	ID, VPCID, SubnetID, State string
	// Failure says why the state is "failed"; the gateway has to be replaced.
	Failure string
	// Addresses are its elastic IPs, the primary one first.
	Addresses []NATAddress
	Tags      Tags
}

// NATAddress is an elastic IP of a NAT gateway. PublicIP is empty while the gateway is pending.
type NATAddress struct{ AllocationID, PublicIP string }

func natGatewayOf(g *types.NatGateway) NATGateway {
	gateway := NATGateway{
		ID: aws.ToString(g.NatGatewayId), VPCID: aws.ToString(g.VpcId), SubnetID: aws.ToString(g.SubnetId), State: string(g.State), Tags: tagsOf(g.Tags),
	}
	if code := aws.ToString(g.FailureCode); code != "" {
		gateway.Failure = code + ": " + aws.ToString(g.FailureMessage)
	}
	for i := range g.NatGatewayAddresses {
		a := &g.NatGatewayAddresses[i]
		address := NATAddress{aws.ToString(a.AllocationId), aws.ToString(a.PublicIp)}
		if aws.ToBool(a.IsPrimary) {
			gateway.Addresses = append([]NATAddress{address}, gateway.Addresses...)
		} else {
			gateway.Addresses = append(gateway.Addresses, address)
		}
	}
	return gateway
}

// ListNATGateways returns the NAT gateways that match the filter, also those that are being deleted or were deleted within the last hour.
func (s *Session) ListNATGateways(ctx context.Context, filter Filter) ([]NATGateway, error) {
	return listAll(ctx, s, ec2Read("DescribeNatGateways"), s.ec2.DescribeNatGateways, func(token *string) *ec2.DescribeNatGatewaysInput {
		return &ec2.DescribeNatGatewaysInput{
			Filter: filter.filters(names{id: "nat-gateway-id", vpc: "vpc-id"}), MaxResults: aws.Int32(pageSize), NextToken: token,
		}
	}, func(page *ec2.DescribeNatGatewaysOutput) ([]NATGateway, *string) {
		return convert(page.NatGateways, natGatewayOf), page.NextToken
	})
}

// CreateNATGateway creates a public NAT gateway, which is available after a minute or two. A repetition with the same token returns the same one.
func (s *Session) CreateNATGateway(ctx context.Context, subnetID, allocationID, token string, tags Tags) (NATGateway, error) {
	output, err := invoke(ctx, s, ec2Change("CreateNatGateway", subnetID, allocationID), s.ec2.CreateNatGateway, &ec2.CreateNatGatewayInput{
		SubnetId: aws.String(subnetID), AllocationId: aws.String(allocationID), ClientToken: aws.String(token),
		TagSpecifications: tagSpecification(types.ResourceTypeNatgateway, tags),
	})
	if err != nil {
		return NATGateway{}, err
	}
	gateway := natGatewayOf(output.NatGateway)
	s.created.add(gateway.ID)
	return gateway, nil
}

// DeleteNATGateway starts the deletion of a NAT gateway, which takes about a minute. Until then its elastic IPs are in use.
func (s *Session) DeleteNATGateway(ctx context.Context, id string) error {
	_, err := invoke(ctx, s, ec2Change("DeleteNatGateway"), s.ec2.DeleteNatGateway, &ec2.DeleteNatGatewayInput{NatGatewayId: aws.String(id)})
	s.created.remove(id)
	return err
}

// Address is an elastic IP. It is free if it has no association.
type Address struct {
	AllocationID, PublicIP, AssociationID string
	// InterfaceID is the interface that has it, e.g. that of a NAT gateway.
	InterfaceID string
	Tags        Tags
}

func addressOf(a *types.Address) Address {
	return Address{
		AllocationID: aws.ToString(a.AllocationId), PublicIP: aws.ToString(a.PublicIp), AssociationID: aws.ToString(a.AssociationId),
		InterfaceID: aws.ToString(a.NetworkInterfaceId), Tags: tagsOf(a.Tags),
	}
}

// ListAddresses returns the elastic IPs that match the filter. EC2 lists them all at once.
func (s *Session) ListAddresses(ctx context.Context, filter Filter) ([]Address, error) {
	output, err := invoke(ctx, s, ec2Read("DescribeAddresses"), s.ec2.DescribeAddresses, &ec2.DescribeAddressesInput{
		Filters: filter.filters(names{id: "allocation-id"}),
	})
	if err != nil {
		return nil, err
	}
	return convert(output.Addresses, addressOf), nil
}

// AllocateAddress allocates an elastic IP.
func (s *Session) AllocateAddress(ctx context.Context, tags Tags) (Address, error) {
	output, err := invoke(ctx, s, ec2Create("AllocateAddress"), s.ec2.AllocateAddress, &ec2.AllocateAddressInput{
		Domain: types.DomainTypeVpc, TagSpecifications: tagSpecification(types.ResourceTypeElasticIp, tags),
	})
	if err != nil {
		return Address{}, err
	}
	address := Address{AllocationID: aws.ToString(output.AllocationId), PublicIP: aws.ToString(output.PublicIp), Tags: tags}
	s.created.add(address.AllocationID)
	return address, nil
}

// ReleaseAddress releases an elastic IP. It fails with cloud.InUse while it is associated, which EC2 says with the code of a failed authentication, too.
func (s *Session) ReleaseAddress(ctx context.Context, allocationID string) error {
	_, err := invoke(ctx, s, ec2Change("ReleaseAddress"), s.ec2.ReleaseAddress, &ec2.ReleaseAddressInput{AllocationId: aws.String(allocationID)})
	s.created.remove(allocationID)
	if CodeOf(err) == "AuthFailure" {
		// "You do not have permission to access the specified resource": the gateway that has the address belongs to AWS. Credentials that are not accepted
		// fail with it as well; the next request will tell.
		return &cloud.Error{Kind: cloud.InUse, Message: "the elastic IP " + allocationID + " seems to be in use", Err: err}
	}
	return err
}
