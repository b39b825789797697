package aws

import (
	"maps"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
	"github.com/trellis-garden/trellis/internal/infrastructure/infrastructuretest"
)

// lookAlikes are tags that are nearly those of the shoot's resources, by what is wrong with them. The name is completed for each kind of resource.
func lookAlikes() map[string]cloudaws.Tags {
	return map[string]cloudaws.Tags{
		"the name without the cluster's tag":                   {},
		"the cluster's tag of a shoot whose name begins alike": {tagClusterPrefix + technicalID + "x": clusterOwned},
		"the cluster's tag with another value":                 {tagClusterPrefix + technicalID: "borrowed"},
		"the cluster's tag with the value for what is shared":  {tagClusterPrefix + technicalID: clusterShared},
		"the cluster's tag in capitals":                        {tagClusterPrefix + "SHOOT--DEV--ONE": clusterOwned},
		"the value of the cluster's tag in capitals":           {tagClusterPrefix + technicalID: "Owned"},
	}
}

// newSharedVPC is a VPC of the user with a shoot in it.
func newSharedVPC(t *testing.T) *environment {
	t.Helper()
	env := newEnvironment(t)
	vpcID := givenVPCOf(env, "10.250.0.0/16", fake.DefaultRegion+".compute.internal")
	gateway := env.do("CreateInternetGateway").Struct("InternetGateway").String("InternetGatewayId")
	env.do("AttachInternetGateway", "InternetGatewayId", gateway, "VpcId", vpcID)
	env.do("ModifyVpcAttribute", "VpcId", vpcID, "EnableDnsHostnames.Value", "true")
	env.config.Networks.VPC = awsv1alpha1.VPC{ID: &vpcID, GatewayEndpoints: []string{"s3"}}
	env.restart()
	return env
}

// plantLookAlikes makes what others own in the same VPC, with the names of the shoot's resources and the tags.
func (env *environment) plantLookAlikes(tags cloudaws.Tags, number string) {
	env.t.Helper()
	ctx, s, vpcID := env.t.Context(), env.operator(), *env.config.Networks.VPC.ID
	named := func(name string) cloudaws.Tags {
		all := maps.Clone(tags)
		all[tagName] = name
		return all
	}
	subnet, err := s.CreateSubnet(ctx, cloudaws.SubnetCreate{VPCID: vpcID, Zone: zoneA, CIDR: "10.250." + number + ".0/24", Tags: named(technicalID + "-nodes-z0")})
	require.NoError(env.t, err)
	address, err := s.AllocateAddress(ctx, named(technicalID+"-eip-natgw-z0"))
	require.NoError(env.t, err)
	_, err = s.CreateNATGateway(ctx, subnet.ID, address.AllocationID, number, named(technicalID+"-natgw-z0"))
	require.NoError(env.t, err)
	for _, name := range []string{technicalID, technicalID + "-private-" + zoneA} {
		table, err := s.CreateRouteTable(ctx, vpcID, number+name, named(name))
		require.NoError(env.t, err)
		require.NoError(env.t, s.CreateRoute(ctx, table.ID, cloudaws.Route{Destination: "192.0.2.0/24", NATGatewayID: env.natIn(subnet.ID)}))
	}
	_, err = s.CreateDHCPOptions(ctx, fake.DefaultRegion+".compute.internal", named(technicalID))
	require.NoError(env.t, err)
	_, err = s.CreateInternetGateway(ctx, named(technicalID))
	require.NoError(env.t, err)
	for _, name := range []string{"k8s-elb-a" + number, technicalID + "-nodes-" + number} {
		_, err = s.CreateSecurityGroup(ctx, vpcID, name, "of others", named(technicalID+"-nodes"))
		require.NoError(env.t, err)
	}
	_, err = s.ImportKeyPair(ctx, technicalID+"-ssh-publickey-"+number, []byte(sshKey), named(technicalID))
	require.NoError(env.t, err)
	for _, kind := range []fake.LoadBalancer{{Type: fake.Classic, Name: "classic" + number}, {Type: fake.Network, Name: "network" + number}} {
		kind.Subnets, kind.Tags = []string{subnet.ID}, named("a1")
		_, err := env.cloud.AddLoadBalancer(kind)
		require.NoError(env.t, err)
	}
}

// natIn returns the ID of the NAT gateway of a subnet.
func (env *environment) natIn(subnetID string) string {
	return env.do("DescribeNatGateways", "Filter.1.Name", "subnet-id", "Filter.1.Value.1", subnetID).Structs("NatGateways")[0].String("NatGatewayId")
}

// What is nearly the shoot's stays as it is, byte by byte: during a creation, a no-op, a no-op without a state, and a deletion with a state and without.
func TestForeign_LookAlikes(t *testing.T) {
	for sentence, withState := range map[string]bool{"deleted with a state": true, "deleted without a state": false} {
		t.Run(sentence, func(t *testing.T) {
			env := newSharedVPC(t)
			env.cloud.SetQuota(fake.QuotaInternetGateways, 20)
			env.cloud.SetQuota(fake.QuotaNATGateways, 20)
			env.cloud.SetQuota(fake.QuotaAddresses, 20)
			number := 200
			for _, tags := range lookAlikes() {
				env.plantLookAlikes(tags, strconv.Itoa(number))
				number++
			}
			before := env.resources()
			assertUntouched := func() {
				t.Helper()
				byID := map[string]infrastructuretest.Resource{}
				for _, resource := range env.resources() {
					byID[resource.ID] = resource
				}
				for _, resource := range before {
					assert.Empty(t, cmp.Diff(resource, byID[resource.ID]))
				}
			}
			assert.Empty(t, env.mustReconcile().Findings)
			assertUntouched()
			env.assertNoneAfter(func() { env.mustReconcile() })
			state := env.infra.Status.State
			env.infra.Status.State = nil
			env.assertNoneAfter(func() { env.mustReconcile() })
			env.infra.Status.State = nil
			if withState {
				env.infra.Status.State = state
			}
			require.NoError(t, env.delete())
			assertUntouched()
			assert.Len(t, env.resources(), len(before), "all of the shoot is gone")
		})
	}
}

// A namesake where names are unique stops the creation: it is nobody's to change.
func TestForeign_UniqueNames(t *testing.T) {
	for sentence, test := range map[string]struct {
		plant func(env *environment)
		want  string
	}{
		"a security group": {func(env *environment) {
			env.do("CreateSecurityGroup", "GroupName", technicalID+"-nodes", "GroupDescription", "of others", "VpcId", *env.config.Networks.VPC.ID)
		}, "is not the shoot's: rename or delete it"},
		"a key pair": {func(env *environment) {
			env.do("ImportKeyPair", "KeyName", technicalID+"-ssh-publickey", "PublicKeyMaterial", base64Of(otherKey))
		}, "exists and is not the shoot's: delete or rename it"},
	} {
		t.Run(sentence, func(t *testing.T) {
			env := newSharedVPC(t)
			test.plant(env)
			before := env.resources()
			_, err := env.reconcile()
			require.ErrorContains(t, err, test.want)
			require.NoError(t, env.delete())
			assert.Empty(t, cmp.Diff(before, env.resources()))
		})
	}
}
