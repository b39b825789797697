package conformance

import (
	"context"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/aws"
)

// subnet makes a subnet with oneRange.
func (c *Case) subnet(vpcID string) aws.Subnet {
	c.Helper()
	return c.subnetOf(aws.SubnetCreate{VPCID: vpcID, Zone: c.zone, CIDR: oneRange, Tags: c.tags()})
}

func (c *Case) subnetOf(wanted aws.SubnetCreate) aws.Subnet {
	c.Helper()
	created := must[aws.Subnet](c)(c.s.CreateSubnet(c.Context(), wanted))
	c.cleanup(func(ctx context.Context) error { return c.s.DeleteSubnet(ctx, created.ID) })
	return created
}

func subnets() []Behaviour {
	return []Behaviour{
		{"a range of a VPC is that of one subnet", errorCodes, func(c *Case) {
			vpc := c.vpc()
			c.subnet(vpc.ID)
			_, err := c.s.CreateSubnet(c.Context(), aws.SubnetCreate{VPCID: vpc.ID, Zone: c.zone, CIDR: oneRange, Tags: c.tags()})
			c.requireKind(err, cloud.Conflict, "InvalidSubnet.Conflict")
		}},
		{"a range outside the VPC is refused", errorCodes, func(c *Case) {
			_, err := c.s.CreateSubnet(c.Context(), aws.SubnetCreate{VPCID: c.vpc().ID, Zone: c.zone, CIDR: "192.168.0.0/24", Tags: c.tags()})
			c.requireKind(err, cloud.Configuration, "InvalidSubnet.Range")
		}},
		{"a subnet of 24 bits has 251 free addresses", subnetGuide, func(c *Case) {
			assert.Equal(c, 251, c.subnet(c.vpc().ID).FreeAddresses)
		}},
		{"a subnet that is deleted takes its association with a route table along", Judgement, func(c *Case) {
			vpc := c.vpc()
			subnet, table := c.subnet(vpc.ID), c.routeTable(vpc.ID)
			must[string](c)(c.s.AssociateRouteTable(c.Context(), table.ID, subnet.ID))
			require.NoError(c, c.s.DeleteSubnet(c.Context(), subnet.ID))
			c.eventually("the route table is free", func() bool { return c.s.DeleteRouteTable(c.Context(), table.ID) == nil })
		}},
	}
}
