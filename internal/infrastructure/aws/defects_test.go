package aws

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

const zoneA = fake.DefaultRegion + "a"

// dualStack are the families of a shoot with IPv4 and IPv6.
func dualStack() []gardencorev1beta1.IPFamily {
	return []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv4, gardencorev1beta1.IPFamilyIPv6}
}

// TestUpstreamDefects shows, for each known defect of upstream's extension, that this driver does not have it. Further cases of A1, A2, A3 and A5 are in
// TestUpstream_DeployedShootIsUnchanged, of A6 and A12 in TestUpstream_StoppedAfterEachStep, and of A14 in TestSession_Pages of the client. Forced deletion, of
// which A17 speaks too, is the contract's.
func TestUpstreamDefects(t *testing.T) {
	for sentence, check := range map[string]func(t *testing.T, u *upstreamShoot){
		"A1 routes that are equal are not replaced":                              testUnchangedRoutes,
		"A2 rules that EC2 has merged are not written again":                     testMergedRules,
		"A3 a policy that IAM has encoded is not written again":                  testEncodedPolicy,
		"A4 each resource has its own tags":                                      testOwnTags,
		"A5 a gateway that is attached is not attached again":                    testAttachedGateway,
		"A6 without a state everything is deleted":                               testLostState,
		"A7 the ID of a route table in place of a NAT gateway is no NAT gateway": testImportedRouteTable,
		"A8 the IPv6 range of the VPC is among the egress addresses once":        testEgressRanges,
		"A9 a zone may be configured twice":                                      testDuplicateZone,
		"A10 rules are for the ranges of load balancers, with IPv6 too":          testRulesOfSubnets,
		"A11 the security group of nodes is not one of a load balancer":          testNodesGroupInUse,
		"A12 a NAT gateway of which only the beginning is recorded is adopted":   testUnrecordedNATGateway,
		"A13 errors are classified by their codes, not by their texts":           testErrorCodes,
		"A14 lists are read to their ends":                                       testManyGroups,
		"A15 tags of the security group are repaired when its rules are equal":   testTagsOfGroup,
		"A16 an operation ends when its context does":                            testCanceled,
		"A17 the subnets in the status have an order":                            testOrderOfSubnets,
		"A17 a migrated shoot needs nothing but its state":                       testMigration,
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			check(t, newUpstreamShoot(t))
		})
	}
}

// assertNoWrites asserts that a no-op in upstream's deployed state makes none of these calls, and no other write.
func (u *upstreamShoot) assertNoWrites(actions ...string) {
	u.t.Helper()
	u.mustReconcile()
	calls := u.calls()
	for _, action := range actions {
		assert.NotContains(u.t, calls, action)
	}
	assert.Empty(u.t, slices.DeleteFunc(calls, isRead))
}

func testUnchangedRoutes(_ *testing.T, u *upstreamShoot) {
	u.families = dualStack()
	u.deployed().assertNoWrites("CreateRoute", "DeleteRoute", "ReplaceRoute")
}

func testMergedRules(t *testing.T, u *upstreamShoot) {
	u.families = dualStack()
	u.deployed()
	group := u.do("DescribeSecurityGroups", "GroupId.1", u.made[awsv1alpha1.StateKeyNodesSecurityGroup]).Structs("SecurityGroups")[0]
	require.Len(t, group.Structs("IpPermissions"), 3, "of tcp, udp and everything")
	u.assertNoWrites("AuthorizeSecurityGroupIngress", "RevokeSecurityGroupIngress", "AuthorizeSecurityGroupEgress", "RevokeSecurityGroupEgress")
}

func testEncodedPolicy(t *testing.T, u *upstreamShoot) {
	u.deployed()
	answer := u.doIn(fake.IAM, "GetRolePolicy", "RoleName", technicalID+"-nodes", "PolicyName", technicalID+"-nodes")
	require.True(t, strings.HasPrefix(answer.String("PolicyDocument"), "%7B"), "IAM encodes documents")
	u.assertNoWrites("PutRolePolicy", "UpdateAssumeRolePolicy")
}

// Upstream shares one map of tags among all resources, which the file system's tag gets into.
func testOwnTags(t *testing.T, u *upstreamShoot) {
	u.mustReconcile()
	cluster := tagClusterPrefix + technicalID
	more := map[string]string{technicalID + "-public-utility-z0": tagPublicBalancer, technicalID + "-private-utility-z0": tagInnerBalancer}
	seen := map[string]map[string]string{}
	for _, tag := range u.do("DescribeTags").Structs("Tags") {
		id := tag.String("ResourceId")
		if seen[id] == nil {
			seen[id] = map[string]string{}
		}
		seen[id][tag.String("Key")] = tag.String("Value")
	}
	for id, tags := range seen {
		want := map[string]string{tagName: tags[tagName], cluster: clusterOwned}
		if role := more[tags[tagName]]; role != "" {
			want[role] = "1"
		}
		assert.Equal(t, want, tags, id)
	}
	assert.Len(t, seen, len(u.cloud.Resources())-3, "all but the role, the instance profile, and the interface of the NAT gateway")
}

