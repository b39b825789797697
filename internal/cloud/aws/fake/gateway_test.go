package fake_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
)

func TestInternetGateways(t *testing.T) {
	testBehaviours(t, map[string]behaviour{
		"a gateway is attached to one VPC, and a VPC has one gateway": {
			source: reference("AttachInternetGateway") + "; Resource.AlreadyAssociated of errors-overview.html",
			check: func(t *testing.T, a *account) {
				id, other := a.vpc(), a.vpc()
				g := a.gateway(id)
				shown := a.do("DescribeInternetGateways", filter(1, "attachment.vpc-id", id)...)
				assert.Equal(t, []string{g}, shown.texts("internetGatewaySet/item/internetGatewayId"))
				assert.Equal(t, "available", shown.text("internetGatewaySet/item/attachmentSet/item/state"))
				a.fails("Resource.AlreadyAssociated", "AttachInternetGateway", "InternetGatewayId", g, "VpcId", id)
				a.fails("Resource.AlreadyAssociated", "AttachInternetGateway", "InternetGatewayId", g, "VpcId", other)
				second := a.do("CreateInternetGateway").text("internetGateway/internetGatewayId")
				a.fails("InvalidParameterValue", "AttachInternetGateway", "InternetGatewayId", second, "VpcId", id)
			},
		},
		"an attached gateway cannot be deleted": {
			source: reference("DeleteInternetGateway"),
			check: func(t *testing.T, a *account) {
				id := a.vpc()
				g := a.gateway(id)
				a.fails("DependencyViolation", "DeleteInternetGateway", "InternetGatewayId", g)
				assert.Equal(t, []string{id}, a.Dependants(g))
				a.do("DetachInternetGateway", "InternetGatewayId", g, "VpcId", id)
				a.fails("Gateway.NotAttached", "DetachInternetGateway", "InternetGatewayId", g, "VpcId", id)
				a.do("DeleteInternetGateway", "InternetGatewayId", g)
				a.fails("InvalidInternetGatewayID.NotFound", "DeleteInternetGateway", "InternetGatewayId", g)
			},
		},
		"a gateway cannot be detached while the VPC has public addresses": {
			source: reference("DetachInternetGateway"),
			check: func(t *testing.T, a *account) {
				id, _, g, nat, _ := a.natGateway()
				message := a.fails("DependencyViolation", "DetachInternetGateway", "InternetGatewayId", g, "VpcId", id)
				assert.Contains(t, message, "has some mapped public address(es)")
				a.do("DeleteNatGateway", "NatGatewayId", nat)
				a.do("DetachInternetGateway", "InternetGatewayId", g, "VpcId", id)
			},
		},
		"an egress-only internet gateway is created attached, and prevents the deletion of the VPC": {
			source: reference("CreateEgressOnlyInternetGateway") + "; the dependency is our judgement",
			check: func(t *testing.T, a *account) {
				id := a.vpc()
				g := a.do("CreateEgressOnlyInternetGateway", "VpcId", id, "ClientToken", "one")
				assert.Equal(t, id, g.text("egressOnlyInternetGateway/attachmentSet/item/vpcId"))
				assert.Equal(t, "one", g.text("clientToken"))
				a.fails("DependencyViolation", "DeleteVpc", "VpcId", id)
				a.do("DeleteEgressOnlyInternetGateway", "EgressOnlyInternetGatewayId", g.text("egressOnlyInternetGateway/egressOnlyInternetGatewayId"))
				a.do("DeleteVpc", "VpcId", id)
			},
		},
	})
}

