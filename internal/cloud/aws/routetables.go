package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// RouteTable is a route table of a VPC with its routes and associations.
type RouteTable struct {
	ID, VPCID    string
	Routes       []Route
	Associations []Association
	Tags         Tags
}

// Main reports whether it is the table of all subnets without an association.
func (t RouteTable) Main() bool {
	for _, association := range t.Associations {
		if association.Main {
			return true
		}
	}
	return false
}

// Route leads a destination to a target. Exactly one of the targets is set in a route that is written; a route that others made may have none of them.
type Route struct {
	// Destination is an IPv4 or IPv6 range; empty for a prefix list.
	Destination string
	// GatewayID is an internet gateway, a gateway endpoint, or "local".
	GatewayID, NATGatewayID, EgressOnlyGatewayID string
	// Blackhole means that the target does not exist any more.
	Blackhole bool
}

// Association makes a subnet use a route table, or a VPC if Main is set.
type Association struct {
	ID, SubnetID string
	Main         bool
}

func routeTableOf(t *types.RouteTable) RouteTable {
	table := RouteTable{ID: aws.ToString(t.RouteTableId), VPCID: aws.ToString(t.VpcId), Tags: tagsOf(t.Tags)}
	for i := range t.Routes {
		r := &t.Routes[i]
		route := Route{
			Destination: aws.ToString(r.DestinationCidrBlock), GatewayID: aws.ToString(r.GatewayId), NATGatewayID: aws.ToString(r.NatGatewayId),
			EgressOnlyGatewayID: aws.ToString(r.EgressOnlyInternetGatewayId), Blackhole: r.State == types.RouteStateBlackhole,
		}
		if r.DestinationIpv6CidrBlock != nil {
			route.Destination = aws.ToString(r.DestinationIpv6CidrBlock)
		}
		table.Routes = append(table.Routes, route)
	}
	for i := range t.Associations {
		a := &t.Associations[i]
		if a.AssociationState != nil && a.AssociationState.State == types.RouteTableAssociationStateCodeDisassociated {
			continue
		}
		table.Associations = append(table.Associations, Association{aws.ToString(a.RouteTableAssociationId), aws.ToString(a.SubnetId), aws.ToBool(a.Main)})
	}
	return table
}

// ListRouteTables returns the route tables that match the filter.
func (s *Session) ListRouteTables(ctx context.Context, filter Filter) ([]RouteTable, error) {
	return listAll(ctx, s, ec2Read("DescribeRouteTables"), s.ec2.DescribeRouteTables, func(token *string) *ec2.DescribeRouteTablesInput {
		return &ec2.DescribeRouteTablesInput{
			Filters: filter.filters(names{id: "route-table-id", vpc: "vpc-id"}), MaxResults: aws.Int32(routeTablePageSize), NextToken: token,
		}
	}, func(page *ec2.DescribeRouteTablesOutput) ([]RouteTable, *string) {
		return convert(page.RouteTables, routeTableOf), page.NextToken
	})
}

// routeTablePageSize is the most that EC2 permits for them.
const routeTablePageSize = 100

// CreateRouteTable creates a route table. A repetition with the same token returns the same one.
func (s *Session) CreateRouteTable(ctx context.Context, vpcID, token string, tags Tags) (RouteTable, error) {
	output, err := invoke(ctx, s, ec2Change("CreateRouteTable", vpcID), s.ec2.CreateRouteTable, &ec2.CreateRouteTableInput{
		VpcId: aws.String(vpcID), ClientToken: aws.String(token), TagSpecifications: tagSpecification(types.ResourceTypeRouteTable, tags),
	})
	if err != nil {
		return RouteTable{}, err
	}
	table := routeTableOf(output.RouteTable)
	s.created.add(table.ID)
	return table, nil
}

