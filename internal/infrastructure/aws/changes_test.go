package aws

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/protocol"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

const otherKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGdJpf7z2lkNmacSAWu0LO8Coc3TQpEqb1E+gFr4Jzow other"

// writes returns the calls that change something.
func (env *environment) writes() []string {
	return slices.DeleteFunc(env.calls(), isRead)
}

func isRead(action string) bool {
	return strings.HasPrefix(action, "Describe") || strings.HasPrefix(action, "Get") || strings.HasPrefix(action, "List")
}

// do makes a call of EC2 as somebody else.
func (env *environment) do(action string, parameters ...string) protocol.Struct {
	env.t.Helper()
	return env.doIn(fake.EC2, action, parameters...)
}

// doIn makes a call of a service as somebody else. Parameters are names and values in turn.
func (env *environment) doIn(service wire.Service, action string, parameters ...string) protocol.Struct {
	env.t.Helper()
	form := url.Values{}
	for i := 0; i < len(parameters); i += 2 {
		form.Set(parameters[i], parameters[i+1])
	}
	output, err := env.cloud.Do(service, action, form)
	require.NoError(env.t, err, "%s %v", action, parameters)
	return output
}

func (env *environment) recorded(key string) string {
	recorded, err := loadState(env.infra.Status)
	require.NoError(env.t, err)
	return recorded.Fact(key)
}

func TestDriver_Changes(t *testing.T) {
	zone := fake.DefaultRegion + "a"
	zoneKey := func(key string) string { return awsv1alpha1.ZoneStateKey(zone, key) }
	for sentence, test := range map[string]struct {
		change func(env *environment)
		writes []string
	}{
		"nothing": {func(*environment) {}, []string{}},
		"somebody removed the default route of the zone": {
			func(env *environment) {
				env.do("DeleteRoute", "RouteTableId", env.recorded(zoneKey(awsv1alpha1.ZoneKeyRouteTable)), "DestinationCidrBlock", anywhere)
			}, []string{"CreateRoute"},
		},
		"a route controller added routes": {
			func(env *environment) {
				env.do("CreateRoute", "RouteTableId", env.recorded(zoneKey(awsv1alpha1.ZoneKeyRouteTable)), "DestinationCidrBlock", "100.96.1.0/24",
					"GatewayId", env.recorded(awsv1alpha1.StateKeyInternetGateway))
			}, []string{},
		},
		"somebody opened a port of the nodes": {
			func(env *environment) {
				env.do("AuthorizeSecurityGroupIngress", "GroupId", env.recorded(awsv1alpha1.StateKeyNodesSecurityGroup),
					"IpPermissions.1.IpProtocol", "tcp", "IpPermissions.1.FromPort", "22", "IpPermissions.1.ToPort", "22", "IpPermissions.1.IpRanges.1.CidrIp", anywhere)
			}, []string{"RevokeSecurityGroupIngress"},
		},
		"somebody tagged a subnet": {
			func(env *environment) {
				env.do("CreateTags", "ResourceId.1", env.recorded(zoneKey(awsv1alpha1.ZoneKeySubnetWorkers)), "Tag.1.Key", "x", "Tag.1.Value", "y")
			}, []string{"DeleteTags"},
		},
		"the user has another key": {
			func(env *environment) { env.infra.Spec.SSHPublicKey = []byte(otherKey) }, []string{"DeleteKeyPair", "ImportKeyPair"},
		},
		"the user disables SSH": {func(env *environment) { env.infra.Spec.SSHPublicKey = nil }, []string{"DeleteKeyPair"}},
		"the user disables ECR": {func(env *environment) { env.config.EnableECRAccess = new(false) }, []string{"PutRolePolicy"}},
		"the user wants a gateway endpoint": {
			func(env *environment) { env.config.Networks.VPC.GatewayEndpoints = []string{"s3"} }, []string{"CreateVpcEndpoint"},
		},
		"the user adds a zone": {
			func(env *environment) { env.addZone("b", "10.250.32.0/19", "10.250.100.0/22", "10.250.116.0/22") },
			[]string{
				"AllocateAddress", "AssociateRouteTable", "AssociateRouteTable", "AssociateRouteTable", "AuthorizeSecurityGroupIngress", "CreateNatGateway", "CreateRoute",
				"CreateRouteTable", "CreateSubnet", "CreateSubnet", "CreateSubnet",
			},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			env := newEnvironment(t)
			env.mustReconcile()
			test.change(env)
			env.calls()
			env.mustReconcile()
			assert.Equal(t, test.writes, env.writes())
			env.mustReconcile()
			assert.Empty(t, env.writes(), "afterwards, nothing is written again")
			require.NoError(t, env.delete())
			assert.Empty(t, env.cloud.Resources())
		})
	}
}

