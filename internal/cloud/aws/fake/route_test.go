package fake_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRouteTables(t *testing.T) {
	routes := func(a *account, id, path string) []string {
		return a.do("DescribeRouteTables", "RouteTableId.1", id).texts("routeTableSet/item/routeSet/item/" + path)
	}
	testBehaviours(t, map[string]behaviour{
		"a route is created once, replaced and deleted": {
			source: reference("CreateRoute") + ", ReplaceRoute, DeleteRoute",
			check: func(t *testing.T, a *account) {
				id, _, g, nat, _ := a.natGateway()
				table := a.routeTable(id)
				all := []string{"RouteTableId", table, "DestinationCidrBlock", "0.0.0.0/0"}
				a.fails("InvalidParameterValue", "ReplaceRoute", with(all, "GatewayId", g)...)
				a.do("CreateRoute", with(all, "GatewayId", g)...)
				assert.Equal(t, "The route identified by 0.0.0.0/0 already exists.", a.fails("RouteAlreadyExists", "CreateRoute", with(all, "NatGatewayId", nat)...))
				a.do("ReplaceRoute", with(all, "NatGatewayId", nat)...)
				assert.Equal(t, []string{nat}, routes(a, table, "natGatewayId"))
				a.do("DeleteRoute", all...)
				a.fails("InvalidRoute.NotFound", "DeleteRoute", all...)
			},
		},
		"the local route cannot be created, replaced or deleted": {
			source: "https://docs.aws.amazon.com/vpc/latest/userguide/VPC_Route_Tables.html; codes are our judgement",
			check: func(_ *testing.T, a *account) {
				id := a.vpc()
				local := []string{"RouteTableId", a.routeTable(id), "DestinationCidrBlock", "10.250.0.0/16"}
				a.fails("InvalidParameterValue", "DeleteRoute", local...)
				a.fails("RouteAlreadyExists", "CreateRoute", with(local, "GatewayId", a.gateway(id))...)
			},
		},
		"a destination is stored in its canonical form": {
			source: reference("CreateRoute"),
			check: func(t *testing.T, a *account) {
				id := a.vpc()
				table := a.routeTable(id)
				a.do("CreateRoute", "RouteTableId", table, "DestinationCidrBlock", "100.68.0.18/18", "GatewayId", a.gateway(id))
				assert.Equal(t, []string{"10.250.0.0/16", "100.68.0.0/18"}, routes(a, table, "destinationCidrBlock"))
			},
		},
		"the target is one that exists in the network of the table": {
			source: "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html",
			check: func(_ *testing.T, a *account) {
				id := a.vpc()
				all := []string{"RouteTableId", a.routeTable(id), "DestinationCidrBlock", "0.0.0.0/0"}
				detached := a.do("CreateInternetGateway").text("internetGateway/internetGatewayId")
				a.fails("InvalidParameterValue", "CreateRoute", with(all, "GatewayId", detached)...)
				a.fails("InvalidGatewayID.NotFound", "CreateRoute", with(all, "GatewayId", "igw-0")...)
				a.fails("InvalidNatGatewayID.NotFound", "CreateRoute", with(all, "NatGatewayId", "nat-0")...)
				a.fails("MissingParameter", "CreateRoute", all...)
				a.fails("InvalidParameterCombination", "CreateRoute", with(all, "GatewayId", "igw-0", "NatGatewayId", "nat-0")...)
			},
		},
		"a route whose target is gone is a black hole": {
			source: reference("Route"),
			check: func(t *testing.T, a *account) {
				id, _, _, nat, _ := a.natGateway()
				table := a.routeTable(id)
				a.do("CreateRoute", "RouteTableId", table, "DestinationCidrBlock", "0.0.0.0/0", "NatGatewayId", nat)
				assert.Equal(t, []string{"active", "active"}, routes(a, table, "state"))
				a.do("DeleteNatGateway", "NatGatewayId", nat)
				assert.Equal(t, []string{"active", "blackhole"}, routes(a, table, "state"))
			},
		},
		"an egress-only internet gateway is a target for IPv6": {
			source: reference("CreateRoute") + "; the code is our judgement",
			check: func(t *testing.T, a *account) {
				id := a.vpc()
				table := a.routeTable(id)
				g := a.do("CreateEgressOnlyInternetGateway", "VpcId", id).text("egressOnlyInternetGateway/egressOnlyInternetGatewayId")
				a.fails("InvalidParameterValue", "CreateRoute", "RouteTableId", table, "DestinationCidrBlock", "0.0.0.0/0", "EgressOnlyInternetGatewayId", g)
				a.do("CreateRoute", "RouteTableId", table, "DestinationIpv6CidrBlock", "::/0", "EgressOnlyInternetGatewayId", g)
				assert.Equal(t, []string{"::/0"}, routes(a, table, "destinationIpv6CidrBlock"))
			},
		},
		"a subnet is associated with one table, and the same association can be repeated": {
			source: "Resource.AlreadyAssociated of https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html; the repetition is our judgement",
			check: func(t *testing.T, a *account) {
				id := a.vpc()
				n, first, second := a.subnet(id, "10.250.0.0/24"), a.routeTable(id), a.routeTable(id)
				association := a.do("AssociateRouteTable", "SubnetId", n, "RouteTableId", first).text("associationId")
				assert.Equal(t, association, a.do("AssociateRouteTable", "SubnetId", n, "RouteTableId", first).text("associationId"))
				a.fails("Resource.AlreadyAssociated", "AssociateRouteTable", "SubnetId", n, "RouteTableId", second)
				a.fails("DependencyViolation", "DeleteRouteTable", "RouteTableId", first)
				moved := a.do("ReplaceRouteTableAssociation", "AssociationId", association, "RouteTableId", second).text("newAssociationId")
				assert.NotEqual(t, association, moved)
				a.do("DeleteRouteTable", "RouteTableId", first)
				a.do("DisassociateRouteTable", "AssociationId", moved)
				a.fails("InvalidAssociationID.NotFound", "DisassociateRouteTable", "AssociationId", moved)
			},
		},
		"the main association cannot be removed, only replaced": {
			source: reference("ReplaceRouteTableAssociation") + "; the code is our judgement",
			check: func(t *testing.T, a *account) {
				id := a.vpc()
				main := a.do("DescribeRouteTables", filter(1, "association.main", "true")...)
				association := main.text("routeTableSet/item/associationSet/item/routeTableAssociationId")
				a.fails("InvalidParameterValue", "DisassociateRouteTable", "AssociationId", association)
				a.fails("DependencyViolation", "DeleteRouteTable", "RouteTableId", main.text("routeTableSet/item/routeTableId"))
				table := a.routeTable(id)
				a.do("ReplaceRouteTableAssociation", "AssociationId", association, "RouteTableId", table)
				shown := a.do("DescribeRouteTables", filter(1, "association.main", "true")...)
				assert.Equal(t, []string{table}, shown.texts("routeTableSet/item/routeTableId"))
			},
		},
		"table and subnet are of one network": {
			source: judgement,
			check: func(_ *testing.T, a *account) {
				a.fails("InvalidParameterValue", "AssociateRouteTable", "SubnetId", a.subnet(a.vpc(), "10.250.0.0/24"), "RouteTableId", a.routeTable(a.vpc()))
			},
		},
		"a gateway endpoint adds a route to its tables, and goes with its routes": {
			source: "https://docs.aws.amazon.com/vpc/latest/privatelink/gateway-endpoints.html",
			check: func(t *testing.T, a *account) {
				id := a.vpc()
				table, other := a.routeTable(id), a.routeTable(id)
				e := a.do("CreateVpcEndpoint", "VpcId", id, "ServiceName", "com.amazonaws.eu-west-1.s3", "RouteTableId.1", table, "ClientToken", "t")
				endpoint := e.text("vpcEndpoint/vpcEndpointId")
				assert.Equal(t, "available", e.text("vpcEndpoint/state"))
				assert.Equal(t, []string{"local", endpoint}, routes(a, table, "gatewayId"))
				a.fails("RouteAlreadyExists", "CreateVpcEndpoint", "VpcId", id, "ServiceName", "com.amazonaws.eu-west-1.s3", "RouteTableId.1", table)
				a.do("ModifyVpcEndpoint", "VpcEndpointId", endpoint, "AddRouteTableId.1", other, "RemoveRouteTableId.1", table)
				assert.Equal(t, []string{"local", endpoint}, routes(a, other, "gatewayId"))
				a.fails("DependencyViolation", "DeleteVpc", "VpcId", id)
				deleted := a.do("DeleteVpcEndpoints", "VpcEndpointId.1", endpoint, "VpcEndpointId.2", "vpce-0")
				assert.Equal(t, []string{"vpce-0"}, deleted.texts("unsuccessful/item/resourceId"))
				assert.Equal(t, []string{"InvalidVpcEndpointId.NotFound"}, deleted.texts("unsuccessful/item/error/code"))
				assert.Equal(t, []string{"local"}, routes(a, other, "gatewayId"))
			},
		},
		"an endpoint is for a service of the region": {
			source: reference("CreateVpcEndpoint"),
			check: func(_ *testing.T, a *account) {
				a.fails("InvalidServiceName", "CreateVpcEndpoint", "VpcId", a.vpc(), "ServiceName", "com.amazonaws.us-east-1.s3")
			},
		},
	})
}
