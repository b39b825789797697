package fake_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
)

func TestVPCs(t *testing.T) {
	testBehaviours(t, map[string]behaviour{
		"a VPC is created with a main route table, a default security group and a default network ACL": {
			source: reference("CreateVpc"),
			check: func(t *testing.T, a *account) {
				v := a.do("CreateVpc", "CidrBlock", "10.250.0.0/16")
				id := v.text("vpc/vpcId")
				assert.Equal(t, "default", v.text("vpc/instanceTenancy"))
				table := a.do("DescribeRouteTables", filter(1, "vpc-id", id)...)
				assert.Equal(t, []string{"true"}, table.texts("routeTableSet/item/associationSet/item/main"))
				assert.Equal(t, []string{"10.250.0.0/16"}, table.texts("routeTableSet/item/routeSet/item/destinationCidrBlock"))
				assert.Equal(t, []string{"local"}, table.texts("routeTableSet/item/routeSet/item/gatewayId"))
				group := a.do("DescribeSecurityGroups", filter(1, "vpc-id", id)...)
				assert.Equal(t, []string{"default"}, group.texts("securityGroupInfo/item/groupName"))
				assert.Equal(t, group.texts("securityGroupInfo/item/groupId"), group.texts("securityGroupInfo/item/ipPermissions/item/groups/item/groupId"))
				assert.Equal(t, []string{"0.0.0.0/0"}, group.texts("securityGroupInfo/item/ipPermissionsEgress/item/ipRanges/item/cidrIp"))
				assert.Equal(t, []string{"true"}, a.do("DescribeNetworkAcls", filter(1, "vpc-id", id)...).texts("networkAclSet/item/default"))
			},
		},
		"a new VPC has the DHCP options of the account": {
			source: "https://docs.aws.amazon.com/vpc/latest/userguide/VPC_DHCP_Options.html",
			check: func(t *testing.T, a *account) {
				options := a.do("CreateVpc", "CidrBlock", "10.250.0.0/16").text("vpc/dhcpOptionsId")
				shown := a.do("DescribeDhcpOptions", "DhcpOptionsId.1", options)
				assert.Equal(t, []string{"eu-west-1.compute.internal", "AmazonProvidedDNS"},
					shown.texts("dhcpOptionsSet/item/dhcpConfigurationSet/item/valueSet/item/value"))
			},
		},
		"a VPC with a block larger than /16 is refused": {
			source: "https://github.com/grycap/im/issues/1011 shows the response",
			check: func(t *testing.T, a *account) {
				assert.Equal(t, "The CIDR '10.0.0.0/8' is invalid.", a.fails("InvalidVpc.Range", "CreateVpc", "CidrBlock", "10.0.0.0/8"))
			},
		},
		"a block is stored in its canonical form": {
			source: reference("CreateVpc"),
			check: func(t *testing.T, a *account) {
				assert.Equal(t, "10.250.0.0/16", a.do("CreateVpc", "CidrBlock", "10.250.3.4/16").text("vpc/cidrBlock"))
			},
		},
		"a sixth VPC is refused": {
			source: "https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html; code of https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html",
			check: func(_ *testing.T, a *account) {
				for range 5 {
					a.vpc()
				}
				a.fails("VpcLimitExceeded", "CreateVpc", "CidrBlock", "10.0.0.0/16")
			},
		},
		"DNS support is on and DNS host names are off in a new VPC, and one of them is modified at a time": {
			source: reference("ModifyVpcAttribute"),
			check: func(t *testing.T, a *account) {
				id := a.vpc()
				value := func(attribute string) string {
					return a.do("DescribeVpcAttribute", "VpcId", id, "Attribute", attribute).text(attribute + "/value")
				}
				assert.Equal(t, "true", value("enableDnsSupport"))
				assert.Equal(t, "false", value("enableDnsHostnames"))
				a.do("ModifyVpcAttribute", "VpcId", id, "EnableDnsHostnames.Value", "true")
				assert.Equal(t, "true", value("enableDnsHostnames"))
				a.fails("InvalidParameterCombination", "ModifyVpcAttribute", "VpcId", id, "EnableDnsHostnames.Value", "true", "EnableDnsSupport.Value", "true")
			},
		},
		"an IPv6 block of Amazon is a /56 that is associated later": {
			source: reference("AssociateVpcCidrBlock"), options: []fake.Option{fake.WithTransition(fake.VPCCIDRAssociate, fake.Transition{Reads: 1})},
			check: func(t *testing.T, a *account) {
				v := a.do("CreateVpc", "CidrBlock", "10.250.0.0/16", "AmazonProvidedIpv6CidrBlock", "true")
				assert.Equal(t, "associating", v.text("vpc/ipv6CidrBlockAssociationSet/item/ipv6CidrBlockState/state"))
				v = a.do("DescribeVpcs", "VpcId.1", v.text("vpc/vpcId"))
				assert.Equal(t, "associated", v.text("vpcSet/item/ipv6CidrBlockAssociationSet/item/ipv6CidrBlockState/state"))
				assert.Regexp(t, "/56$", v.text("vpcSet/item/ipv6CidrBlockAssociationSet/item/ipv6CidrBlock"))
			},
		},
		"an IPv6 block of an IPAM pool is chosen by size or by block": {
			source: reference("CreateVpc") + "; codes are our judgement",
			check: func(t *testing.T, a *account) {
				pool := a.AddIPAMPool(netip.MustParsePrefix("2001:db8:0:fe00::/55"))
				create := []string{"CidrBlock", "10.250.0.0/16", "Ipv6IpamPoolId", pool}
				block := func(more ...string) string {
					id := a.do("CreateVpc", with(create, more...)...).text("vpc/vpcId")
					return a.do("DescribeVpcs", "VpcId.1", id).text("vpcSet/item/ipv6CidrBlockAssociationSet/item/ipv6CidrBlock")
				}
				assert.Equal(t, "2001:db8:0:fe00::/56", block("Ipv6CidrBlock", "2001:db8:0:fe00::/56"))
				a.fails("InvalidParameterValue", "CreateVpc", with(create, "Ipv6CidrBlock", "2001:db8:0:fe00::/56")...)
				assert.Equal(t, "2001:db8:0:ff00::/56", block("Ipv6NetmaskLength", "56"))
				a.fails("InvalidParameterValue", "CreateVpc", with(create, "Ipv6NetmaskLength", "56")...)
				a.fails("InvalidParameterCombination", "CreateVpc", create...)
				a.fails("InvalidParameterCombination", "CreateVpc", with(create, "AmazonProvidedIpv6CidrBlock", "true")...)
				a.fails("InvalidIpamPoolId.NotFound", "CreateVpc", "CidrBlock", "10.250.0.0/16", "Ipv6IpamPoolId", "ipam-pool-0")
			},
		},
		"a second block can be associated, the first one cannot be disassociated": {
			source: "https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html; the code is our judgement",
			check: func(_ *testing.T, a *account) {
				v := a.do("CreateVpc", "CidrBlock", "10.250.0.0/16")
				id := v.text("vpc/vpcId")
				second := a.do("AssociateVpcCidrBlock", "VpcId", id, "CidrBlock", "10.251.0.0/16").text("cidrBlockAssociation/associationId")
				a.fails("OperationNotPermitted", "DisassociateVpcCidrBlock", "AssociationId", v.text("vpc/cidrBlockAssociationSet/item/associationId"))
				n := a.subnet(id, "10.251.1.0/24")
				a.fails("InvalidCidrBlock.InUse", "DisassociateVpcCidrBlock", "AssociationId", second)
				a.do("DeleteSubnet", "SubnetId", n)
				a.do("DisassociateVpcCidrBlock", "AssociationId", second)
				a.fails("InvalidVpcCidrBlockAssociationID.NotFound", "DisassociateVpcCidrBlock", "AssociationId", second)
			},
		},
		"a VPC with anything in it cannot be deleted, and goes with what was made with it": {
			source: reference("DeleteVpc"),
			check: func(t *testing.T, a *account) {
				id := a.vpc()
				n, g, r, s := a.subnet(id, "10.250.1.0/24"), a.gateway(id), a.routeTable(id), a.group(id, "nodes")
				assert.Equal(t, "The vpc '"+id+"' has dependencies and cannot be deleted.", a.fails("DependencyViolation", "DeleteVpc", "VpcId", id))
				assert.ElementsMatch(t, []string{n, g, r, s}, a.Dependants(id))
				a.do("DeleteSubnet", "SubnetId", n)
				a.do("DeleteRouteTable", "RouteTableId", r)
				a.do("DeleteSecurityGroup", "GroupId", s)
				a.do("DetachInternetGateway", "InternetGatewayId", g, "VpcId", id)
				a.do("DeleteVpc", "VpcId", id)
				a.fails("InvalidVpcID.NotFound", "DeleteVpc", "VpcId", id)
				assert.Equal(t, []string{g}, a.Resources())
				assert.Empty(t, a.do("DescribeRouteTables").texts("routeTableSet/item/routeTableId"))
				assert.Empty(t, a.do("DescribeSecurityGroups").texts("securityGroupInfo/item/groupId"))
			},
		},
		"DHCP options in use cannot be deleted, and default ones are associated by that name": {
			source: reference("AssociateDhcpOptions"),
			check: func(t *testing.T, a *account) {
				id := a.vpc()
				options := a.do("CreateDhcpOptions", "DhcpConfiguration.1.Key", "domain-name", "DhcpConfiguration.1.Value.1", "example.com").
					text("dhcpOptions/dhcpOptionsId")
				a.do("AssociateDhcpOptions", "VpcId", id, "DhcpOptionsId", options)
				assert.Equal(t, options, a.do("DescribeVpcs").text("vpcSet/item/dhcpOptionsId"))
				a.fails("DependencyViolation", "DeleteDhcpOptions", "DhcpOptionsId", options)
				assert.Equal(t, []string{id}, a.Dependants(options))
				a.do("AssociateDhcpOptions", "VpcId", id, "DhcpOptionsId", "default")
				a.do("DeleteDhcpOptions", "DhcpOptionsId", options)
				a.fails("InvalidDhcpOptionID.NotFound", "AssociateDhcpOptions", "VpcId", id, "DhcpOptionsId", options)
				a.fails("InvalidParameterValue", "CreateDhcpOptions", "DhcpConfiguration.1.Key", "colour", "DhcpConfiguration.1.Value.1", "red")
			},
		},
	})
}

