package aws

import (
	"net/netip"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
)

func TestSubnetOf(t *testing.T) {
	vpc := netip.MustParsePrefix("2a05:d018:0:100::/56")
	for sentence, test := range map[string]struct {
		prefix         netip.Prefix
		length, number int
		want           string
	}{
		"the first subnet":                {vpc, 64, 0, "2a05:d018:0:100::/64"},
		"the second subnet":               {vpc, 64, 1, "2a05:d018:0:101::/64"},
		"the last subnet":                 {vpc, 64, 255, "2a05:d018:0:1ff::/64"},
		"the second part for Services":    {netip.MustParsePrefix("2a05:d018:0:103::/64"), 108, 1, "2a05:d018:0:103::10:0/108"},
		"a prefix that is not at a byte":  {netip.MustParsePrefix("2a05:d018::/60"), 64, 9, "2a05:d018:0:9::/64"},
		"bits beyond the prefix are zero": {netip.MustParsePrefix("2a05:d018:0:1ab::1/56"), 64, 2, "2a05:d018:0:102::/64"},
	} {
		t.Run(sentence, func(t *testing.T) {
			assert.Equal(t, test.want, subnetOf(test.prefix, test.length, test.number).String())
		})
	}
}

func TestDriver_IPv6(t *testing.T) {
	ipv4, ipv6 := gardencorev1beta1.IPFamilyIPv4, gardencorev1beta1.IPFamilyIPv6
	for sentence, test := range map[string]struct {
		families []gardencorev1beta1.IPFamily
		native   bool
	}{
		"dual stack":   {[]gardencorev1beta1.IPFamily{ipv4, ipv6}, false},
		"without IPv4": {[]gardencorev1beta1.IPFamily{ipv6}, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			env := newEnvironment(t, fake.WithTransition(fake.VPCCIDRAssociate, fake.Transition{Reads: 1}))
			env.families = test.families
			env.addZone("b", "10.250.32.0/19", "10.250.100.0/22", "10.250.116.0/22")
			outcome := env.mustReconcile()
			vpc := env.recorded(awsv1alpha1.StateKeyVPCIPv6CIDR)
			assert.Contains(t, outcome.EgressCIDRs, vpc)
			assert.Contains(t, outcome.Nodes, vpc)
			assert.Contains(t, outcome.Services, env.recorded(awsv1alpha1.StateKeyServiceCIDR))
			created := env.calls()
			t.Logf("create: %d %v", len(created), created)

			again := env.mustReconcile()
			assert.Equal(t, outcome, again, "ranges are not appended again")
			assert.Empty(t, env.writes())
			env.assertIPv6(fake.DefaultRegion+"a", test.native)

			require.NoError(t, env.delete())
			assert.Empty(t, env.cloud.Resources())
		})
	}
}

// assertIPv6 checks the subnets of a zone.
func (env *environment) assertIPv6(zone string, native bool) {
	env.t.Helper()
	for _, key := range []string{awsv1alpha1.ZoneKeySubnetWorkers, awsv1alpha1.ZoneKeySubnetPublic, awsv1alpha1.ZoneKeySubnetInternal} {
		found, err := env.cloud.Do(fake.EC2, "DescribeSubnets", map[string][]string{"SubnetId.1": {env.recorded(awsv1alpha1.ZoneStateKey(zone, key))}})
		require.NoError(env.t, err)
		subnet := found.Structs("Subnets")[0]
		assert.Len(env.t, subnet.Structs("Ipv6CidrBlockAssociationSet"), 1, key)
		isNodes := key == awsv1alpha1.ZoneKeySubnetWorkers
		assert.Equal(env.t, isNodes && native, subnet.Bool("Ipv6Native"), key)
		assert.Equal(env.t, isNodes, subnet.Bool("AssignIpv6AddressOnCreation"), key)
		assert.Equal(env.t, isNodes && native, subnet.Bool("EnableDns64"), key)
	}
}

// A shoot that gets IPv6 later keeps its subnets.
func TestDriver_IPv6Later(t *testing.T) {
	env := newEnvironment(t)
	before := env.mustReconcile()
	env.families = []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv4, gardencorev1beta1.IPFamilyIPv6}
	env.calls()
	after := env.mustReconcile()
	t.Log(env.writes())
	assert.Equal(t, before.ProviderStatus, after.ProviderStatus)
	env.assertIPv6(fake.DefaultRegion+"a", false)
	env.mustReconcile()
	assert.Empty(t, env.writes())
	require.NoError(t, env.delete())
	assert.Empty(t, env.cloud.Resources())
}