func testAttachedGateway(_ *testing.T, u *upstreamShoot) {
	u.deployed().assertNoWrites("AttachInternetGateway")
}

func testLostState(t *testing.T, u *upstreamShoot) {
	u.families = dualStack()
	u.deployed().infra.Status.State = nil
	require.NoError(t, u.delete())
	assert.Empty(t, u.cloud.Resources())
}

func testImportedRouteTable(t *testing.T, u *upstreamShoot) {
	nat, table := awsv1alpha1.ZoneStateKey(zoneA, awsv1alpha1.ZoneKeyNATGateway), awsv1alpha1.ZoneStateKey(zoneA, awsv1alpha1.ZoneKeyRouteTable)
	imported := u.deployed().state()
	gateway := imported[nat]
	imported[nat] = imported[table]
	u.saveUpstream(imported)
	u.assertNoWrites()
	assert.Equal(t, gateway, u.state()[nat], "what is recorded is mended")
	u.saveUpstream(imported)
	require.NoError(t, u.delete())
	assert.Empty(t, u.cloud.Resources())
}

func testEgressRanges(t *testing.T, u *upstreamShoot) {
	u.families = dualStack()
	u.deployed()
	vpc := u.made[awsv1alpha1.StateKeyVPCIPv6CIDR]
	for range 3 {
		outcome := u.mustReconcile()
		assert.Equal(t, []string{u.made[awsv1alpha1.StateKeyEgressCIDRs], vpc}, outcome.EgressCIDRs)
		u.infra.Status.EgressCIDRs = outcome.EgressCIDRs
	}
}

// Older shoots name a zone twice. Upstream then uses an index that does not exist.
func testDuplicateZone(t *testing.T, u *upstreamShoot) {
	u.families = dualStack()
	u.addZone("a", "10.250.0.0/19", "10.250.96.0/22", "10.250.112.0/22")
	u.addZone("b", "10.250.32.0/19", "10.250.100.0/22", "10.250.116.0/22")
	outcome := u.mustReconcile()
	assert.Len(t, outcome.ProviderStatus.(*awsv1alpha1.InfrastructureStatus).VPC.Subnets, 6)
	u.assertNoneAfter(func() { u.mustReconcile() })
	require.NoError(t, u.delete())
	assert.Empty(t, u.cloud.Resources())
}

// assertNoneAfter asserts that something writes nothing.
func (env *environment) assertNoneAfter(do func()) {
	env.t.Helper()
	env.cloud.ResetLog()
	do()
	assert.Empty(env.t, env.writes())
}

func testRulesOfSubnets(t *testing.T, u *upstreamShoot) {
	u.families = dualStack()
	u.addZone("b", "10.250.32.0/19", "10.250.100.0/22", "10.250.116.0/22")
	u.mustReconcile()
	found, err := u.operator().ListSecurityGroups(t.Context(), cloudaws.Filter{Name: technicalID + "-nodes"})
	require.NoError(t, err)
	var peers []string
	for _, rule := range found[0].Rules {
		if rule.Protocol == "tcp" {
			peers = append(peers, rule.CIDR)
		}
	}
	assert.ElementsMatch(t, []string{anywhere, anywhereIPv6, "10.250.96.0/22", "10.250.112.0/22", "10.250.100.0/22", "10.250.116.0/22"}, peers)
}

// The tag by which groups of load balancers are found is also that of the nodes' group, which something else still uses.
func testNodesGroupInUse(t *testing.T, u *upstreamShoot) {
	u.deployed()
	subnet, group := u.made[awsv1alpha1.ZoneStateKey(zoneA, awsv1alpha1.ZoneKeySubnetWorkers)], u.made[awsv1alpha1.StateKeyNodesSecurityGroup]
	target, err := u.cloud.AddNetworkInterface(subnet, "efs", "EFS mount target", group)
	require.NoError(t, err)
	time.AfterFunc(300*time.Millisecond, func() { u.cloud.RemoveNetworkInterface(target) })
	require.NoError(t, u.delete())
	assert.Empty(t, u.cloud.Resources())
	deleted := u.cloud.Log().Where(func(call wire.Call) bool { return call.Path == "DeleteSecurityGroup" && call.Status == 200 })
	assert.Len(t, deleted, 1)
}