func TestSubnets(t *testing.T) {
	testBehaviours(t, map[string]behaviour{
		"subnets of a VPC do not overlap": {
			source: reference("CreateSubnet"),
			check: func(t *testing.T, a *account) {
				id := a.vpc()
				a.subnet(id, "10.250.0.0/24")
				assert.Equal(t, "The CIDR '10.250.0.0/25' conflicts with another subnet",
					a.fails("InvalidSubnet.Conflict", "CreateSubnet", "VpcId", id, "CidrBlock", "10.250.0.0/25"))
				a.subnet(a.vpc(), "10.250.0.0/24")
			},
		},
		"a subnet lies in a block of its VPC and is not smaller than /28": {
			source: reference("CreateSubnet"),
			check: func(_ *testing.T, a *account) {
				id := a.vpc()
				for _, cidr := range []string{"10.251.0.0/24", "10.0.0.0/8", "10.250.0.0/29"} {
					a.fails("InvalidSubnet.Range", "CreateSubnet", "VpcId", id, "CidrBlock", cidr)
				}
			},
		},
		"a zone of another region is refused with the list of zones": {
			source: reference("CreateSubnet") + "; the message is our judgement",
			check: func(t *testing.T, a *account) {
				message := a.fails("InvalidParameterValue", "CreateSubnet", "VpcId", a.vpc(), "CidrBlock", "10.250.0.0/24", "AvailabilityZone", "us-east-1a")
				assert.Contains(t, message, "availability zones: eu-west-1a, eu-west-1b, eu-west-1c.")
			},
		},
		"a zone can be named by its ID": {
			source: reference("CreateSubnet"),
			check: func(t *testing.T, a *account) {
				n := a.do("CreateSubnet", "VpcId", a.vpc(), "CidrBlock", "10.250.0.0/24", "AvailabilityZoneId", "eu-west-1-az2")
				assert.Equal(t, "eu-west-1b", n.text("subnet/availabilityZone"))
			},
		},
		"five addresses of a subnet cannot be used": {
			source: "https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html",
			check: func(t *testing.T, a *account) {
				n := a.subnet(a.vpc(), "10.250.0.0/28")
				free := func() string {
					return a.do("DescribeSubnets", "SubnetId.1", n).text("subnetSet/item/availableIpAddressCount")
				}
				assert.Equal(t, "11", free())
				i := a.do("CreateNetworkInterface", "SubnetId", n)
				assert.Equal(t, "10.250.0.4", i.text("networkInterface/privateIpAddress"))
				assert.Equal(t, "10", free())
				for range 10 {
					a.do("CreateNetworkInterface", "SubnetId", n)
				}
				a.fails("InsufficientFreeAddressesInSubnet", "CreateNetworkInterface", "SubnetId", n)
			},
		},
		"an IPv6 block of a subnet is a /64 of the VPC's": {
			source: reference("AssociateSubnetCidrBlock"),
			check: func(t *testing.T, a *account) {
				v := a.do("CreateVpc", "CidrBlock", "10.250.0.0/16", "AmazonProvidedIpv6CidrBlock", "true")
				id := v.text("vpc/vpcId")
				block := a.do("DescribeVpcs").text("vpcSet/item/ipv6CidrBlockAssociationSet/item/ipv6CidrBlock")
				assert.Equal(t, "2a05:d018:0:100::/56", block)
				a.fails("InvalidSubnet.Range", "CreateSubnet", "VpcId", id, "CidrBlock", "10.250.0.0/24", "Ipv6CidrBlock", block)
				n := a.do("CreateSubnet", "VpcId", id, "CidrBlock", "10.250.0.0/24", "Ipv6CidrBlock", "2a05:d018:0:100::/64").text("subnet/subnetId")
				a.fails("InvalidSubnet.Conflict", "CreateSubnet", "VpcId", id, "CidrBlock", "10.250.1.0/24", "Ipv6CidrBlock", "2a05:d018:0:100::/64")
				a.fails("InvalidParameterValue", "AssociateSubnetCidrBlock", "SubnetId", n, "Ipv6CidrBlock", "2a05:d018:0:101::/64")
				native := a.do("CreateSubnet", "VpcId", id, "Ipv6Native", "true", "Ipv6CidrBlock", "2a05:d018:0:102::/64")
				assert.Equal(t, "true", native.text("subnet/ipv6Native"))
				assert.Empty(t, native.texts("subnet/cidrBlock"))
			},
		},
		"an IPv6 block is associated with and disassociated from a subnet": {
			source: reference("DisassociateSubnetCidrBlock") + "; the code is our judgement",
			check: func(t *testing.T, a *account) {
				id := a.do("CreateVpc", "CidrBlock", "10.250.0.0/16", "AmazonProvidedIpv6CidrBlock", "true").text("vpc/vpcId")
				n := a.subnet(id, "10.250.0.0/24")
				added := a.do("AssociateSubnetCidrBlock", "SubnetId", n, "Ipv6CidrBlock", "2a05:d018:0:100::/64")
				association := added.text("ipv6CidrBlockAssociation/associationId")
				a.do("ModifySubnetAttribute", "SubnetId", n, "AssignIpv6AddressOnCreation.Value", "true")
				assert.Equal(t, n, a.do("DisassociateSubnetCidrBlock", "AssociationId", association).text("subnetId"))
				a.fails("InvalidSubnetCidrBlockAssociationID.NotFound", "DisassociateSubnetCidrBlock", "AssociationId", association)
			},
		},
		"the IPv6 block of a VPC is removed when no subnet has a part of it": {
			source: reference("DisassociateVpcCidrBlock") + "; the code is our judgement",
			check: func(_ *testing.T, a *account) {
				id := a.vpc()
				association := a.do("AssociateVpcCidrBlock", "VpcId", id, "AmazonProvidedIpv6CidrBlock", "true").text("ipv6CidrBlockAssociation/associationId")
				n := a.do("CreateSubnet", "VpcId", id, "CidrBlock", "10.250.0.0/24", "Ipv6CidrBlock", "2a05:d018:0:100::/64").text("subnet/subnetId")
				a.fails("InvalidCidrBlock.InUse", "DisassociateVpcCidrBlock", "AssociationId", association)
				a.do("DeleteSubnet", "SubnetId", n)
				a.do("DisassociateVpcCidrBlock", "AssociationId", association)
				a.fails("InvalidParameterCombination", "AssociateVpcCidrBlock", "VpcId", id)
			},
		},
		"IPv6 addresses are assigned only in subnets with an IPv6 block": {
			source: judgement,
			check: func(_ *testing.T, a *account) {
				a.fails("InvalidParameterValue", "ModifySubnetAttribute", "SubnetId", a.subnet(a.vpc(), "10.250.0.0/24"), "AssignIpv6AddressOnCreation.Value", "true")
			},
		},
		"one attribute of a subnet is modified at a time": {
			source: reference("ModifySubnetAttribute"),
			check: func(t *testing.T, a *account) {
				n := a.subnet(a.vpc(), "10.250.0.0/24")
				a.fails("InvalidParameterCombination", "ModifySubnetAttribute", "SubnetId", n, "MapPublicIpOnLaunch.Value", "true", "EnableDns64.Value", "true")
				a.do("ModifySubnetAttribute", "SubnetId", n, "MapPublicIpOnLaunch.Value", "true")
				assert.Equal(t, "true", a.do("DescribeSubnets").text("subnetSet/item/mapPublicIpOnLaunch"))
			},
		},
		"a subnet with network interfaces cannot be deleted, and takes its associations with it": {
			source: reference("DeleteSubnet"),
			check: func(t *testing.T, a *account) {
				id := a.vpc()
				n, table := a.subnet(id, "10.250.0.0/24"), a.routeTable(id)
				a.do("AssociateRouteTable", "SubnetId", n, "RouteTableId", table)
				i, err := a.AddNetworkInterface(n, "network_load_balancer", "ELB net/a1/1")
				assert.NoError(t, err)
				a.fails("DependencyViolation", "DeleteSubnet", "SubnetId", n)
				assert.Equal(t, []string{i}, a.Dependants(n))
				a.RemoveNetworkInterface(i)
				a.do("DeleteSubnet", "SubnetId", n)
				a.do("DeleteRouteTable", "RouteTableId", table)
			},
		},
		"reservations lie in the subnet, do not overlap, and are shown by family": {
			source: reference("CreateSubnetCidrReservation") + "; codes are our judgement",
			check: func(t *testing.T, a *account) {
				n := a.subnet(a.vpc(), "10.250.0.0/24")
				reserve := []string{"SubnetId", n, "ReservationType", "explicit", "Cidr"}
				id := a.do("CreateSubnetCidrReservation", with(reserve, "10.250.0.128/28")...).text("subnetCidrReservation/subnetCidrReservationId")
				a.fails("InvalidParameterValue", "CreateSubnetCidrReservation", with(reserve, "10.250.0.128/27")...)
				a.fails("InvalidParameterValue", "CreateSubnetCidrReservation", with(reserve, "10.250.1.0/28")...)
				shown := a.do("GetSubnetCidrReservations", "SubnetId", n)
				assert.Equal(t, []string{"10.250.0.128/28"}, shown.texts("subnetIpv4CidrReservationSet/item/cidr"))
				assert.Empty(t, shown.texts("subnetIpv6CidrReservationSet/item/cidr"))
				a.do("DeleteSubnetCidrReservation", "SubnetCidrReservationId", id)
			},
		},
	})
}