// The user's elastic IP replaces the allocated one: the new NAT gateway works before the old one is deleted, and the route is replaced.
func TestDriver_GivenAddress(t *testing.T) {
	env := newEnvironment(t)
	env.mustReconcile()
	given, err := env.cloud.Do(fake.EC2, "AllocateAddress", url.Values{"Domain": {"vpc"}})
	require.NoError(t, err)
	id := given.String("AllocationId")
	env.config.Networks.Zones[0].ElasticIPAllocationID = &id
	env.calls()
	outcome := env.mustReconcile()
	assert.Equal(t, []string{"CreateNatGateway", "DeleteNatGateway", "ReleaseAddress", "ReplaceRoute"}, env.writes())
	assert.Equal(t, []string{given.String("PublicIp") + "/32"}, outcome.EgressCIDRs)

	require.NoError(t, env.delete())
	assert.Equal(t, []string{id}, env.cloud.Resources(), "the user's elastic IP stays")
}

func TestDriver_GivenVPC(t *testing.T) {
	env := newEnvironment(t)
	created, err := env.cloud.Do(fake.EC2, "CreateVpc", url.Values{"CidrBlock": {"10.250.0.0/16"}})
	require.NoError(t, err)
	vpcID := created.Struct("Vpc").String("VpcId")
	env.config.Networks.VPC = awsv1alpha1.VPC{ID: &vpcID}

	_, err = env.reconcile()
	require.ErrorContains(t, err, "no internet gateway is attached to VPC "+vpcID+": attach one")
	require.ErrorContains(t, err, "enableDnsHostnames of VPC "+vpcID+" is off: switch it on")
	assert.Equal(t, cloud.Configuration, cloud.KindOf(err))

	gateway, err := env.cloud.Do(fake.EC2, "CreateInternetGateway", nil)
	require.NoError(t, err)
	gatewayID := gateway.Struct("InternetGateway").String("InternetGatewayId")
	env.do("AttachInternetGateway", "InternetGatewayId", gatewayID, "VpcId", vpcID)
	env.do("ModifyVpcAttribute", "VpcId", vpcID, "EnableDnsHostnames.Value", "true")
	env.mustReconcile()
	require.NoError(t, env.delete())
	assert.ElementsMatch(t, []string{vpcID, gatewayID}, env.cloud.Resources(), "what the user gave stays")
}

// What Services of the shoot left is deleted with it: load balancers, and security groups whose rules name each other and that of the nodes.
func TestDriver_LeftLoadBalancers(t *testing.T) {
	env := newEnvironment(t)
	env.mustReconcile()
	group, err := env.cloud.Do(fake.EC2, "CreateSecurityGroup", url.Values{
		"GroupName": {"k8s-elb-a1"}, "GroupDescription": {"of a Service"}, "VpcId": {env.recorded(awsv1alpha1.StateKeyVPC)},
		"TagSpecification.1.ResourceType": {"security-group"}, "TagSpecification.1.Tag.1.Key": {"kubernetes.io/cluster/" + technicalID},
		"TagSpecification.1.Tag.1.Value": {"owned"},
	})
	require.NoError(t, err)
	groupID := group.String("GroupId")
	env.do("AuthorizeSecurityGroupIngress", "GroupId", env.recorded(awsv1alpha1.StateKeyNodesSecurityGroup),
		"IpPermissions.1.IpProtocol", "-1", "IpPermissions.1.Groups.1.GroupId", groupID)
	for _, balancer := range []fake.LoadBalancer{{Type: fake.Classic}, {Type: fake.Network}} {
		balancer.Name, balancer.Groups, balancer.Tags = "a1", []string{groupID}, map[string]string{"kubernetes.io/cluster/" + technicalID: "owned"}
		balancer.Subnets = []string{env.recorded(awsv1alpha1.ZoneStateKey(fake.DefaultRegion+"a", awsv1alpha1.ZoneKeySubnetPublic))}
		_, err := env.cloud.AddLoadBalancer(balancer)
		require.NoError(t, err)
	}
	require.NoError(t, env.delete())
	assert.Empty(t, env.cloud.Resources())
}

// The process is killed right after it has deleted the load balancer of a target group.
func TestDriver_LeftTargetGroups(t *testing.T) {
	env := newEnvironment(t)
	env.mustReconcile()
	_, err := env.cloud.AddLoadBalancer(fake.LoadBalancer{
		Type: fake.Network, Name: "a1", Subnets: []string{env.recorded(awsv1alpha1.ZoneStateKey(fake.DefaultRegion+"a", awsv1alpha1.ZoneKeySubnetPublic))},
		Tags: map[string]string{"kubernetes.io/cluster/" + technicalID: "owned"},
	})
	require.NoError(t, err)
	require.Contains(t, strings.Join(env.cloud.Resources(), " "), "targetgroup/")
	env.killAfter("DeleteLoadBalancer", 0)
	require.Error(t, env.delete())
	env.restart()
	env.setClock(2 * env.driver.options.VisibleAfter)
	require.NoError(t, env.delete())
	assert.Empty(t, env.cloud.Resources())
}

