package fake_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
)

// permission returns the parameters of a permission with one peer.
func permission(protocol, from, to, peer, value string) []string {
	out := []string{"IpPermissions.1.IpProtocol", protocol, "IpPermissions.1." + peer, value}
	if from != "" {
		out = append(out, "IpPermissions.1.FromPort", from, "IpPermissions.1.ToPort", to)
	}
	return out
}

const (
	ipv4Peer  = "IpRanges.1.CidrIp"
	ipv6Peer  = "Ipv6Ranges.1.CidrIpv6"
	groupPeer = "Groups.1.GroupId"
)

func TestSecurityGroups(t *testing.T) {
	testBehaviours(t, map[string]behaviour{
		"a name is unique in a VPC": {
			source: reference("CreateSecurityGroup"),
			check: func(t *testing.T, a *account) {
				id := a.vpc()
				a.group(id, "nodes")
				assert.Equal(t, "The security group 'nodes' already exists for VPC '"+id+"'",
					a.fails("InvalidGroup.Duplicate", "CreateSecurityGroup", "VpcId", id, "GroupName", "nodes", "GroupDescription", "d"))
				a.group(a.vpc(), "nodes")
				a.fails("InvalidParameterValue", "CreateSecurityGroup", "VpcId", id, "GroupName", "sg-1", "GroupDescription", "d")
				a.fails("VPCIdNotSpecified", "CreateSecurityGroup", "GroupName", "nodes", "GroupDescription", "d")
			},
		},
		"a new group allows all traffic out": {
			source: "https://docs.aws.amazon.com/vpc/latest/userguide/vpc-security-groups.html",
			check: func(t *testing.T, a *account) {
				g := a.group(a.vpc(), "nodes")
				rules := a.do("DescribeSecurityGroupRules", filter(1, "group-id", g)...)
				assert.Equal(t, []string{"true"}, rules.texts("securityGroupRuleSet/item/isEgress"))
				assert.Equal(t, []string{"-1"}, rules.texts("securityGroupRuleSet/item/ipProtocol"))
				assert.Equal(t, []string{"0.0.0.0/0"}, rules.texts("securityGroupRuleSet/item/cidrIpv4"))
			},
		},
		"the default group cannot be deleted": {
			source: reference("DeleteSecurityGroup") + ", CannotDelete of errors-overview.html",
			check: func(_ *testing.T, a *account) {
				a.vpc()
				a.fails("CannotDelete", "DeleteSecurityGroup", "GroupId", a.do("DescribeSecurityGroups").text("securityGroupInfo/item/groupId"))
			},
		},
		"a rule has an ID and is added once": {
			source: reference("AuthorizeSecurityGroupIngress"),
			check: func(t *testing.T, a *account) {
				g := a.group(a.vpc(), "nodes")
				rule := with([]string{"GroupId", g}, permission("tcp", "22", "22", ipv4Peer, "10.0.0.0/8")...)
				added := a.do("AuthorizeSecurityGroupIngress", rule...)
				assert.Regexp(t, "^sgr-0[0-9a-f]{16}$", added.text("securityGroupRuleSet/item/securityGroupRuleId"))
				assert.Equal(t, `the specified rule "peer: 10.0.0.0/8, TCP, from port: 22, to port: 22, ALLOW" already exists`,
					a.fails("InvalidPermission.Duplicate", "AuthorizeSecurityGroupIngress", rule...))
				a.fails("InvalidPermission.Duplicate", "AuthorizeSecurityGroupIngress",
					"GroupId", g, "IpProtocol", "tcp", "FromPort", "22", "ToPort", "22", "CidrIp", "10.0.0.0/8")
				a.do("AuthorizeSecurityGroupEgress", rule...)
			},
		},
		"rules with the same protocol and ports are one permission of the group": {
			source: reference("SecurityGroup") + "; merging is what users of the API observe",
			check: func(t *testing.T, a *account) {
				g := a.group(a.vpc(), "nodes")
				for _, p := range [][]string{
					permission("udp", "30000", "32767", ipv4Peer, "0.0.0.0/0"), permission("17", "30000", "32767", ipv6Peer, "::/0"),
					permission("udp", "30000", "32767", ipv4Peer, "10.250.96.0/22"), permission("-1", "", "", groupPeer, g),
				} {
					a.do("AuthorizeSecurityGroupIngress", with([]string{"GroupId", g}, p...)...)
				}
				shown := a.do("DescribeSecurityGroups", "GroupId.1", g)
				assert.Equal(t, []string{"udp", "-1"}, shown.texts("securityGroupInfo/item/ipPermissions/item/ipProtocol"))
				assert.Equal(t, []string{"0.0.0.0/0", "10.250.96.0/22"}, shown.texts("securityGroupInfo/item/ipPermissions/item/ipRanges/item/cidrIp"))
				assert.Equal(t, []string{"::/0"}, shown.texts("securityGroupInfo/item/ipPermissions/item/ipv6Ranges/item/cidrIpv6"))
				assert.Equal(t, []string{g}, shown.texts("securityGroupInfo/item/ipPermissions/item/groups/item/groupId"))
				assert.Equal(t, []string{"30000"}, shown.texts("securityGroupInfo/item/ipPermissions/item/fromPort"))
			},
		},
		"rules are revoked by ID or by permission, all or none": {
			source: reference("RevokeSecurityGroupIngress"),
			check: func(t *testing.T, a *account) {
				g := a.group(a.vpc(), "nodes")
				first := with([]string{"GroupId", g}, permission("tcp", "22", "22", ipv4Peer, "10.0.0.0/8")...)
				second := with([]string{"GroupId", g}, permission("tcp", "443", "443", ipv4Peer, "10.0.0.0/8")...)
				a.do("AuthorizeSecurityGroupIngress", first...)
				id := a.do("AuthorizeSecurityGroupIngress", second...).text("securityGroupRuleSet/item/securityGroupRuleId")
				a.fails("InvalidPermission.NotFound", "RevokeSecurityGroupEgress", first...)
				a.fails("InvalidSecurityGroupRuleId.NotFound", "RevokeSecurityGroupIngress", "GroupId", g, "SecurityGroupRuleId.1", id, "SecurityGroupRuleId.2", "sgr-0")
				a.do("RevokeSecurityGroupIngress", first...)
				a.fails("InvalidPermission.NotFound", "RevokeSecurityGroupIngress", first...)
				a.do("RevokeSecurityGroupIngress", "GroupId", g, "SecurityGroupRuleId.1", id)
				assert.Empty(t, a.do("DescribeSecurityGroups", "GroupId.1", g).texts("securityGroupInfo/item/ipPermissions/item/ipProtocol"))
			},
		},
		"ports, blocks and groups of a rule are checked": {
			source: reference("IpPermission") + "; codes are our judgement",
			check: func(_ *testing.T, a *account) {
				g := []string{"GroupId", a.group(a.vpc(), "nodes")}
				a.fails("InvalidParameterValue", "AuthorizeSecurityGroupIngress", with(g, permission("tcp", "", "", ipv4Peer, "10.0.0.0/8")...)...)
				a.fails("InvalidParameterValue", "AuthorizeSecurityGroupIngress", with(g, permission("tcp", "2", "1", ipv4Peer, "10.0.0.0/8")...)...)
				a.fails("InvalidParameterValue", "AuthorizeSecurityGroupIngress", with(g, permission("-1", "", "", ipv4Peer, "ten")...)...)
				a.fails("InvalidGroup.NotFound", "AuthorizeSecurityGroupIngress", with(g, permission("-1", "", "", groupPeer, "sg-0")...)...)
				a.fails("MissingParameter", "AuthorizeSecurityGroupIngress", with(g, "IpPermissions.1.IpProtocol", "-1")...)
			},
		},
		"a group that another group's rule names cannot be deleted, one that names itself can": {
			source: reference("DeleteSecurityGroup"),
			check: func(t *testing.T, a *account) {
				id := a.vpc()
				nodes, balancer := a.group(id, "nodes"), a.group(id, "k8s-elb-a1")
				a.do("AuthorizeSecurityGroupIngress", with([]string{"GroupId", nodes}, permission("-1", "", "", groupPeer, nodes)...)...)
				fromBalancer := with([]string{"GroupId", nodes}, permission("-1", "", "", groupPeer, balancer)...)
				a.do("AuthorizeSecurityGroupIngress", fromBalancer...)
				assert.Equal(t, "resource "+balancer+" has a dependent object", a.fails("DependencyViolation", "DeleteSecurityGroup", "GroupId", balancer))
				assert.Equal(t, []string{nodes}, a.Dependants(balancer))
				a.do("RevokeSecurityGroupIngress", fromBalancer...)
				a.do("DeleteSecurityGroup", "GroupId", balancer)
				a.do("DeleteSecurityGroup", "GroupId", nodes)
				a.fails("InvalidGroup.NotFound", "DeleteSecurityGroup", "GroupId", nodes)
			},
		},
		"a group of a network interface cannot be deleted": {
			source: reference("DeleteSecurityGroup"),
			check: func(t *testing.T, a *account) {
				id := a.vpc()
				g := a.group(id, "nodes")
				i, err := a.AddNetworkInterface(a.subnet(id, "10.250.0.0/24"), "interface", "ELB app/a1/1", g)
				require.NoError(t, err)
				a.fails("DependencyViolation", "DeleteSecurityGroup", "GroupId", g)
				assert.Equal(t, []string{i}, a.Dependants(g))
				a.fails("InvalidNetworkInterface.InUse", "DeleteNetworkInterface", "NetworkInterfaceId", i)
				shown := a.do("DescribeNetworkInterfaces", filter(1, "description", "ELB app/*")...)
				assert.Equal(t, []string{g}, shown.texts("networkInterfaceSet/item/groupSet/item/groupId"))
			},
		},
		"a network interface is modified and deleted": {
			source: reference("ModifyNetworkInterfaceAttribute"),
			check: func(t *testing.T, a *account) {
				id := a.vpc()
				first, second := a.group(id, "first"), a.group(id, "second")
				i := a.do("CreateNetworkInterface", "SubnetId", a.subnet(id, "10.250.0.0/24"), "SecurityGroupId.1", first).text("networkInterface/networkInterfaceId")
				for _, change := range [][]string{{"SourceDestCheck.Value", "false"}, {"Description.Value", "node"}, {"SecurityGroupId.1", second}} {
					a.do("ModifyNetworkInterfaceAttribute", with(change, "NetworkInterfaceId", i)...)
				}
				shown := a.do("DescribeNetworkInterfaces", "NetworkInterfaceId.1", i)
				assert.Equal(t, "false", shown.text("networkInterfaceSet/item/sourceDestCheck"))
				assert.Equal(t, "node", shown.text("networkInterfaceSet/item/description"))
				assert.Equal(t, []string{second}, shown.texts("networkInterfaceSet/item/groupSet/item/groupId"))
				a.do("DeleteNetworkInterface", "NetworkInterfaceId", i)
				a.fails("InvalidNetworkInterfaceID.NotFound", "DeleteNetworkInterface", "NetworkInterfaceId", i)
				a.fails("InvalidGroup.NotFound", "CreateNetworkInterface", "SubnetId", a.subnet(a.vpc(), "10.250.0.0/24"), "SecurityGroupId.1", first)
			},
		},
		"a group has 60 rules at most": {
			source:  "https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html",
			options: []fake.Option{fake.WithQuota(fake.QuotaRules, 1)},
			check: func(_ *testing.T, a *account) {
				g := []string{"GroupId", a.group(a.vpc(), "nodes")}
				a.do("AuthorizeSecurityGroupIngress", with(g, permission("-1", "", "", ipv4Peer, "10.0.0.0/8")...)...)
				a.fails("RulesPerSecurityGroupLimitExceeded", "AuthorizeSecurityGroupIngress", with(g, permission("-1", "", "", ipv4Peer, "11.0.0.0/8")...)...)
			},
		},
	})
}
