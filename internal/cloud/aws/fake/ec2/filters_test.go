package ec2

import (
	"encoding/base64"
	"maps"
	"net/url"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/model"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
)

func namesOf[T object](c *collection[T]) []string { return slices.Sorted(maps.Keys(c.filters)) }

// Each filter of the fake is one that AWS documents for the action.
func TestFilters_Documented(t *testing.T) {
	shared, err := core.New(core.Config{Region: "eu-west-1", Zones: []string{"eu-west-1a"}})
	require.NoError(t, err)
	s, err := New(shared, nil)
	require.NoError(t, err)
	services, err := model.Load()
	require.NoError(t, err)
	for action, filters := range map[string][]string{
		"DescribeVpcs": namesOf(s.vpcs), "DescribeDhcpOptions": namesOf(s.dhcpOptions), "DescribeSubnets": namesOf(s.subnets),
		"GetSubnetCidrReservations": namesOf(s.reservations), "DescribeInternetGateways": namesOf(s.gateways),
		"DescribeEgressOnlyInternetGateways": namesOf(s.egressGateways), "DescribeRouteTables": namesOf(s.routeTables),
		"DescribeNatGateways": namesOf(s.natGateways), "DescribeAddresses": namesOf(s.addresses), "DescribeSecurityGroups": namesOf(s.groups),
		"DescribeSecurityGroupRules": namesOf(s.rules), "DescribeVpcEndpoints": namesOf(s.endpoints), "DescribeKeyPairs": namesOf(s.keyPairs),
		"DescribeNetworkInterfaces": namesOf(s.interfaces), "DescribeNetworkAcls": namesOf(s.acls),
		"DescribeInstances": namesOf(s.instances), "DescribeVolumes": namesOf(s.volumes), "DescribeImages": namesOf(s.images),
	} {
		t.Run(action, func(t *testing.T) {
			documented := services["ec2"].Operations[action].Filters
			assert.NotEmpty(t, documented)
			assert.Subset(t, documented, filters)
		})
	}
}

