package fake_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
)

func TestTags(t *testing.T) {
	testBehaviours(t, map[string]behaviour{
		"tags are set by the creating call, which names the kind": {
			source: reference("TagSpecification"),
			check: func(t *testing.T, a *account) {
				create := []string{"CidrBlock", "10.250.0.0/16"}
				v := a.do("CreateVpc", with(create, tags("vpc", "Name", "shoot", "kubernetes.io/cluster/shoot", "owned")...)...)
				assert.Equal(t, []string{"Name", "kubernetes.io/cluster/shoot"}, v.texts("vpc/tagSet/item/key"))
				a.fails("InvalidParameterValue", "CreateVpc", with(create, tags("subnet", "Name", "shoot")...)...)
				a.fails("InvalidParameterValue", "CreateVpc", with(create, tags("vpc", "aws:Name", "shoot")...)...)
				assert.Len(t, a.Resources(), 1)
			},
		},
		"tags are added to and deleted from resources of any kind": {
			source: reference("CreateTags") + ", DeleteTags, DescribeTags",
			check: func(t *testing.T, a *account) {
				v := a.vpc()
				n := a.subnet(v, "10.250.0.0/24")
				a.do("CreateTags", "ResourceId.1", v, "ResourceId.2", n, "Tag.1.Key", "a", "Tag.1.Value", "1", "Tag.2.Key", "b", "Tag.2.Value", "2")
				a.do("CreateTags", "ResourceId.1", v, "Tag.1.Key", "a", "Tag.1.Value", "3")
				assert.Equal(t, []string{"3", "2"}, a.do("DescribeVpcs").texts("vpcSet/item/tagSet/item/value"))
				shown := a.do("DescribeTags", filter(1, "resource-type", "subnet")...)
				assert.Equal(t, []string{"a", "b"}, shown.texts("tagSet/item/key"))
				assert.Equal(t, []string{n, n}, shown.texts("tagSet/item/resourceId"))
				a.do("DeleteTags", "ResourceId.1", v, "Tag.1.Key", "a", "Tag.1.Value", "1", "Tag.2.Key", "b")
				assert.Equal(t, []string{"a"}, a.do("DescribeVpcs").texts("vpcSet/item/tagSet/item/key"))
				a.do("DeleteTags", "ResourceId.1", v)
				assert.Empty(t, a.do("DescribeVpcs").texts("vpcSet/item/tagSet/item/key"))
			},
		},
		"an unknown resource is refused by the code of its kind, and nothing is tagged": {
			source: "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html",
			check: func(t *testing.T, a *account) {
				v := a.vpc()
				for id, code := range map[string]string{
					"subnet-0": "InvalidSubnetID.NotFound", "rtb-0": "InvalidRouteTableID.NotFound", "sg-0": "InvalidGroup.NotFound", "thing-0": "InvalidID",
				} {
					a.fails(code, "CreateTags", "ResourceId.1", v, "ResourceId.2", id, "Tag.1.Key", "a")
				}
				assert.Empty(t, a.do("DescribeTags").texts("tagSet/item/key"))
			},
		},
	})
}

