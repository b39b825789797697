package conformance

import (
	"context"
	"net/netip"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/aws"
)

// vpcRange is that of VPCs, and the others of subnets in it.
const vpcRange, oneRange, otherRange = "10.250.0.0/16", "10.250.0.0/24", "10.250.1.0/24"

// vpc makes a VPC.
func (c *Case) vpc() aws.VPC {
	c.Helper()
	return c.vpcOf(aws.VPCCreate{CIDR: vpcRange, Tags: c.tags()})
}

func (c *Case) vpcOf(wanted aws.VPCCreate) aws.VPC {
	c.Helper()
	created := must[aws.VPC](c)(c.s.CreateVPC(c.Context(), wanted))
	c.cleanup(func(ctx context.Context) error { return c.s.DeleteVPC(ctx, created.ID) })
	c.eventually("the VPC is listed", func() bool {
		return len(must[[]aws.VPC](c)(c.s.ListVPCs(c.Context(), aws.Filter{IDs: []string{created.ID}}))) == 1
	})
	return created
}

func (c *Case) dhcpOptions() aws.DHCPOptions {
	c.Helper()
	options := must[aws.DHCPOptions](c)(c.s.CreateDHCPOptions(c.Context(), "example.com", c.tags()))
	c.cleanup(func(ctx context.Context) error { return c.s.DeleteDHCPOptions(ctx, options.ID) })
	return options
}

func vpcs() []Behaviour {
	return []Behaviour{
		{"a VPC has its tags from its creation", ec2("CreateVpc"), func(c *Case) {
			assert.Equal(c, c.tags(), c.vpc().Tags)
		}},
		{"a creation that is repeated creates another VPC with the same range: there is no client token", ec2("CreateVpc"), func(c *Case) {
			one, other := c.vpc(), c.vpc()
			assert.NotEqual(c, one.ID, other.ID)
		}},
		{"a new VPC has DNS support, and no DNS hostnames until they are switched on", dnsGuide, func(c *Case) {
			id := c.vpc().ID
			assert.True(c, must[bool](c)(c.s.GetVPCAttribute(c.Context(), id, aws.DNSSupport)))
			assert.False(c, must[bool](c)(c.s.GetVPCAttribute(c.Context(), id, aws.DNSHostnames)))
			require.NoError(c, c.s.EnableVPCAttribute(c.Context(), id, aws.DNSHostnames))
			c.eventually("it is on", func() bool { return must[bool](c)(c.s.GetVPCAttribute(c.Context(), id, aws.DNSHostnames)) })
		}},
		{"a new VPC has a main route table and a default security group, both without tags", routeTableGuide, func(c *Case) {
			in := aws.Filter{VPCID: c.vpc().ID}
			tables := must[[]aws.RouteTable](c)(c.s.ListRouteTables(c.Context(), in))
			require.Len(c, tables, 1)
			assert.True(c, tables[0].Main())
			groups := must[[]aws.SecurityGroup](c)(c.s.ListSecurityGroups(c.Context(), in))
			require.Len(c, groups, 1)
			assert.Equal(c, "default", groups[0].Name)
			assert.Empty(c, groups[0].Tags)
		}},
		{"the default security group lets its members in and everything out, until its rules are removed", defaultGroupGuide, func(c *Case) {
			named := aws.Filter{VPCID: c.vpc().ID, Name: "default"}
			group := must[[]aws.SecurityGroup](c)(c.s.ListSecurityGroups(c.Context(), named))[0]
			assert.ElementsMatch(c, []aws.Rule{
				{Protocol: aws.AllProtocols, GroupID: group.ID}, {Egress: true, Protocol: aws.AllProtocols, CIDR: "0.0.0.0/0"},
			}, group.Rules)
			require.NoError(c, c.s.RemoveRules(c.Context(), group.ID, group.Rules))
			c.eventually("they are gone", func() bool {
				return len(must[[]aws.SecurityGroup](c)(c.s.ListSecurityGroups(c.Context(), named))[0].Rules) == 0
			})
		}},
		{"a VPC with a subnet cannot be deleted", errorCodes, func(c *Case) {
			vpc := c.vpc()
			c.subnet(vpc.ID)
			c.requireKind(c.s.DeleteVPC(c.Context(), vpc.ID), cloud.InUse, "DependencyViolation")
		}},
		{"a VPC that is deleted takes its main route table and its default security group along", ec2("DeleteVpc"), func(c *Case) {
			id := must[aws.VPC](c)(c.s.CreateVPC(c.Context(), aws.VPCCreate{CIDR: vpcRange, Tags: c.tags()})).ID
			require.NoError(c, c.s.DeleteVPC(c.Context(), id))
			c.eventually("nothing is listed", func() bool {
				return len(must[[]aws.RouteTable](c)(c.s.ListRouteTables(c.Context(), aws.Filter{VPCID: id}))) == 0 &&
					len(must[[]aws.SecurityGroup](c)(c.s.ListSecurityGroups(c.Context(), aws.Filter{VPCID: id}))) == 0
			})
		}},
		{"the second deletion says that there is no VPC", errorCodes, func(c *Case) {
			id := must[aws.VPC](c)(c.s.CreateVPC(c.Context(), aws.VPCCreate{CIDR: vpcRange, Tags: c.tags()})).ID
			require.NoError(c, c.s.DeleteVPC(c.Context(), id))
			c.requireKind(c.s.DeleteVPC(c.Context(), id), cloud.NotFound, "InvalidVpcID.NotFound")
		}},
		{"DHCP options that a VPC uses cannot be deleted", ec2("DeleteDhcpOptions"), func(c *Case) {
			options, vpc := c.dhcpOptions(), c.vpc() // deleted before
			require.NoError(c, c.s.AssociateDHCPOptions(c.Context(), options.ID, vpc.ID))
			c.eventually("the VPC uses them", func() bool {
				return must[[]aws.VPC](c)(c.s.ListVPCs(c.Context(), aws.Filter{IDs: []string{vpc.ID}}))[0].DHCPOptionsID == options.ID
			})
			c.requireKind(c.s.DeleteDHCPOptions(c.Context(), options.ID), cloud.InUse, "DependencyViolation")
		}},
	}
}