// populated returns EC2 with at least one resource of each kind.
func populated(t *testing.T) *Service {
	t.Helper()
	shared, err := core.New(core.Config{AccountID: "123456789012", Region: "eu-west-1", Zones: []string{"eu-west-1a"}})
	require.NoError(t, err)
	s, err := New(shared, oneProfile{})
	require.NoError(t, err)
	do := func(action string, parameters ...string) protocol.Struct {
		form := url.Values{}
		for i := 0; i < len(parameters); i += 2 {
			form.Set(parameters[i], parameters[i+1])
		}
		out, err := shared.Do("ec2", action, form)
		require.NoError(t, err, action)
		return out
	}
	v := do("CreateVpc", "CidrBlock", "10.250.0.0/16", "AmazonProvidedIpv6CidrBlock", "true").Struct("Vpc").String("VpcId")
	n := do("CreateSubnet", "VpcId", v, "CidrBlock", "10.250.0.0/24", "Ipv6CidrBlock", "2a05:d018:0:100::/64").Struct("Subnet").String("SubnetId")
	gateway := do("CreateInternetGateway").Struct("InternetGateway").String("InternetGatewayId")
	do("AttachInternetGateway", "VpcId", v, "InternetGatewayId", gateway)
	address := do("AllocateAddress").String("AllocationId")
	nat := do("CreateNatGateway", "SubnetId", n, "AllocationId", address).Struct("NatGateway").String("NatGatewayId")
	table := do("CreateRouteTable", "VpcId", v).Struct("RouteTable").String("RouteTableId")
	do("CreateRoute", "RouteTableId", table, "DestinationCidrBlock", "0.0.0.0/0", "NatGatewayId", nat)
	do("AssociateRouteTable", "RouteTableId", table, "SubnetId", n)
	do("CreateVpcEndpoint", "VpcId", v, "ServiceName", "com.amazonaws.eu-west-1.s3", "RouteTableId.1", table)
	group := do("CreateSecurityGroup", "VpcId", v, "GroupName", "nodes", "GroupDescription", "d").String("GroupId")
	for _, direction := range []string{"Ingress", "Egress"} {
		do("AuthorizeSecurityGroup"+direction, "GroupId", group, "IpPermissions.1.IpProtocol", "tcp", "IpPermissions.1.FromPort", "1", "IpPermissions.1.ToPort", "2",
			"IpPermissions.1.IpRanges.1.CidrIp", "10.0.0.0/8", "IpPermissions.1.Ipv6Ranges.1.CidrIpv6", "2001:db8::/32", "IpPermissions.1.Groups.1.GroupId", group)
	}
	do("CreateNetworkInterface", "SubnetId", n, "Description", "d", "SecurityGroupId.1", group)
	do("ImportKeyPair", "KeyName", "k", "PublicKeyMaterial", base64.StdEncoding.EncodeToString([]byte(
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKHEChLZdIBnDEHLvyFsL5ZgUMJUTRSUzCl2bhwTS3/z user")))
	do("RunInstances", "MinCount", "1", "MaxCount", "1", "ImageId", s.AddImage("linux", "/dev/xvda"), "InstanceType", "m5.large", "KeyName", "k", "ClientToken", "t",
		"InstanceMarketOptions.MarketType", "spot", "IamInstanceProfile.Name", "nodes",
		"NetworkInterface.1.SubnetId", n, "NetworkInterface.1.DeviceIndex", "0", "NetworkInterface.1.SecurityGroupId.1", group)
	return s
}

// oneProfile is IAM with one instance profile.
type oneProfile struct{}

// FindProfile implements InstanceProfiles.
func (oneProfile) FindProfile(*core.Request, string, string) (profileARN, id string, found bool) {
	return "arn:aws:iam::123456789012:instance-profile/nodes", "AIPA1", true
}

// checkFilters calls the action with each value of each filter: it finds all resources with that value.
func checkFilters[T object](t *testing.T, s *Service, c *collection[T], action string) {
	t.Helper()
	require.NotEmpty(t, c.items, action)
	for name, values := range c.filters {
		found := false
		for _, item := range c.items {
			for _, value := range values(item) {
				if value == "" {
					continue
				}
				found = true
				want := len(c.where(func(other T) bool { return slices.Contains(values(other), value) }))
				out, err := s.core.Do("ec2", action, url.Values{"Filter.1.Name": {name}, "Filter.1.Value.1": {value}})
				require.NoError(t, err)
				assert.Len(t, out[c.answer], want, "%s %s=%s", action, name, value)
			}
		}
		assert.True(t, found, "%s: no resource has a value for %s", action, name)
	}
}

func TestFilters_FindByEachValue(t *testing.T) {
	s := populated(t)
	checkFilters(t, s, s.vpcs, "DescribeVpcs")
	checkFilters(t, s, s.dhcpOptions, "DescribeDhcpOptions")
	checkFilters(t, s, s.subnets, "DescribeSubnets")
	checkFilters(t, s, s.gateways, "DescribeInternetGateways")
	checkFilters(t, s, s.routeTables, "DescribeRouteTables")
	checkFilters(t, s, s.natGateways, "DescribeNatGateways")
	checkFilters(t, s, s.addresses, "DescribeAddresses")
	checkFilters(t, s, s.groups, "DescribeSecurityGroups")
	checkFilters(t, s, s.rules, "DescribeSecurityGroupRules")
	checkFilters(t, s, s.endpoints, "DescribeVpcEndpoints")
	checkFilters(t, s, s.keyPairs, "DescribeKeyPairs")
	checkFilters(t, s, s.interfaces, "DescribeNetworkInterfaces")
	checkFilters(t, s, s.acls, "DescribeNetworkAcls")
	checkFilters(t, s, s.instances, "DescribeInstances")
	checkFilters(t, s, s.volumes, "DescribeVolumes")
	checkFilters(t, s, s.images, "DescribeImages")
}
