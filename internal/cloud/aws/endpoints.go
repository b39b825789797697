package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/trellis-garden/trellis/internal/cloud"
)

// Endpoint is a gateway endpoint: a private way from the subnets of its route tables to a service of AWS.
type Endpoint struct {
	ID, VPCID string
	// Service is the full name, e.g. com.amazonaws.eu-west-1.s3.
	Service       string
	RouteTableIDs []string
	// IPAddressType is "ipv4", "dualstack" or "ipv6". State is e.g. "available" or "deleting".
	IPAddressType, State string
	Tags                 Tags
}

// EndpointCreate is the request for a new gateway endpoint.
type EndpointCreate struct {
	VPCID, Service string
	RouteTableIDs  []string
	// IPAddressType is AWS' default if it is empty.
	IPAddressType string
	// Token makes repetitions return the same endpoint.
	Token string
	Tags  Tags
}

// EndpointUpdate changes a gateway endpoint.
type EndpointUpdate struct {
	AddRouteTableIDs, RemoveRouteTableIDs []string
	// IPAddressType stays if it is empty.
	IPAddressType string
}

func endpointOf(e *types.VpcEndpoint) Endpoint {
	return Endpoint{
		ID: aws.ToString(e.VpcEndpointId), VPCID: aws.ToString(e.VpcId), Service: aws.ToString(e.ServiceName), RouteTableIDs: e.RouteTableIds,
		IPAddressType: string(e.IpAddressType), State: string(e.State), Tags: tagsOf(e.Tags),
	}
}

// ListEndpoints returns the endpoints that match the filter.
func (s *Session) ListEndpoints(ctx context.Context, filter Filter) ([]Endpoint, error) {
	return listAll(ctx, s, ec2Read("DescribeVpcEndpoints"), s.ec2.DescribeVpcEndpoints, func(token *string) *ec2.DescribeVpcEndpointsInput {
		return &ec2.DescribeVpcEndpointsInput{
			Filters: filter.filters(names{id: "vpc-endpoint-id", vpc: "vpc-id"}), MaxResults: aws.Int32(pageSize), NextToken: token,
		}
	}, func(page *ec2.DescribeVpcEndpointsOutput) ([]Endpoint, *string) {
		return convert(page.VpcEndpoints, endpointOf), page.NextToken
	})
}

// CreateEndpoint creates a gateway endpoint.
func (s *Session) CreateEndpoint(ctx context.Context, wanted EndpointCreate) (Endpoint, error) {
	about := append([]string{wanted.VPCID}, wanted.RouteTableIDs...)
	output, err := invoke(ctx, s, ec2Change("CreateVpcEndpoint", about...), s.ec2.CreateVpcEndpoint, &ec2.CreateVpcEndpointInput{
		VpcId: aws.String(wanted.VPCID), ServiceName: aws.String(wanted.Service), VpcEndpointType: types.VpcEndpointTypeGateway,
		RouteTableIds: wanted.RouteTableIDs, IpAddressType: types.IpAddressType(wanted.IPAddressType), ClientToken: aws.String(wanted.Token),
		TagSpecifications: tagSpecification(types.ResourceTypeVpcEndpoint, wanted.Tags),
	})
	if err != nil {
		return Endpoint{}, err
	}
	endpoint := endpointOf(output.VpcEndpoint)
	s.created.add(endpoint.ID)
	return endpoint, nil
}

// UpdateEndpoint changes a gateway endpoint.
func (s *Session) UpdateEndpoint(ctx context.Context, id string, update EndpointUpdate) error {
	about := append([]string{id}, update.AddRouteTableIDs...)
	_, err := invoke(ctx, s, ec2Change("ModifyVpcEndpoint", about...), s.ec2.ModifyVpcEndpoint, &ec2.ModifyVpcEndpointInput{
		VpcEndpointId: aws.String(id), AddRouteTableIds: update.AddRouteTableIDs, RemoveRouteTableIds: update.RemoveRouteTableIDs,
		IpAddressType: types.IpAddressType(update.IPAddressType),
	})
	return err
}

// DeleteEndpoints starts the deletion of endpoints. Those that do not exist are no error; any other failure is that of the first one that could not be
// deleted.
func (s *Session) DeleteEndpoints(ctx context.Context, ids []string) error {
	o := ec2Change("DeleteVpcEndpoints")
	output, err := invoke(ctx, s, o, s.ec2.DeleteVpcEndpoints, &ec2.DeleteVpcEndpointsInput{VpcEndpointIds: ids})
	if err != nil {
		return err
	}
	for _, id := range ids {
		s.created.remove(id)
	}
	for _, failed := range output.Unsuccessful {
		if failed.Error == nil {
			continue
		}
		response := &ResponseError{
			Service: o.service, Operation: o.name, Code: aws.ToString(failed.Error.Code),
			Message: aws.ToString(failed.ResourceId) + ": " + aws.ToString(failed.Error.Message),
		}
		if failure := classified(response); failure.Kind != cloud.NotFound {
			return failure
		}
	}
	return nil
}
