package aws

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
)

// drift is a change by somebody else, and what the next reconciliation does about it.
type drift struct {
	cause func(env *environment)
	// writes repair it.
	writes []string
}

// inZone returns what is recorded of the zone.
func (env *environment) inZone(key string) string {
	return env.recorded(awsv1alpha1.ZoneStateKey(zoneA, key))
}

// associationOf returns the ID of the association of a subnet with a route table.
func (env *environment) associationOf(subnetID string) string {
	env.t.Helper()
	for _, table := range env.do("DescribeRouteTables").Structs("RouteTables") {
		for _, association := range table.Structs("Associations") {
			if association.String("SubnetId") == subnetID {
				return association.String("RouteTableAssociationId")
			}
		}
	}
	env.t.Fatalf("subnet %s has no association", subnetID)
	return ""
}

func (env *environment) rule(action string, parameters ...string) {
	env.t.Helper()
	env.do(action, append([]string{"GroupId", env.recorded(awsv1alpha1.StateKeyNodesSecurityGroup)}, parameters...)...)
}

// nodePorts are the parameters of a rule for Services.
func nodePorts(protocol, cidr string) []string {
	return []string{
		"IpPermissions.1.IpProtocol", protocol, "IpPermissions.1.FromPort", "30000", "IpPermissions.1.ToPort", "32767", "IpPermissions.1.IpRanges.1.CidrIp", cidr,
	}
}

func networkDrifts() map[string]drift {
	return map[string]drift{
		"the VPC's DHCP options": {func(env *environment) {
			env.do("AssociateDhcpOptions", "VpcId", env.recorded(awsv1alpha1.StateKeyVPC), "DhcpOptionsId", "default")
		}, []string{"AssociateDhcpOptions"}},
		"the VPC's DNS hostnames": {func(env *environment) {
			env.do("ModifyVpcAttribute", "VpcId", env.recorded(awsv1alpha1.StateKeyVPC), "EnableDnsHostnames.Value", "false")
		}, []string{"ModifyVpcAttribute"}},
		"the VPC's DNS support": {func(env *environment) {
			env.do("ModifyVpcAttribute", "VpcId", env.recorded(awsv1alpha1.StateKeyVPC), "EnableDnsHostnames.Value", "false")
			env.do("ModifyVpcAttribute", "VpcId", env.recorded(awsv1alpha1.StateKeyVPC), "EnableDnsSupport.Value", "false")
		}, []string{"ModifyVpcAttribute", "ModifyVpcAttribute"}},
		"a rule in the default security group": {func(env *environment) {
			env.do("AuthorizeSecurityGroupIngress", append([]string{"GroupId", env.recorded(awsv1alpha1.StateKeyDefaultSecurityGroup)}, nodePorts("tcp", anywhere)...)...)
		}, []string{"RevokeSecurityGroupIngress"}},
		"the default route of the main route table": {func(env *environment) {
			env.do("DeleteRoute", "RouteTableId", env.recorded(awsv1alpha1.StateKeyMainRouteTable), "DestinationCidrBlock", anywhere)
		}, []string{"CreateRoute"}},
		"the default route of the zone": {func(env *environment) {
			env.do("DeleteRoute", "RouteTableId", env.inZone(awsv1alpha1.ZoneKeyRouteTable), "DestinationCidrBlock", anywhere)
		}, []string{"CreateRoute"}},
		"the target of the zone's default route": {func(env *environment) {
			env.do("ReplaceRoute", "RouteTableId", env.inZone(awsv1alpha1.ZoneKeyRouteTable), "DestinationCidrBlock", anywhere,
				"GatewayId", env.recorded(awsv1alpha1.StateKeyInternetGateway))
		}, []string{"ReplaceRoute"}},
		"the route table of the subnet of nodes": {func(env *environment) {
			env.do("ReplaceRouteTableAssociation", "AssociationId", env.associationOf(env.inZone(awsv1alpha1.ZoneKeySubnetWorkers)),
				"RouteTableId", env.recorded(awsv1alpha1.StateKeyMainRouteTable))
		}, []string{"ReplaceRouteTableAssociation"}},
		"the association of the public subnet": {func(env *environment) {
			env.do("DisassociateRouteTable", "AssociationId", env.associationOf(env.inZone(awsv1alpha1.ZoneKeySubnetPublic)))
		}, []string{"AssociateRouteTable"}},
		"the association of the internal subnet": {func(env *environment) {
			env.do("DisassociateRouteTable", "AssociationId", env.associationOf(env.inZone(awsv1alpha1.ZoneKeySubnetInternal)))
		}, []string{"AssociateRouteTable"}},
		"the route table in the gateway endpoint": {func(env *environment) {
			env.do("ModifyVpcEndpoint", "VpcEndpointId", env.recorded(awsv1alpha1.VPCEndpointStateKey("s3")), "RemoveRouteTableId.1", env.inZone(awsv1alpha1.ZoneKeyRouteTable))
		}, []string{"ModifyVpcEndpoint"}},
		"the NAT gateway": {func(env *environment) {
			env.do("DeleteNatGateway", "NatGatewayId", env.inZone(awsv1alpha1.ZoneKeyNATGateway))
		}, []string{"CreateNatGateway", "ReplaceRoute"}},
		"the gateway endpoint": {func(env *environment) {
			env.do("DeleteVpcEndpoints", "VpcEndpointId.1", env.recorded(awsv1alpha1.VPCEndpointStateKey("s3")))
		}, []string{"CreateVpcEndpoint"}},
		"the attachment of the internet gateway": {func(env *environment) {
			env.do("DeleteNatGateway", "NatGatewayId", env.inZone(awsv1alpha1.ZoneKeyNATGateway)) // whose address needs it
			env.do("DetachInternetGateway", "InternetGatewayId", env.recorded(awsv1alpha1.StateKeyInternetGateway), "VpcId", env.recorded(awsv1alpha1.StateKeyVPC))
		}, []string{"AttachInternetGateway", "CreateNatGateway", "ReplaceRoute", "ReplaceRoute"}},
	}
}

