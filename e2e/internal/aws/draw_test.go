package aws

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	awsmachinev1alpha1 "github.com/trellis-garden/trellis/apis/aws/machine/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// operator creates resources in a cloud.
type operator struct {
	t *testing.T
	*Cloud
}

// do makes a call with parameters in pairs.
func (o operator) do(service wire.Service, action string, pairs ...string) protocol.Struct {
	o.t.Helper()
	parameters := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		parameters.Set(pairs[i], pairs[i+1])
	}
	answer, err := o.Do(service, action, parameters)
	require.NoError(o.t, err, action)
	return answer
}

// named makes a call that creates a resource of EC2 with a name.
func (o operator) named(kind, name, action string, pairs ...string) protocol.Struct {
	o.t.Helper()
	const tags = "TagSpecification.1."
	return o.do(fake.EC2, action, append(pairs, tags+"ResourceType", kind, tags+"Tag.1.Key", "Name", tags+"Tag.1.Value", name)...)
}

// create creates what a shoot in two zones has.
func (o operator) create() {
	options := o.named("dhcp-options", "options", "CreateDhcpOptions", "DhcpConfiguration.1.Key", "domain-name", "DhcpConfiguration.1.Value.1", "example.org").Struct("DhcpOptions")
	vpc := o.named("vpc", "net", "CreateVpc", "CidrBlock", "10.0.0.0/16").Struct("Vpc").String("VpcId")
	o.do(fake.EC2, "AssociateDhcpOptions", "DhcpOptionsId", options.String("DhcpOptionsId"), "VpcId", vpc)
	gateway := o.named("internet-gateway", "outside", "CreateInternetGateway").Struct("InternetGateway").String("InternetGatewayId")
	o.do(fake.EC2, "AttachInternetGateway", "InternetGatewayId", gateway, "VpcId", vpc)
	main := o.table(vpc, "main", "GatewayId", gateway)
	for zone, third := range map[string]string{"a": "0", "b": "1"} {
		subnet := func(name, last string) string {
			return o.named("subnet", name+"-"+zone, "CreateSubnet", "VpcId", vpc, "AvailabilityZone", fake.DefaultRegion+zone,
				"CidrBlock", "10.0."+third+"."+last+"/25").Struct("Subnet").String("SubnetId")
		}
		nodes, public := subnet("nodes", "0"), subnet("public", "128")
		o.associate(main, public)
		address := o.named("elastic-ip", "address-"+zone, "AllocateAddress", "Domain", "vpc").String("AllocationId")
		nat := o.named("natgateway", "nat-"+zone, "CreateNatGateway", "SubnetId", public, "AllocationId", address).Struct("NatGateway").String("NatGatewayId")
		o.associate(o.table(vpc, "private-"+zone, "NatGatewayId", nat), nodes)
	}
	group := o.named("security-group", "nodes", "CreateSecurityGroup", "GroupName", "nodes", "GroupDescription", "of nodes", "VpcId", vpc).String("GroupId")
	const rule = "IpPermissions.1."
	o.do(fake.EC2, "AuthorizeSecurityGroupIngress", "GroupId", group, rule+"IpProtocol", "tcp", rule+"FromPort", "30000", rule+"ToPort", "32767",
		rule+"IpRanges.1.CidrIp", "10.0.100.0/24", rule+"IpRanges.2.CidrIp", "10.0.9.0/24")
	o.do(fake.EC2, "AuthorizeSecurityGroupIngress", "GroupId", group, rule+"IpProtocol", "-1", rule+"Groups.1.GroupId", group)
	o.run("machine-1", "nodes-a", group)
	o.run("machine-2", "nodes-a", group)
	o.do(fake.IAM, "CreateRole", "RoleName", "shoot", "AssumeRolePolicyDocument", `{"Version":"2012-10-17","Statement":[]}`)
	o.do(fake.IAM, "PutRolePolicy", "RoleName", "shoot", "PolicyName", "rights", "PolicyDocument", `{"Version":"2012-10-17","Statement":[]}`)
	o.do(fake.IAM, "CreateInstanceProfile", "InstanceProfileName", "profile")
	o.do(fake.IAM, "AddRoleToInstanceProfile", "InstanceProfileName", "profile", "RoleName", "shoot")
}