// DeleteRouteTable deletes a route table. It fails with cloud.InUse while a subnet is associated.
func (s *Session) DeleteRouteTable(ctx context.Context, id string) error {
	_, err := invoke(ctx, s, ec2Change("DeleteRouteTable"), s.ec2.DeleteRouteTable, &ec2.DeleteRouteTableInput{RouteTableId: aws.String(id)})
	s.created.remove(id)
	return err
}

// CreateRoute adds a route. It fails with cloud.Conflict if there is one to the same destination.
func (s *Session) CreateRoute(ctx context.Context, tableID string, route Route) error {
	d, t := destinationOf(route), targetOf(route)
	_, err := invoke(ctx, s, ec2Change("CreateRoute", tableID, t.id()), s.ec2.CreateRoute, &ec2.CreateRouteInput{
		RouteTableId: aws.String(tableID), DestinationCidrBlock: d.ipv4, DestinationIpv6CidrBlock: d.ipv6,
		GatewayId: t.gateway, NatGatewayId: t.nat, EgressOnlyInternetGatewayId: t.egressOnly,
	})
	return err
}

// ReplaceRoute gives a route another target, without an interruption.
func (s *Session) ReplaceRoute(ctx context.Context, tableID string, route Route) error {
	d, t := destinationOf(route), targetOf(route)
	_, err := invoke(ctx, s, ec2Change("ReplaceRoute", tableID, t.id()), s.ec2.ReplaceRoute, &ec2.ReplaceRouteInput{
		RouteTableId: aws.String(tableID), DestinationCidrBlock: d.ipv4, DestinationIpv6CidrBlock: d.ipv6,
		GatewayId: t.gateway, NatGatewayId: t.nat, EgressOnlyInternetGatewayId: t.egressOnly,
	})
	return err
}

// DeleteRoute removes the route to a destination.
func (s *Session) DeleteRoute(ctx context.Context, tableID, destination string) error {
	d := destinationOf(Route{Destination: destination})
	_, err := invoke(ctx, s, ec2Change("DeleteRoute", tableID), s.ec2.DeleteRoute, &ec2.DeleteRouteInput{
		RouteTableId: aws.String(tableID), DestinationCidrBlock: d.ipv4, DestinationIpv6CidrBlock: d.ipv6,
	})
	return err
}

// AssociateRouteTable makes a subnet use a table, and returns the ID of the association. It fails with cloud.Conflict if the subnet has another one.
func (s *Session) AssociateRouteTable(ctx context.Context, tableID, subnetID string) (string, error) {
	output, err := invoke(ctx, s, ec2Change("AssociateRouteTable", tableID, subnetID), s.ec2.AssociateRouteTable, &ec2.AssociateRouteTableInput{
		RouteTableId: aws.String(tableID), SubnetId: aws.String(subnetID),
	})
	if err != nil {
		return "", err
	}
	return aws.ToString(output.AssociationId), nil
}

// ReplaceAssociation makes the subnet of an association use another table, without an interruption, and returns the ID of the new association.
func (s *Session) ReplaceAssociation(ctx context.Context, associationID, tableID string) (string, error) {
	output, err := invoke(ctx, s, ec2Create("ReplaceRouteTableAssociation", tableID), s.ec2.ReplaceRouteTableAssociation, &ec2.ReplaceRouteTableAssociationInput{
		AssociationId: aws.String(associationID), RouteTableId: aws.String(tableID),
	})
	if err != nil {
		return "", err
	}
	return aws.ToString(output.NewAssociationId), nil
}

type destination struct{ ipv4, ipv6 *string }

func destinationOf(route Route) destination {
	if isIPv6(route.Destination) {
		return destination{ipv6: aws.String(route.Destination)}
	}
	return destination{ipv4: aws.String(route.Destination)}
}

type target struct{ gateway, nat, egressOnly *string }

func targetOf(route Route) target {
	return target{stringOrNil(route.GatewayID), stringOrNil(route.NATGatewayID), stringOrNil(route.EgressOnlyGatewayID)}
}

func (t target) id() string {
	return aws.ToString(t.gateway) + aws.ToString(t.nat) + aws.ToString(t.egressOnly)
}
