package aws

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
)

// givenVPC is a VPC with subnets of the user.
type givenVPC struct {
	env *environment
	id  string
}

// newGivenVPC makes a VPC with DNS hostnames, and a shoot that uses it.
func newGivenVPC(t *testing.T) *givenVPC {
	t.Helper()
	env := newEnvironment(t)
	created, err := env.cloud.Do(fake.EC2, "CreateVpc", map[string][]string{"CidrBlock": {"10.250.0.0/16"}})
	require.NoError(t, err)
	g := &givenVPC{env: env, id: created.Struct("Vpc").String("VpcId")}
	env.do("ModifyVpcAttribute", "VpcId", g.id, "EnableDnsHostnames.Value", "true")
	env.config.Networks = awsv1alpha1.Networks{VPC: awsv1alpha1.VPC{ID: &g.id}}
	return g
}

// subnet makes a subnet with tags, given as keys and values.
func (g *givenVPC) subnet(zone, cidr string, tags ...string) string {
	g.env.t.Helper()
	created, err := g.env.cloud.Do(fake.EC2, "CreateSubnet", map[string][]string{
		"VpcId": {g.id}, "AvailabilityZone": {fake.DefaultRegion + zone}, "CidrBlock": {cidr},
	})
	require.NoError(g.env.t, err)
	id := created.Struct("Subnet").String("SubnetId")
	for i := 0; i < len(tags); i += 2 {
		g.env.do("CreateTags", "ResourceId.1", id, "Tag.1.Key", tags[i], "Tag.1.Value", tags[i+1])
	}
	return id
}

func (g *givenVPC) tagsOf(id string) map[string]string {
	g.env.t.Helper()
	found, err := g.env.cloud.Do(fake.EC2, "DescribeTags", map[string][]string{"Filter.1.Name": {"resource-id"}, "Filter.1.Value.1": {id}})
	require.NoError(g.env.t, err)
	tags := map[string]string{}
	for _, tag := range found.Structs("Tags") {
		tags[tag.String("Key")] = tag.String("Value")
	}
	return tags
}

func TestDriver_GivenSubnets(t *testing.T) {
	g := newGivenVPC(t)
	nodes, balancers := g.subnet("a", "10.250.0.0/19"), g.subnet("a", "10.250.96.0/22")
	found := g.subnet("a", "10.250.112.0/22", tagInnerBalancer, "1")
	g.env.config.Networks.Zones = []awsv1alpha1.Zone{{Name: fake.DefaultRegion + "a", WorkersSubnetID: &nodes, PublicSubnetID: &balancers}}
	before := g.env.cloud.Resources()
	outcome := g.env.mustReconcile()
	subnets := outcome.ProviderStatus.(*awsv1alpha1.InfrastructureStatus).VPC.Subnets
	assert.Equal(t, []awsv1alpha1.Subnet{
		{Purpose: awsv1alpha1.PurposeNodes, ID: nodes, Zone: fake.DefaultRegion + "a"},
		{Purpose: awsv1alpha1.PurposePublic, ID: balancers, Zone: fake.DefaultRegion + "a"},
		{Purpose: awsv1alpha1.PurposeInternal, ID: found, Zone: fake.DefaultRegion + "a"},
	}, subnets)
	cluster := tagClusterPrefix + technicalID
	assert.Equal(t, map[string]string{cluster: "shared", tagPublicBalancer: "1", tagManaged: tagPublicBalancer}, g.tagsOf(balancers))
	assert.Equal(t, map[string]string{cluster: "shared", tagInnerBalancer: "1"}, g.tagsOf(found))
	assert.Empty(t, g.tagsOf(nodes))
	g.env.calls()
	g.env.mustReconcile()
	assert.Empty(t, g.env.writes(), "no tag is written again")

	require.NoError(t, g.env.delete())
	assert.Equal(t, before, g.env.cloud.Resources())
	assert.Empty(t, g.tagsOf(balancers), "the tag that the shoot had added is removed")
	assert.Equal(t, map[string]string{tagInnerBalancer: "1"}, g.tagsOf(found), "the user's tag stays")
}

// Another shoot uses the same subnet: its tag for load balancers stays until both are gone.
func TestDriver_SharedSubnets(t *testing.T) {
	g := newGivenVPC(t)
	nodes, balancers := g.subnet("a", "10.250.0.0/19"), g.subnet("a", "10.250.96.0/22")
	g.env.config.Networks.Zones = []awsv1alpha1.Zone{{Name: fake.DefaultRegion + "a", WorkersSubnetID: &nodes, PublicSubnetID: &balancers}}
	g.env.mustReconcile()
	g.env.do("CreateTags", "ResourceId.1", balancers, "Tag.1.Key", tagClusterPrefix+"shoot--dev--two", "Tag.1.Value", "shared")
	require.NoError(t, g.env.delete())
	assert.Equal(t, map[string]string{tagClusterPrefix + "shoot--dev--two": "shared", tagPublicBalancer: "1", tagManaged: tagPublicBalancer}, g.tagsOf(balancers))
}

func TestDriver_InvalidGivenSubnets(t *testing.T) {
	for sentence, test := range map[string]struct {
		zone func(g *givenVPC) awsv1alpha1.Zone
		want string
	}{
		"a subnet that does not exist": {
			func(*givenVPC) awsv1alpha1.Zone { return awsv1alpha1.Zone{WorkersSubnetID: new("subnet-0")} }, "there is no subnet subnet-0 in VPC",
		},
		"a subnet of another zone": {
			func(g *givenVPC) awsv1alpha1.Zone {
				return awsv1alpha1.Zone{WorkersSubnetID: new(g.subnet("b", "10.250.0.0/19"))}
			}, "is in zone eu-west-1b: give one in zone eu-west-1a",
		},
		"two subnets for load balancers": {
			func(g *givenVPC) awsv1alpha1.Zone {
				g.subnet("a", "10.250.96.0/22", tagPublicBalancer, "1")
				g.subnet("a", "10.250.112.0/22", tagPublicBalancer, "1")
				return awsv1alpha1.Zone{WorkersSubnetID: new(g.subnet("a", "10.250.0.0/19"))}
			}, "have the tag kubernetes.io/role/elb: leave it on one of them, or configure publicSubnetID",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			g := newGivenVPC(t)
			zone := test.zone(g)
			zone.Name = fake.DefaultRegion + "a"
			g.env.config.Networks.Zones = []awsv1alpha1.Zone{zone}
			_, err := g.env.reconcile()
			require.ErrorContains(t, err, test.want)
			assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
		})
	}
}