func accessDrifts() map[string]drift {
	const name = technicalID + "-nodes"
	all := map[string]drift{
		"the rule among nodes": {func(env *environment) {
			env.rule("RevokeSecurityGroupIngress", "IpPermissions.1.IpProtocol", "-1", "IpPermissions.1.Groups.1.GroupId", env.recorded(awsv1alpha1.StateKeyNodesSecurityGroup))
		}, []string{"AuthorizeSecurityGroupIngress"}},
		"the rule to everybody": {func(env *environment) {
			env.rule("RevokeSecurityGroupEgress", "IpPermissions.1.IpProtocol", "-1", "IpPermissions.1.IpRanges.1.CidrIp", anywhere)
		}, []string{"AuthorizeSecurityGroupEgress"}},
		"another rule of nodes": {func(env *environment) {
			env.rule("AuthorizeSecurityGroupEgress", nodePorts("tcp", "192.0.2.0/24")...)
		}, []string{"RevokeSecurityGroupEgress"}},
		"the trust policy": {func(env *environment) {
			env.doIn(fake.IAM, "UpdateAssumeRolePolicy", "RoleName", name, "PolicyDocument", strings.ReplaceAll(upstreamTrust, "ec2.amazonaws", "lambda.amazonaws"))
		}, []string{"UpdateAssumeRolePolicy"}},
		"the policy": {func(env *environment) {
			env.doIn(fake.IAM, "PutRolePolicy", "RoleName", name, "PolicyName", name, "PolicyDocument", strings.ReplaceAll(upstreamPolicy, "ec2:DescribeInstances", "ec2:*"))
		}, []string{"PutRolePolicy"}},
		"the policy, which was deleted": {func(env *environment) {
			env.doIn(fake.IAM, "DeleteRolePolicy", "RoleName", name, "PolicyName", name)
		}, []string{"PutRolePolicy"}},
		"the role in the instance profile": {func(env *environment) {
			env.doIn(fake.IAM, "RemoveRoleFromInstanceProfile", "InstanceProfileName", name, "RoleName", name)
		}, []string{"AddRoleToInstanceProfile"}},
		"the instance profile": {func(env *environment) {
			env.doIn(fake.IAM, "RemoveRoleFromInstanceProfile", "InstanceProfileName", name, "RoleName", name)
			env.doIn(fake.IAM, "DeleteInstanceProfile", "InstanceProfileName", name)
		}, []string{"AddRoleToInstanceProfile", "CreateInstanceProfile"}},
		"the key pair": {func(env *environment) {
			env.do("DeleteKeyPair", "KeyName", technicalID+"-ssh-publickey")
		}, []string{"ImportKeyPair"}},
		"the key of the key pair": {func(env *environment) {
			env.do("DeleteKeyPair", "KeyName", technicalID+"-ssh-publickey")
			env.do("ImportKeyPair", "KeyName", technicalID+"-ssh-publickey", "PublicKeyMaterial", base64Of(otherKey))
		}, []string{"DeleteKeyPair", "ImportKeyPair"}},
	}
	for _, protocol := range []string{"tcp", "udp"} {
		for _, cidr := range []string{anywhere, "10.250.96.0/22", "10.250.112.0/22"} {
			all["the rule for Services by "+protocol+" from "+cidr] = drift{func(env *environment) {
				env.rule("RevokeSecurityGroupIngress", nodePorts(protocol, cidr)...)
			}, []string{"AuthorizeSecurityGroupIngress"}}
		}
	}
	return all
}

