package conformance

import (
	"context"
	"slices"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/aws"
)

// routeTable makes a route table.
func (c *Case) routeTable(vpcID string) aws.RouteTable {
	c.Helper()
	created := must[aws.RouteTable](c)(c.s.CreateRouteTable(c.Context(), vpcID, c.name, c.tags()))
	c.cleanup(func(ctx context.Context) error { return c.s.DeleteRouteTable(ctx, created.ID) })
	return created
}

// routesOf reads the routes of a table.
func (c *Case) routesOf(id string) []aws.Route {
	c.Helper()
	found := must[[]aws.RouteTable](c)(c.s.ListRouteTables(c.Context(), aws.Filter{IDs: []string{id}}))
	if len(found) == 0 {
		return nil
	}
	return found[0].Routes
}

func routeTables() []Behaviour {
	const everywhere = "0.0.0.0/0"
	return []Behaviour{
		{"a route table is created once for a client token", clientTokens, func(c *Case) {
			vpc := c.vpc()
			id := c.routeTable(vpc.ID).ID
			assert.Equal(c, id, must[aws.RouteTable](c)(c.s.CreateRouteTable(c.Context(), vpc.ID, c.name, c.tags())).ID)
		}},
		{"a new route table has the local route alone", routeTableGuide, func(c *Case) {
			assert.Equal(c, []aws.Route{{Destination: vpcRange, GatewayID: "local"}}, c.routeTable(c.vpc().ID).Routes)
		}},
		{"a destination has one route", errorCodes, func(c *Case) {
			vpc := c.vpc()
			gateway, table := c.gateway(vpc.ID), c.routeTable(vpc.ID)
			route := aws.Route{Destination: everywhere, GatewayID: gateway.ID}
			require.NoError(c, c.s.CreateRoute(c.Context(), table.ID, route))
			c.requireKind(c.s.CreateRoute(c.Context(), table.ID, route), cloud.Conflict, "RouteAlreadyExists")
			c.eventually("it is listed as it was given", func() bool { return slices.Contains(c.routesOf(table.ID), route) })
			require.NoError(c, c.s.DeleteRoute(c.Context(), table.ID, everywhere))
		}},
		{"a route is replaced in one request", ec2("ReplaceRoute"), func(c *Case) {
			nat, _ := c.natGateway()
			c.awaitNAT(nat.ID, aws.NATAvailable)
			gateway := must[[]aws.InternetGateway](c)(c.s.ListInternetGateways(c.Context(), aws.Filter{VPCID: nat.VPCID}))[0]
			table := c.routeTable(nat.VPCID)
			require.NoError(c, c.s.CreateRoute(c.Context(), table.ID, aws.Route{Destination: everywhere, GatewayID: gateway.ID}))
			replaced := aws.Route{Destination: everywhere, NATGatewayID: nat.ID}
			require.NoError(c, c.s.ReplaceRoute(c.Context(), table.ID, replaced))
			c.eventually("it leads to the NAT gateway", func() bool { return slices.Contains(c.routesOf(table.ID), replaced) })
			require.NoError(c, c.s.DeleteRoute(c.Context(), table.ID, everywhere))
		}},
		{"a route table that a subnet uses cannot be deleted", errorCodes, func(c *Case) {
			vpc := c.vpc()
			table := c.routeTable(vpc.ID)
			must[string](c)(c.s.AssociateRouteTable(c.Context(), table.ID, c.subnet(vpc.ID).ID))
			c.requireKind(c.s.DeleteRouteTable(c.Context(), table.ID), cloud.InUse, "DependencyViolation")
		}},
		{"a list of route tables shows which subnets use them", ec2("DescribeRouteTables"), func(c *Case) {
			vpc := c.vpc()
			table := c.routeTable(vpc.ID)
			subnet := c.subnet(vpc.ID)
			id := must[string](c)(c.s.AssociateRouteTable(c.Context(), table.ID, subnet.ID))
			c.eventually("it shows the association", func() bool {
				found := must[[]aws.RouteTable](c)(c.s.ListRouteTables(c.Context(), aws.Filter{IDs: []string{table.ID}}))
				return len(found) == 1 && slices.Contains(found[0].Associations, aws.Association{ID: id, SubnetID: subnet.ID})
			})
		}},
	}
}