func TestFilters(t *testing.T) {
	testBehaviours(t, map[string]behaviour{
		"a filter matches any of its values, and all filters must match": {
			source: "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Filtering.html",
			check: func(t *testing.T, a *account) {
				v := a.vpc()
				first, second := a.subnet(v, "10.250.0.0/24"), a.subnet(v, "10.250.1.0/24")
				a.do("CreateTags", "ResourceId.1", first, "Tag.1.Key", "kubernetes.io/role/elb", "Tag.1.Value", "1")
				ids := func(parameters ...string) []string {
					return a.do("DescribeSubnets", parameters...).texts("subnetSet/item/subnetId")
				}
				assert.Equal(t, []string{first, second}, ids(filter(1, "cidr-block", "10.250.0.0/24", "10.250.1.0/24")...))
				assert.Equal(t, []string{second}, ids(filter(1, "cidr-block", "10.250.1.*")...))
				assert.Equal(t, []string{first, second}, ids(filter(1, "cidr-block", "10.250.?.0/24")...))
				assert.Empty(t, ids(filter(1, "cidr-block", `10.250.\?.0/24`)...))
				assert.Equal(t, []string{first}, ids(filter(1, "tag-key", "kubernetes.io/role/elb")...))
				assert.Equal(t, []string{first}, ids(filter(1, "tag:kubernetes.io/role/elb", "1")...))
				assert.Empty(t, ids(with(filter(1, "tag-value", "1"), filter(2, "cidr-block", "10.250.1.0/24")...)...))
			},
		},
		"an unknown filter is refused": {
			source: "https://github.com/aws/aws-cli/issues/7225 shows the response",
			check: func(t *testing.T, a *account) {
				assert.Equal(t, "The filter 'colour' is invalid", a.fails("InvalidParameterValue", "DescribeVpcs", filter(1, "colour", "red")...))
				message := a.fails("NotImplemented", "DescribeVpcs", filter(1, "cidr-block-association.state", "associated")...)
				assert.Contains(t, message, "the filter cidr-block-association.state of DescribeVpcs", "AWS knows it")
			},
		},
		"results come in pages, also while resources are deleted": {
			source: "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/Query-Requests.html; the order is our judgement",
			check: func(t *testing.T, a *account) {
				v := a.vpc()
				var subnets []string
				for _, n := range []string{"0", "1", "2", "3", "4", "5", "6"} {
					subnets = append(subnets, a.subnet(v, "10.250."+n+".0/24"))
				}
				first := a.do("DescribeSubnets", "MaxResults", "5")
				assert.Equal(t, subnets[:5], first.texts("subnetSet/item/subnetId"))
				a.do("DeleteSubnet", "SubnetId", subnets[0])
				second := a.do("DescribeSubnets", "MaxResults", "5", "NextToken", first.text("nextToken"))
				assert.Equal(t, subnets[5:], second.texts("subnetSet/item/subnetId"))
				assert.Empty(t, second.texts("nextToken"))
				a.fails("InvalidNextToken", "DescribeSubnets", "NextToken", "?")
				a.fails("InvalidParameterCombination", "DescribeSubnets", "MaxResults", "5", "SubnetId.1", subnets[1])
				a.fails("InvalidParameterValue", "DescribeSubnets", "MaxResults", "4")
			},
		},
		"one unknown ID fails the call": {
			source: reference("DescribeVpcs"),
			check: func(t *testing.T, a *account) {
				assert.Equal(t, "The vpc ID 'vpc-0' does not exist", a.fails("InvalidVpcID.NotFound", "DescribeVpcs", "VpcId.1", a.vpc(), "VpcId.2", "vpc-0"))
			},
		},
		"zones are described by name and ID": {
			source: reference("DescribeAvailabilityZones"),
			check: func(t *testing.T, a *account) {
				assert.Equal(t, []string{"eu-west-1a", "eu-west-1b", "eu-west-1c"}, a.do("DescribeAvailabilityZones").texts("availabilityZoneInfo/item/zoneName"))
				assert.Equal(t, "eu-west-1b", a.do("DescribeAvailabilityZones", "ZoneId.1", "eu-west-1-az2").text("availabilityZoneInfo/item/zoneName"))
				a.fails("InvalidParameterValue", "DescribeAvailabilityZones", "ZoneName.1", "eu-west-1z")
			},
		},
	})
}