// tagDrifts are a name, an owner and a foreign tag for each resource with tags.
func tagDrifts(env *environment) map[string]drift {
	all := map[string]drift{}
	for _, id := range env.cloud.Resources() {
		prefix, _, _ := strings.Cut(id, "-")
		if strings.Contains(id, "/") || prefix == "eni" {
			continue
		}
		nth := slices.Index(ofKind(env.cloud.Resources(), prefix), id)
		idIn := func(env *environment) string { return ofKind(env.cloud.Resources(), prefix)[nth] }
		for what, tag := range map[string][2]string{"name": {tagName, "another"}, "owner": {tagClusterPrefix + technicalID, "nobody"}} {
			all["the "+what+" of "+prefix+" "+zoneNumber(nth)] = drift{func(env *environment) {
				env.do("CreateTags", "ResourceId.1", idIn(env), "Tag.1.Key", tag[0], "Tag.1.Value", tag[1])
			}, []string{"CreateTags"}}
		}
		all["the owner of "+prefix+" "+zoneNumber(nth)+", which was removed"] = drift{func(env *environment) {
			env.do("DeleteTags", "ResourceId.1", idIn(env), "Tag.1.Key", tagClusterPrefix+technicalID)
		}, []string{"CreateTags"}}
		all["a foreign tag of "+prefix+" "+zoneNumber(nth)] = drift{func(env *environment) {
			env.do("CreateTags", "ResourceId.1", idIn(env), "Tag.1.Key", "foreign", "Tag.1.Value", "x")
		}, []string{"DeleteTags"}}
	}
	return all
}

func ofKind(ids []string, prefix string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !strings.HasPrefix(id, prefix+"-") })
}

func newDriftEnvironment(t *testing.T) *environment {
	t.Helper()
	env := newEnvironment(t)
	env.config.Networks.VPC.GatewayEndpoints = []string{"s3"}
	env.mustReconcile()
	env.setClock(2 * env.driver.options.VisibleAfter)
	return env
}

// Whatever somebody else changes of the shoot's resources, the next reconciliation repairs it by the fewest writes. The result is what was there before.
func TestDrift_Repaired(t *testing.T) {
	for _, all := range []map[string]drift{networkDrifts(), accessDrifts(), tagDrifts(newDriftEnvironment(t))} {
		for sentence, drift := range all {
			t.Run(sentence, func(t *testing.T) {
				t.Parallel()
				env := newDriftEnvironment(t)
				before := env.facts()
				drift.cause(env)
				require.NotEmpty(t, cmp.Diff(before, env.facts()), "the test itself causes no drift")
				outcome := env.mustReconcile()
				assert.Equal(t, drift.writes, env.writes())
				assert.Empty(t, cmp.Diff(before, env.facts()))
				assert.Empty(t, outcome.Findings)
				env.assertNoneAfter(func() { env.mustReconcile() })
				require.NoError(t, env.delete())
				assert.Empty(t, env.cloud.Resources())
			})
		}
	}
}

// What cannot be repaired is reported, and nothing is created in its place.
func TestDrift_Reported(t *testing.T) {
	for sentence, test := range map[string]struct {
		cause func(env *environment)
		want  string
	}{
		"another role in the instance profile": {func(env *environment) {
			env.doIn(fake.IAM, "RemoveRoleFromInstanceProfile", "InstanceProfileName", technicalID+"-nodes", "RoleName", technicalID+"-nodes")
			env.doIn(fake.IAM, "CreateRole", "RoleName", "another", "AssumeRolePolicyDocument", upstreamTrust)
			env.doIn(fake.IAM, "AddRoleToInstanceProfile", "InstanceProfileName", technicalID+"-nodes", "RoleName", "another")
		}, "has the role another, which is not the shoot's: remove it from the profile"},
		"another range of the VPC in the configuration": {func(env *environment) {
			env.config.Networks.VPC.CIDR = new("10.251.0.0/16")
		}, "the range of a VPC cannot be changed"},
		"another range of a subnet in the configuration": {func(env *environment) {
			env.config.Networks.Zones[0].Internal = new("10.250.120.0/22")
		}, "subnets cannot be changed"},
	} {
		t.Run(sentence, func(t *testing.T) {
			env := newDriftEnvironment(t)
			test.cause(env)
			before := env.cloud.Resources()
			_, err := env.reconcile()
			require.ErrorContains(t, err, test.want)
			assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
			assert.Equal(t, before, env.cloud.Resources())
		})
	}
}