// Without its state, everything is found by tags: nothing is created twice, and everything is deleted.
func TestDriver_StateLost(t *testing.T) {
	env := newEnvironment(t)
	outcome := env.mustReconcile()
	env.calls()
	env.infra.Status.State = nil
	again := env.mustReconcile()
	assert.Empty(t, env.writes())
	assert.Equal(t, outcome.ProviderStatus, again.ProviderStatus)
	env.infra.Status.State = nil
	require.NoError(t, env.delete())
	assert.Empty(t, env.cloud.Resources())
}

// Upstream's driver has created the shoot: its state lacks what only this driver records, and older tags have another value.
func TestDriver_UpstreamState(t *testing.T) {
	env := newEnvironment(t)
	outcome := env.mustReconcile()
	recorded, err := awsv1alpha1.DecodeInfrastructureState(env.infra.Status.State)
	require.NoError(t, err)
	for key := range recorded.Data {
		if strings.HasPrefix(key, awsv1alpha1.StateKeyPrefix) {
			delete(recorded.Data, key)
		}
	}
	env.save(recorded)
	env.restart()
	env.calls()
	again := env.mustReconcile()
	assert.Empty(t, env.writes(), "neither routes nor rules nor policies are written")
	assert.Equal(t, outcome.ProviderStatus, again.ProviderStatus)

	env.do("CreateTags", "ResourceId.1", env.recorded(awsv1alpha1.StateKeyVPC), "Tag.1.Key", tagClusterPrefix+technicalID, "Tag.1.Value", "1")
	env.save(recorded)
	env.mustReconcile()
	assert.Equal(t, []string{"CreateTags"}, env.writes(), "the older value of the tag is replaced")
	env.save(recorded)
	require.NoError(t, env.delete())
	assert.Empty(t, env.cloud.Resources())
}

func TestDriver_InvalidGiven(t *testing.T) {
	for sentence, test := range map[string]struct {
		change func(env *environment)
		want   string
	}{
		"an elastic IP of something else": {
			func(env *environment) {
				address, err := env.cloud.Do(fake.EC2, "AllocateAddress", url.Values{"Domain": {"vpc"}})
				require.NoError(env.t, err)
				id := address.String("AllocationId")
				other := newEnvironmentIn(env, "shoot--dev--two")
				other.config.Networks.Zones[0].ElasticIPAllocationID = &id
				other.mustReconcile()
				env.config.Networks.Zones[0].ElasticIPAllocationID = &id
			}, "is in use by interface eni-",
		},
		"an elastic IP that does not exist": {
			func(env *environment) { env.config.Networks.Zones[0].ElasticIPAllocationID = new("eipalloc-0") }, "there is no elastic IP eipalloc-0 in region",
		},
		"a range outside the VPC": {
			func(env *environment) {
				g := givenVPCOf(env, "10.251.0.0/16", "eu-west-1.compute.internal")
				env.config.Networks.VPC = awsv1alpha1.VPC{ID: &g}
			}, "is in none of the ranges [10.251.0.0/16] of VPC",
		},
		"another domain": {
			func(env *environment) {
				g := givenVPCOf(env, "10.250.0.0/16", "example.com")
				env.config.Networks.VPC = awsv1alpha1.VPC{ID: &g}
			}, "must have the domain-name eu-west-1.compute.internal",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			env := newEnvironment(t)
			test.change(env)
			before := env.cloud.Resources()
			_, err := env.reconcile()
			require.ErrorContains(t, err, test.want)
			assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
			assert.Equal(t, before, env.cloud.Resources(), "nothing was created")
		})
	}
}

// givenVPCOf makes a VPC with a range and a domain.
func givenVPCOf(env *environment, cidr, domain string) string {
	env.t.Helper()
	created, err := env.cloud.Do(fake.EC2, "CreateVpc", url.Values{"CidrBlock": {cidr}})
	require.NoError(env.t, err)
	options, err := env.cloud.Do(fake.EC2, "CreateDhcpOptions", url.Values{
		"DhcpConfiguration.1.Key": {"domain-name"}, "DhcpConfiguration.1.Value.1": {domain},
	})
	require.NoError(env.t, err)
	id := created.Struct("Vpc").String("VpcId")
	env.do("AssociateDhcpOptions", "VpcId", id, "DhcpOptionsId", options.Struct("DhcpOptions").String("DhcpOptionsId"))
	return id
}