func testUnrecordedNATGateway(t *testing.T, u *upstreamShoot) {
	recorded := u.deployed().state()
	nat := awsv1alpha1.ZoneStateKey(zoneA, awsv1alpha1.ZoneKeyNATGateway)
	gateway := recorded[nat]
	recorded[nat] = ""
	u.saveUpstream(recorded)
	u.assertNoWrites()
	assert.Equal(t, gateway, u.state()[nat])
	u.saveUpstream(recorded)
	require.NoError(t, u.delete())
	assert.Empty(t, u.cloud.Resources())
}

func testErrorCodes(t *testing.T, u *upstreamShoot) {
	for code, want := range map[string]cloud.Kind{
		"RequestLimitExceeded": cloud.RateLimited, "VpcLimitExceeded": cloud.QuotaExceeded, "AuthFailure": cloud.Unauthenticated,
		"UnauthorizedOperation": cloud.Unauthorized, "InvalidParameterValue": cloud.Configuration, "InsufficientAddressCapacity": cloud.Depleted,
	} {
		const text = "UnauthorizedOperation, AuthFailure, LimitExceeded, InvalidParameterValue and DependencyViolation are words of this text"
		u.cloud.ClearFaults()
		u.cloud.Inject(wire.Fault{Match: wire.Match{Path: "CreateDhcpOptions"}, Times: -1, Status: 400, Type: code, Message: text})
		_, err := u.reconcile()
		require.ErrorContains(t, err, text)
		assert.Equal(t, want, cloud.KindOf(err), code)
	}
}

// More security groups are in the VPC than a page has.
func testManyGroups(_ *testing.T, u *upstreamShoot) {
	u.cloud.SetQuota(fake.QuotaGroups, 2000)
	vpcID := givenVPCOf(u.environment, "10.250.0.0/16", fake.DefaultRegion+".compute.internal")
	for i := range 1001 {
		u.do("CreateSecurityGroup", "GroupName", fmt.Sprintf("a%d", i), "GroupDescription", "of others", "VpcId", vpcID)
	}
	gateway := u.do("CreateInternetGateway").Struct("InternetGateway").String("InternetGatewayId")
	u.do("AttachInternetGateway", "InternetGatewayId", gateway, "VpcId", vpcID)
	u.do("ModifyVpcAttribute", "VpcId", vpcID, "EnableDnsHostnames.Value", "true")
	u.config.Networks.VPC = awsv1alpha1.VPC{ID: &vpcID}
	u.mustReconcile()
	u.infra.Status.State = nil
	u.assertNoneAfter(func() { u.mustReconcile() })
}

func testTagsOfGroup(t *testing.T, u *upstreamShoot) {
	group := u.deployed().made[awsv1alpha1.StateKeyNodesSecurityGroup]
	u.do("DeleteTags", "ResourceId.1", group, "Tag.1.Key", tagClusterPrefix+technicalID)
	u.mustReconcile()
	assert.Equal(t, []string{"CreateTags"}, u.writes())
}

func testCanceled(t *testing.T, _ *upstreamShoot) {
	for _, action := range []string{"DescribeDhcpOptions", "AssociateDhcpOptions", "DescribeVpcs"} {
		u := newUpstreamShoot(t)
		u.families, u.attempted = dualStack(), true
		ctx, cancel := context.WithCancel(t.Context())
		u.cloud.SetHook(func(event wire.Event) wire.HookResult {
			if event.Phase == wire.Before && event.Call.Path == action {
				cancel()
				time.Sleep(20 * time.Millisecond) // the response comes after the end
			}
			return wire.Proceed
		})
		started := time.Now()
		_, err := u.driver.Reconcile(ctx, u.shootInput(), u.newRecorder())
		require.ErrorIs(t, err, context.Canceled, action)
		assert.Less(t, time.Since(started), operationTimeout, action)
	}
}

func testOrderOfSubnets(t *testing.T, u *upstreamShoot) {
	u.addZone("b", "10.250.32.0/19", "10.250.100.0/22", "10.250.116.0/22")
	u.addZone("c", "10.250.64.0/19", "10.250.104.0/22", "10.250.120.0/22")
	status := u.deployed().mustReconcile().ProviderStatus.(*awsv1alpha1.InfrastructureStatus)
	var order []string
	for _, subnet := range status.VPC.Subnets {
		order = append(order, strings.TrimPrefix(subnet.Zone, fake.DefaultRegion)+" "+string(subnet.Purpose))
	}
	assert.Equal(t, []string{"a nodes", "a public", "a internal", "b nodes", "b public", "b internal", "c nodes", "c public", "c internal"}, order)
	for range 3 {
		u.restart()
		assert.Equal(t, status, u.mustReconcile().ProviderStatus)
	}
}

// A shoot that has migrated has nothing but its state. What upstream's state says is enough.
func testMigration(t *testing.T, u *upstreamShoot) {
	before := u.deployed().cloud.Resources()
	u.restart()
	u.infra.Status.ProviderStatus = nil
	u.assertNoWrites()
	assert.Equal(t, before, u.cloud.Resources())
}