func TestNATGateways(t *testing.T) {
	const guide = "https://docs.aws.amazon.com/vpc/latest/userguide/nat-gateway-troubleshooting.html"
	testBehaviours(t, map[string]behaviour{
		"a gateway is pending without a public address, then available with its address and interface": {
			source: reference("NatGateway"), options: []fake.Option{fake.WithTransition(fake.NATGatewayCreate, fake.Transition{Reads: 1})},
			check: func(t *testing.T, a *account) {
				_, subnet, _, nat, allocation := a.natGateway()
				shown := a.do("DescribeNatGateways", "NatGatewayId.1", nat)
				assert.Equal(t, "pending", shown.text("natGatewaySet/item/state"))
				assert.Empty(t, shown.texts("natGatewaySet/item/natGatewayAddressSet/item/publicIp"))
				shown = a.do("DescribeNatGateways", "NatGatewayId.1", nat)
				assert.Equal(t, "available", shown.text("natGatewaySet/item/state"))
				assert.Equal(t, allocation, shown.text("natGatewaySet/item/natGatewayAddressSet/item/allocationId"))
				i := a.do("DescribeNetworkInterfaces", filter(1, "subnet-id", subnet)...)
				assert.Equal(t, "Interface for NAT Gateway "+nat, i.text("networkInterfaceSet/item/description"))
				assert.Equal(t, "true", i.text("networkInterfaceSet/item/requesterManaged"))
				assert.Equal(t, shown.texts("natGatewaySet/item/natGatewayAddressSet/item/publicIp"), i.texts("networkInterfaceSet/item/association/publicIp"))
			},
		},
		"a gateway in a VPC without an internet gateway fails": {
			source: guide,
			check: func(t *testing.T, a *account) {
				a.do("CreateNatGateway", "SubnetId", a.subnet(a.vpc(), "10.250.0.0/24"), "AllocationId", a.address())
				shown := a.do("DescribeNatGateways", filter(1, "state", "failed")...)
				assert.Equal(t, "Gateway.NotAttached", shown.text("natGatewaySet/item/failureCode"))
			},
		},
		"the ID of something else is no gateway's": {
			source: "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html",
			check: func(_ *testing.T, a *account) {
				a.fails("NatGatewayMalformed", "DeleteNatGateway", "NatGatewayId", "rtb-0123456789abcdef0")
			},
		},
		"a gateway with an address in use fails": {
			source: guide,
			check: func(t *testing.T, a *account) {
				_, subnet, _, _, allocation := a.natGateway()
				second := a.do("CreateNatGateway", "SubnetId", subnet, "AllocationId", allocation).text("natGateway/natGatewayId")
				shown := a.do("DescribeNatGateways", "NatGatewayId.1", second)
				assert.Equal(t, "failed", shown.text("natGatewaySet/item/state"))
				assert.Equal(t, "Resource.AlreadyAssociated", shown.text("natGatewaySet/item/failureCode"))
			},
		},
		"a creation fails as configured, and leaves no interface": {
			source:  reference("NatGateway"),
			options: []fake.Option{fake.WithTransition(fake.NATGatewayCreate, fake.Transition{Fail: true, Code: "InternalError", Message: "Internal error"})},
			check: func(t *testing.T, a *account) {
				a.natGateway()
				assert.Equal(t, "InternalError", a.do("DescribeNatGateways").text("natGatewaySet/item/failureCode"))
				assert.Empty(t, a.do("DescribeNetworkInterfaces").texts("networkInterfaceSet/item/networkInterfaceId"))
			},
		},
		"a deleted gateway stays visible, and holds subnet and address until it is deleted": {
			source: reference("DeleteNatGateway"), options: []fake.Option{fake.WithTransition(fake.NATGatewayDelete, fake.Transition{Reads: 1})},
			check: func(t *testing.T, a *account) {
				_, subnet, _, nat, allocation := a.natGateway()
				state := func() string {
					return a.do("DescribeNatGateways", "NatGatewayId.1", nat).text("natGatewaySet/item/state")
				}
				a.fails("AuthFailure", "ReleaseAddress", "AllocationId", allocation)
				a.do("DeleteNatGateway", "NatGatewayId", nat)
				a.do("DeleteNatGateway", "NatGatewayId", nat)
				a.fails("DependencyViolation", "DeleteSubnet", "SubnetId", subnet)
				a.fails("AuthFailure", "ReleaseAddress", "AllocationId", allocation)
				assert.Equal(t, "deleting", state())
				assert.Equal(t, "deleted", state())
				assert.Equal(t, "deleted", state())
				a.fails("NatGatewayNotFound", "DeleteNatGateway", "NatGatewayId", nat)
				a.do("DeleteSubnet", "SubnetId", subnet)
				a.do("ReleaseAddress", "AllocationId", allocation)
				a.fails("InvalidAllocationID.NotFound", "ReleaseAddress", "AllocationId", allocation)
			},
		},
		"a deleted gateway is forgotten in the end": {
			source: reference("DeleteNatGateway"), options: []fake.Option{fake.WithTransition(fake.NATGatewayForget, fake.Transition{})},
			check: func(_ *testing.T, a *account) {
				_, _, _, nat, _ := a.natGateway()
				a.do("DeleteNatGateway", "NatGatewayId", nat)
				a.fails("NatGatewayNotFound", "DescribeNatGateways", "NatGatewayId.1", nat)
			},
		},
		"a private gateway has no public address": {
			source: reference("CreateNatGateway"),
			check: func(t *testing.T, a *account) {
				n := a.subnet(a.vpc(), "10.250.0.0/24")
				a.fails("InvalidParameterCombination", "CreateNatGateway", "SubnetId", n, "ConnectivityType", "private", "AllocationId", a.address())
				a.fails("MissingParameter", "CreateNatGateway", "SubnetId", n)
				a.do("CreateNatGateway", "SubnetId", n, "ConnectivityType", "private")
				assert.Equal(t, "available", a.do("DescribeNatGateways").text("natGatewaySet/item/state"))
			},
		},
		"a zone has five gateways at most": {
			source: "https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html", options: []fake.Option{fake.WithQuota(fake.QuotaNATGateways, 1)},
			check: func(_ *testing.T, a *account) {
				_, subnet, _, _, _ := a.natGateway()
				a.fails("NatGatewayLimitExceeded", "CreateNatGateway", "SubnetId", subnet, "AllocationId", a.address())
			},
		},
		"a region has five addresses at most": {
			source: "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/elastic-ip-addresses-eip.html",
			check: func(_ *testing.T, a *account) {
				for range 5 {
					a.address()
				}
				a.fails("AddressLimitExceeded", "AllocateAddress", "Domain", "vpc")
			},
		},
		"addresses are described by allocation and by address": {
			source: reference("DescribeAddresses"),
			check: func(t *testing.T, a *account) {
				first, _ := a.address(), a.address()
				ip := a.do("DescribeAddresses", "AllocationId.1", first).text("addressesSet/item/publicIp")
				assert.Equal(t, []string{first}, a.do("DescribeAddresses", "PublicIp.1", ip).texts("addressesSet/item/allocationId"))
				a.fails("InvalidAddress.NotFound", "DescribeAddresses", "PublicIp.1", "192.0.2.1")
			},
		},
	})
}