func ipv6() []Behaviour {
	return []Behaviour{
		{"a VPC gets a range of 56 bits of Amazon's, some time after its creation", ec2("CreateVpc"), func(c *Case) {
			_, prefix := c.vpcWithIPv6()
			assert.Equal(c, 56, prefix.Bits())
		}},
		{"a subnet of 64 bits has its range from its creation", ec2("CreateSubnet"), func(c *Case) {
			vpc, prefix := c.vpcWithIPv6()
			range64 := netip.PrefixFrom(prefix.Addr(), 64).String()
			subnet := c.subnetOf(aws.SubnetCreate{VPCID: vpc.ID, Zone: c.zone, CIDR: oneRange, IPv6CIDR: range64, Tags: c.tags()})
			require.Len(c, subnet.IPv6, 1)
			assert.Equal(c, range64, subnet.IPv6[0].CIDR)
			_, err := c.s.CreateSubnet(c.Context(), aws.SubnetCreate{VPCID: vpc.ID, Zone: c.zone, CIDR: otherRange, IPv6CIDR: range64, Tags: c.tags()})
			c.requireKind(err, cloud.Conflict, "InvalidSubnet.Conflict")
		}},
		{"a part of a subnet can be reserved", ec2("CreateSubnetCidrReservation"), func(c *Case) {
			vpc, prefix := c.vpcWithIPv6()
			subnet := c.subnetOf(aws.SubnetCreate{VPCID: vpc.ID, Zone: c.zone, CIDR: oneRange, IPv6CIDR: netip.PrefixFrom(prefix.Addr(), 64).String(), Tags: c.tags()})
			part := netip.PrefixFrom(prefix.Addr(), 108).String()
			require.NoError(c, c.s.ReserveCIDR(c.Context(), subnet.ID, part, c.tags()))
			c.eventually("it is listed", func() bool {
				found := must[[]aws.CIDRReservation](c)(c.s.ListIPv6Reservations(c.Context(), subnet.ID))
				return len(found) == 1 && found[0].CIDR == part
			})
		}},
		{"an egress-only internet gateway is created once for a client token", clientTokens, func(c *Case) {
			vpc := c.vpc()
			create := func() string {
				return must[aws.EgressOnlyGateway](c)(c.s.CreateEgressOnlyGateway(c.Context(), vpc.ID, c.name, c.tags())).ID
			}
			id := create()
			c.cleanup(func(ctx context.Context) error { return c.s.DeleteEgressOnlyGateway(ctx, id) })
			assert.Equal(c, id, create())
		}},
	}
}

// vpcWithIPv6 makes a VPC and waits for its range.
func (c *Case) vpcWithIPv6() (aws.VPC, netip.Prefix) {
	c.Helper()
	vpc := c.vpcOf(aws.VPCCreate{CIDR: vpcRange, AmazonIPv6: true, Tags: c.tags()})
	var prefix netip.Prefix
	c.eventually("the range is associated", func() bool {
		blocks := must[[]aws.VPC](c)(c.s.ListVPCs(c.Context(), aws.Filter{IDs: []string{vpc.ID}}))[0].IPv6
		if len(blocks) != 1 || blocks[0].State != aws.Associated {
			return false
		}
		prefix = must[netip.Prefix](c)(netip.ParsePrefix(blocks[0].CIDR))
		return true
	})
	return vpc, prefix
}