func TestConsistency(t *testing.T) {
	const guide = "https://docs.aws.amazon.com/ec2/latest/devguide/eventual-consistency.html"
	testBehaviours(t, map[string]behaviour{
		"a new resource is not found for a number of reads": {
			source: guide, options: []fake.Option{fake.WithLag(fake.Lag{Reads: 2})},
			check: func(t *testing.T, a *account) {
				id := a.vpc()
				a.fails("InvalidVpcID.NotFound", "DescribeVpcs", "VpcId.1", id)
				assert.Empty(t, a.do("DescribeVpcs").texts("vpcSet/item/vpcId"))
				assert.Equal(t, []string{id}, a.do("DescribeVpcs").texts("vpcSet/item/vpcId"))
			},
		},
		"a new resource is not found for a time, neither by changes": {
			source: guide, options: []fake.Option{fake.WithLag(fake.Lag{For: 200 * time.Millisecond})},
			check: func(t *testing.T, a *account) {
				id := a.vpc()
				a.fails("InvalidVpcID.NotFound", "CreateSubnet", "VpcId", id, "CidrBlock", "10.250.0.0/24")
				a.fails("InvalidVpcID.NotFound", "DescribeVpcs", "VpcId.1", id)
				require.Eventually(t, func() bool { return len(a.do("DescribeVpcs").texts("vpcSet/item/vpcId")) == 1 }, 5*time.Second, 10*time.Millisecond)
				a.subnet(id, "10.250.0.0/24")
			},
		},
		"new tags are in responses at once and in filters later": {
			source: guide, options: []fake.Option{fake.WithLag(fake.Lag{TagReads: 1})},
			check: func(t *testing.T, a *account) {
				id := a.do("CreateVpc", with([]string{"CidrBlock", "10.250.0.0/16"}, tags("vpc", "Name", "shoot")...)...).text("vpc/vpcId")
				named := func(name string) []string {
					return a.do("DescribeVpcs", filter(1, "tag:Name", name)...).texts("vpcSet/item/vpcId")
				}
				assert.Equal(t, []string{"Name"}, a.do("DescribeVpcs").texts("vpcSet/item/tagSet/item/key"))
				assert.Empty(t, named("shoot"))
				assert.Equal(t, []string{id}, named("shoot"))
				a.do("CreateTags", "ResourceId.1", id, "Tag.1.Key", "Name", "Tag.1.Value", "other")
				assert.Equal(t, []string{id}, named("shoot"))
				assert.Equal(t, []string{id}, named("other"))
			},
		},
		"the operator sees everything at once": {
			source: "no behaviour of AWS", options: []fake.Option{fake.WithLag(fake.Lag{Reads: 1, TagReads: 1})},
			check: func(t *testing.T, a *account) {
				id := a.do("CreateVpc", with([]string{"CidrBlock", "10.250.0.0/16"}, tags("vpc", "Name", "shoot")...)...).text("vpc/vpcId")
				out, err := a.Do(fake.EC2, "DescribeVpcs", url.Values{"VpcId.1": {id}, "Filter.1.Name": {"tag:Name"}, "Filter.1.Value.1": {"shoot"}})
				require.NoError(t, err)
				assert.Len(t, out.Structs("Vpcs"), 1)
				a.fails("InvalidVpcID.NotFound", "DescribeVpcs", "VpcId.1", id)
			},
		},
		"what the operator changes is visible at once": {
			source: "no behaviour of AWS", options: []fake.Option{fake.WithLag(fake.Lag{Reads: 2, TagReads: 2})},
			check: func(t *testing.T, a *account) {
				_, err := a.Do(fake.EC2, "CreateVpc", url.Values{"CidrBlock": {"10.250.0.0/16"}})
				require.NoError(t, err)
				assert.Len(t, a.do("DescribeVpcs").texts("vpcSet/item/vpcId"), 1)
				_, err = a.Do(fake.EC2, "CreateVpc", url.Values{"CidrBlock": {"10.0.0.0/8"}})
				assert.ErrorContains(t, err, "InvalidVpc.Range")
				_, err = a.Do(fake.EC2, "CreateVpc", url.Values{"Ipv4IpamPoolId": {"ipam-pool-1"}})
				assert.ErrorContains(t, err, "NotImplemented")
			},
		},
		"a call with the same client token creates nothing more": {
			source: "https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-idempotency.html",
			check: func(t *testing.T, a *account) {
				id, other := a.vpc(), a.vpc()
				create := func() string {
					return a.do("CreateRouteTable", "VpcId", id, "ClientToken", "once").text("routeTable/routeTableId")
				}
				first := create()
				assert.Equal(t, first, create())
				a.fails("IdempotentParameterMismatch", "CreateRouteTable", "VpcId", other, "ClientToken", "once")
				assert.NotEqual(t, first, a.do("CreateRouteTable", "VpcId", id, "ClientToken", "twice").text("routeTable/routeTableId"))
				assert.NotEqual(t, first, a.routeTable(id))
			},
		},
		"a failed call does not use up its client token": {
			source: judgement,
			check: func(_ *testing.T, a *account) {
				a.fails("InvalidVpcID.NotFound", "CreateRouteTable", "VpcId", "vpc-0", "ClientToken", "once")
				a.do("CreateRouteTable", "VpcId", a.vpc(), "ClientToken", "once")
			},
		},
	})
}

func TestKeyPairs(t *testing.T) {
	testBehaviours(t, map[string]behaviour{
		"a key is imported once, described by name, and deleted any number of times": {
			source: reference("ImportKeyPair") + ", DeleteKeyPair",
			check: func(t *testing.T, a *account) {
				material := base64Of(ed25519Key)
				imported := a.do("ImportKeyPair", "KeyName", "shoot-ssh-publickey", "PublicKeyMaterial", material)
				a.fails("InvalidKeyPair.Duplicate", "ImportKeyPair", "KeyName", "shoot-ssh-publickey", "PublicKeyMaterial", material)
				a.fails("InvalidKey.Format", "ImportKeyPair", "KeyName", "other", "PublicKeyMaterial", base64Of("no key"))
				shown := a.do("DescribeKeyPairs", "KeyName.1", "shoot-ssh-publickey", "IncludePublicKey", "true")
				assert.Equal(t, ed25519Key, shown.text("keySet/item/publicKey"))
				assert.Equal(t, "ed25519", shown.text("keySet/item/keyType"))
				assert.Equal(t, ed25519Fingerprint, shown.text("keySet/item/keyFingerprint"))
				assert.Empty(t, a.do("DescribeKeyPairs").texts("keySet/item/publicKey"))
				a.fails("InvalidKeyPair.NotFound", "DescribeKeyPairs", "KeyName.1", "other")
				assert.Equal(t, imported.text("keyPairId"), a.do("DeleteKeyPair", "KeyName", "shoot-ssh-publickey").text("keyPairId"))
				a.do("DeleteKeyPair", "KeyName", "shoot-ssh-publickey")
			},
		},
		"the fingerprint of an RSA key is the MD5 digest of its DER form": {
			source: "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/verify-keys.html",
			check: func(t *testing.T, a *account) {
				imported := a.do("ImportKeyPair", "KeyName", "shoot", "PublicKeyMaterial", base64Of(rsaKey))
				assert.Equal(t, rsaFingerprint, imported.text("keyFingerprint"))
			},
		},
	})
}