// run starts an instance in a subnet.
func (o operator) run(name, subnet, group string) {
	o.t.Helper()
	found := o.do(fake.EC2, "DescribeSubnets", "Filter.1.Name", "tag:Name", "Filter.1.Value.1", subnet).Structs("Subnets")
	require.Len(o.t, found, 1)
	const networkInterface, tags = "NetworkInterface.1.", "TagSpecification.1."
	o.do(fake.EC2, "RunInstances", "MinCount", "1", "MaxCount", "1", "ImageId", o.AddImage("linux", "/dev/xvda"), "InstanceType", "m5.large",
		networkInterface+"DeviceIndex", "0", networkInterface+"SubnetId", found[0].String("SubnetId"), networkInterface+"SecurityGroupId.1", group,
		tags+"ResourceType", "instance", tags+"Tag.1.Key", "Name", tags+"Tag.1.Value", name,
		tags+"Tag.2.Key", awsmachinev1alpha1.TagClusterPrefix+"one", tags+"Tag.2.Value", "1")
}

// table creates a route table with a default route.
func (o operator) table(vpc, name, kind, target string) string {
	id := o.named("route-table", name, "CreateRouteTable", "VpcId", vpc).Struct("RouteTable").String("RouteTableId")
	o.do(fake.EC2, "CreateRoute", "RouteTableId", id, "DestinationCidrBlock", "0.0.0.0/0", kind, target)
	return id
}

func (o operator) associate(table, subnet string) {
	o.do(fake.EC2, "AssociateRouteTable", "RouteTableId", table, "SubnetId", subnet)
}

func TestCloud_Draw(t *testing.T) {
	c := newCloud(t)
	lines, err := c.Draw()
	require.NoError(t, err)
	assert.Empty(t, lines)

	operator{t, c}.create()
	lines, err = c.Draw()
	require.NoError(t, err)
	drawn := strings.Join(lines, "\n")
	for _, address := range c.mustRead(t).addresses {
		drawn = strings.ReplaceAll(drawn, address.String("PublicIp"), "ADDRESS")
	}
	instances, err := c.Instances("one")
	require.NoError(t, err)
	require.Len(t, instances, 2)
	for _, instance := range instances {
		drawn = strings.ReplaceAll(drawn, instance.Address, "ADDRESS")
	}
	assert.Equal(t, `net  VPC 10.0.0.0/16
├─ options  DHCP options, domain example.org
├─ outside  internet gateway
├─ main  route table of 2 subnets
│  └─ 0.0.0.0/0  route to internet gateway
├─ eu-west-1a  zone
│  ├─ nodes-a  subnet 10.0.0.0/25
│  │  ├─ machine-1  instance m5.large, ADDRESS, running
│  │  └─ machine-2  instance m5.large, ADDRESS, running
│  ├─ public-a  subnet 10.0.0.128/25
│  │  └─ nat-a  NAT gateway, available
│  │     └─ address-a  elastic IP ADDRESS
│  └─ private-a  route table of 1 subnet
│     └─ 0.0.0.0/0  route to NAT gateway nat-a
├─ eu-west-1b  zone
│  ├─ nodes-b  subnet 10.0.1.0/25
│  ├─ public-b  subnet 10.0.1.128/25
│  │  └─ nat-b  NAT gateway, available
│  │     └─ address-b  elastic IP ADDRESS
│  └─ private-b  route table of 1 subnet
│     └─ 0.0.0.0/0  route to NAT gateway nat-b
└─ nodes  security group
   ├─ in   all from the group itself
   ├─ in   tcp 30000-32767 from 10.0.9.0/24, 10.0.100.0/24
   └─ out  all to 0.0.0.0/0
shoot  role of nodes
├─ rights  policy
└─ profile  instance profile`, drawn)
	assert.Empty(t, c.Log(), "whoever looks makes no calls")
}

func (c *Cloud) mustRead(t *testing.T) state {
	t.Helper()
	s, err := c.read()
	require.NoError(t, err)
	return s
}
