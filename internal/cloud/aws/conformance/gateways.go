package conformance

import (
	"context"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/aws"
)

// gateway makes an internet gateway. It is attached unless the VPC is empty.
func (c *Case) gateway(vpcID string) aws.InternetGateway {
	c.Helper()
	created := must[aws.InternetGateway](c)(c.s.CreateInternetGateway(c.Context(), c.tags()))
	c.cleanup(func(ctx context.Context) error { return c.s.DeleteInternetGateway(ctx, created.ID) })
	if vpcID != "" {
		require.NoError(c, c.s.AttachInternetGateway(c.Context(), created.ID, vpcID))
		c.cleanup(func(ctx context.Context) error { return c.s.DetachInternetGateway(ctx, created.ID, vpcID) })
	}
	return created
}

func gateways() []Behaviour {
	return []Behaviour{
		{"an internet gateway is listed by the VPC that it is attached to", ec2("DescribeInternetGateways"), func(c *Case) {
			vpc := c.vpc()
			id := c.gateway(vpc.ID).ID
			c.eventually("it is listed", func() bool {
				found := must[[]aws.InternetGateway](c)(c.s.ListInternetGateways(c.Context(), aws.Filter{VPCID: vpc.ID}))
				return len(found) == 1 && found[0].ID == id && found[0].VPCID == vpc.ID
			})
		}},
		{"an internet gateway that is attached is not attached again", errorCodes, func(c *Case) {
			vpc := c.vpc()
			id := c.gateway(vpc.ID).ID
			c.requireKind(c.s.AttachInternetGateway(c.Context(), id, vpc.ID), cloud.Conflict, "Resource.AlreadyAssociated")
		}},
		{"an internet gateway that is attached cannot be deleted", errorCodes, func(c *Case) {
			c.requireKind(c.s.DeleteInternetGateway(c.Context(), c.gateway(c.vpc().ID).ID), cloud.InUse, "DependencyViolation")
		}},
		{"what is not attached cannot be detached", errorCodes, func(c *Case) {
			vpc := c.vpc()
			c.requireKind(c.s.DetachInternetGateway(c.Context(), c.gateway("").ID, vpc.ID), cloud.NotFound, "Gateway.NotAttached")
		}},
		{"a VPC with an internet gateway cannot be deleted", ec2("DeleteVpc"), func(c *Case) {
			vpc := c.vpc()
			c.gateway(vpc.ID)
			c.requireKind(c.s.DeleteVPC(c.Context(), vpc.ID), cloud.InUse, "DependencyViolation")
		}},
		{"a gateway endpoint has its route tables from its creation, once for a client token", endpointGuide, func(c *Case) {
			vpc := c.vpc()
			table := c.routeTable(vpc.ID)
			wanted := aws.EndpointCreate{
				VPCID: vpc.ID, Service: "com.amazonaws." + c.s.Region() + ".s3", RouteTableIDs: []string{table.ID}, Token: c.name, Tags: c.tags(),
			}
			created := must[aws.Endpoint](c)(c.s.CreateEndpoint(c.Context(), wanted))
			c.cleanup(func(ctx context.Context) error { return c.s.DeleteEndpoints(ctx, []string{created.ID}) })
			assert.Equal(c, []string{table.ID}, created.RouteTableIDs)
			assert.Equal(c, created.ID, must[aws.Endpoint](c)(c.s.CreateEndpoint(c.Context(), wanted)).ID)
		}},
	}
}

// address allocates an elastic IP.
func (c *Case) address() aws.Address {
	c.Helper()
	created := must[aws.Address](c)(c.s.AllocateAddress(c.Context(), c.tags()))
	c.cleanup(func(ctx context.Context) error { return c.s.ReleaseAddress(ctx, created.AllocationID) })
	return created
}

// natGateway makes a NAT gateway with all that it needs.
func (c *Case) natGateway() (aws.NATGateway, aws.Address) {
	c.Helper()
	vpc := c.vpc()
	c.gateway(vpc.ID)
	address := c.address()
	subnet := c.subnet(vpc.ID)
	created := must[aws.NATGateway](c)(c.s.CreateNATGateway(c.Context(), subnet.ID, address.AllocationID, c.name, c.tags()))
	c.cleanup(func(ctx context.Context) error {
		err := c.s.DeleteNATGateway(ctx, created.ID)
		if err == nil {
			c.awaitNAT(created.ID, aws.NATDeleted)
		}
		return err
	})
	return created, address
}

// awaitNAT waits for a state of a NAT gateway.
func (c *Case) awaitNAT(id, state string) aws.NATGateway {
	c.Helper()
	var found []aws.NATGateway
	c.eventually("the NAT gateway is "+state, func() bool {
		var err error
		found, err = c.s.ListNATGateways(context.WithoutCancel(c.Context()), aws.Filter{IDs: []string{id}})
		return err == nil && len(found) == 1 && found[0].State == state
	})
	return found[0]
}

func natGateways() []Behaviour {
	return []Behaviour{
		{"a NAT gateway becomes available, and then has the public address", ec2("NatGateway"), func(c *Case) {
			created, address := c.natGateway()
			assert.Equal(c, []aws.NATAddress{{AllocationID: address.AllocationID, PublicIP: address.PublicIP}}, c.awaitNAT(created.ID, aws.NATAvailable).Addresses)
		}},
		{"a NAT gateway is created once for a client token", clientTokens, func(c *Case) {
			created, address := c.natGateway()
			again := must[aws.NATGateway](c)(c.s.CreateNATGateway(c.Context(), created.SubnetID, address.AllocationID, c.name, c.tags()))
			assert.Equal(c, created.ID, again.ID)
		}},
		{"a client token with other parameters is refused", clientTokens, func(c *Case) {
			created, _ := c.natGateway()
			_, err := c.s.CreateNATGateway(c.Context(), created.SubnetID, c.address().AllocationID, c.name, c.tags())
			c.requireKind(err, cloud.Conflict, "IdempotentParameterMismatch")
		}},
		{"without an internet gateway a NAT gateway fails, and says why", natTroubles, func(c *Case) {
			subnet, address := c.subnet(c.vpc().ID), c.address()
			created := must[aws.NATGateway](c)(c.s.CreateNATGateway(c.Context(), subnet.ID, address.AllocationID, c.name, c.tags()))
			assert.Contains(c, c.awaitNAT(created.ID, "failed").Failure, "Gateway.NotAttached")
			assert.NoError(c, c.s.DeleteNATGateway(c.Context(), created.ID))
			c.awaitNAT(created.ID, aws.NATDeleted)
		}},
		{"an address in use cannot be released: the code is that for missing rights or that for use", addressIssue, func(c *Case) {
			created, address := c.natGateway()
			c.awaitNAT(created.ID, aws.NATAvailable)
			err := c.s.ReleaseAddress(c.Context(), address.AllocationID)
			require.Error(c, err)
			assert.Contains(c, []string{"AuthFailure", "InvalidIPAddress.InUse"}, aws.CodeOf(err))
			assert.Equal(c, cloud.InUse, cloud.KindOf(err))
		}},
		{"a subnet with a NAT gateway cannot be deleted", errorCodes, func(c *Case) {
			created, _ := c.natGateway()
			c.awaitNAT(created.ID, aws.NATAvailable)
			c.requireKind(c.s.DeleteSubnet(c.Context(), created.SubnetID), cloud.InUse, "DependencyViolation")
		}},
		{"a deleted NAT gateway stays in lists, and its address and subnet are free", natBasics, func(c *Case) {
			created, address := c.natGateway()
			c.awaitNAT(created.ID, aws.NATAvailable)
			require.NoError(c, c.s.DeleteNATGateway(c.Context(), created.ID))
			c.awaitNAT(created.ID, aws.NATDeleted)
			require.NoError(c, c.s.ReleaseAddress(c.Context(), address.AllocationID))
			require.NoError(c, c.s.DeleteSubnet(c.Context(), created.SubnetID))
		}},
		{"an address that is released is not found", errorCodes, func(c *Case) {
			id := must[aws.Address](c)(c.s.AllocateAddress(c.Context(), c.tags())).AllocationID
			require.NoError(c, c.s.ReleaseAddress(c.Context(), id))
			c.requireKind(c.s.ReleaseAddress(c.Context(), id), cloud.NotFound, "InvalidAllocationID.NotFound")
		}},
	}
}
