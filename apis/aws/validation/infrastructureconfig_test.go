package validation_test

import (
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/apis/aws/validation"
)

// infrastructure is what the sentences below change: a configuration that is fine, and the networking that it fits.
type infrastructure struct {
	*v1alpha1.InfrastructureConfig
	networking *gardencorev1beta1.Networking
}

// newInfrastructure has two zones with created subnets.
func newInfrastructure() infrastructure {
	config := &v1alpha1.InfrastructureConfig{Networks: v1alpha1.Networks{VPC: v1alpha1.VPC{CIDR: new("10.250.0.0/16")}, Zones: []v1alpha1.Zone{
		{Name: "eu-west-1a", Workers: new("10.250.0.0/19"), Public: new("10.250.96.0/22"), Internal: new("10.250.112.0/22")},
		{Name: "eu-west-1b", Workers: new("10.250.32.0/19"), Public: new("10.250.100.0/22"), Internal: new("10.250.116.0/22")},
	}}}
	config.Default()
	return infrastructure{config, &gardencorev1beta1.Networking{
		Type: new("calico"), Nodes: new("10.250.0.0/16"), Pods: new("100.96.0.0/11"), Services: new("100.64.0.0/13"),
	}}
}

// withSubnets has two zones with existing subnets.
func withSubnets() infrastructure {
	i := newInfrastructure()
	i.Networks.VPC = v1alpha1.VPC{ID: new("vpc-1")}
	i.Networks.Zones = []v1alpha1.Zone{
		{Name: "eu-west-1a", WorkersSubnetID: new("subnet-1"), PublicSubnetID: new("subnet-1"), InternalSubnetID: new("subnet-2")},
		{Name: "eu-west-1b", WorkersSubnetID: new("subnet-3"), PublicSubnetID: new("subnet-4"), InternalSubnetID: new("subnet-5")},
	}
	return i
}

func (i infrastructure) dualStack() {
	i.networking.IPFamilies = []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv4, gardencorev1beta1.IPFamilyIPv6}
	i.networking.ProviderConfig = &runtime.RawExtension{Raw: []byte(`{"overlay":{"enabled":false}}`)}
}

func (i infrastructure) validate() field.ErrorList {
	return validation.ValidateInfrastructureConfig(i.InfrastructureConfig, nil, i.networking, field.NewPath("c"))
}

func messages(errs field.ErrorList) []string {
	var texts []string
	for _, err := range errs {
		texts = append(texts, err.Error())
	}
	return texts
}

func TestValidateInfrastructureConfig_Valid(t *testing.T) {
	for sentence, change := range map[string]func(infrastructure){
		"a VPC that is created": func(infrastructure) {},
		"an existing VPC":       func(i infrastructure) { i.Networks.VPC = v1alpha1.VPC{ID: new("vpc-0123")} },
		"an existing VPC whose range is not that of the shoot": func(i infrastructure) {
			i.Networks.VPC, i.networking.Nodes = v1alpha1.VPC{ID: new("vpc-0123")}, new("10.0.0.0/8")
		},
		"nodes without load balancers": func(i infrastructure) { i.Networks.Zones[0].Public, i.Networks.Zones[0].Internal = nil, nil },
		"gateway endpoints":            func(i infrastructure) { i.Networks.VPC.GatewayEndpoints = []string{"s3", "ecr.api"} },
		"elastic IP addresses": func(i infrastructure) {
			i.Networks.Zones[0].ElasticIPAllocationID, i.Networks.Zones[1].ElasticIPAllocationID = new("eipalloc-1"), new("eipalloc-2")
		},
		"empty elastic IP addresses, which mean none": func(i infrastructure) {
			i.Networks.Zones[0].ElasticIPAllocationID, i.Networks.Zones[1].ElasticIPAllocationID = new(""), new("")
		},
		"an existing security group": func(i infrastructure) {
			i.Networks.VPC, i.Networks.NodesSecurityGroupID = v1alpha1.VPC{ID: new("vpc-0123")}, new("sg-1")
		},
		"ignored tags": func(i infrastructure) {
			i.IgnoreTags = &v1alpha1.IgnoreTags{Keys: []string{"cost center", "name"}, KeyPrefixes: []string{"team/", "NameOf"}}
		},
		"an elastic file system": func(i infrastructure) { i.ElasticFileSystem = &v1alpha1.ElasticFileSystemConfig{Enabled: true} },
		"dual stack":             infrastructure.dualStack,
		"dual stack in a range of the VPC that contains nothing": func(i infrastructure) {
			i.dualStack()
			i.Networks.VPC.CIDR = new("192.168.0.0/16")
		},
		"a range of an IPv6 pool": func(i infrastructure) {
			i.dualStack()
			i.Networks.VPC.Ipv6IpamPool = &v1alpha1.IPAMPool{ID: new("ipam-pool-1"), CIDRBlock: new("2001:db8:0:100::/56")}
		},
		"a range of an IPv6 pool with the former switch": func(i infrastructure) {
			i.DualStack = &v1alpha1.DualStack{Enabled: true}
			i.Networks.VPC.Ipv6IpamPool = &v1alpha1.IPAMPool{ID: new("ipam-pool-1"), CIDRBlock: new("2001:db8:0:100::/56")}
		},
		"a shoot with IPv6 alone, which has no range of nodes": func(i infrastructure) {
			i.dualStack()
			i.networking.IPFamilies, i.networking.Nodes = i.networking.IPFamilies[1:], nil
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			i := newInfrastructure()
			change(i)
			assert.Empty(t, i.validate())
		})
	}
	for sentence, change := range map[string]func(infrastructure){
		"existing subnets": func(infrastructure) {},
		"existing subnets of nodes alone": func(i infrastructure) {
			for z := range i.Networks.Zones {
				i.Networks.Zones[z].PublicSubnetID, i.Networks.Zones[z].InternalSubnetID = nil, nil
			}
		},
		"an existing elastic file system": func(i infrastructure) {
			i.ElasticFileSystem = &v1alpha1.ElasticFileSystemConfig{Enabled: true, ID: new("fs-1")}
		},
		"an elastic file system that is switched off": func(i infrastructure) { i.ElasticFileSystem = &v1alpha1.ElasticFileSystemConfig{} },
	} {
		t.Run(sentence, func(t *testing.T) {
			i := withSubnets()
			change(i)
			assert.Empty(t, i.validate())
		})
	}
}

func TestValidateInfrastructureConfig_Invalid(t *testing.T) {
	const endpoint = "give the name of a service without com.amazonaws and region, like s3"
	for sentence, test := range map[string]struct {
		change func(infrastructure)
		want   []string
	}{
		"neither VPC nor range": {
			func(i infrastructure) { i.Networks.VPC = v1alpha1.VPC{} }, []string{"c.networks.vpc: Invalid value: give the id of an existing VPC, or the cidr of a new one"},
		},
		"both VPC and range": {
			func(i infrastructure) { i.Networks.VPC.ID = new("vpc-1") },
			[]string{"c.networks.vpc: Invalid value: id is that of an existing VPC, and cidr the range of a new one: remove one of the two"},
		},
		"a VPC by its name": {
			func(i infrastructure) { i.Networks.VPC = v1alpha1.VPC{ID: new("mine")} },
			[]string{`c.networks.vpc.id: Invalid value: "mine": give the ID of a VPC, like vpc-0123456789abcdef0`},
		},
		"an empty VPC ID": {
			func(i infrastructure) { i.Networks.VPC = v1alpha1.VPC{ID: new("")} },
			[]string{"c.networks.vpc.id: Required value: give the ID of a VPC, like vpc-0123456789abcdef0"},
		},
		"a VPC ID that is too long": {
			func(i infrastructure) { i.Networks.VPC = v1alpha1.VPC{ID: new("vpc-" + strings.Repeat("a", 252))} },
			[]string{"c.networks.vpc.id: Too long: may not be more than 255 bytes"},
		},
		"a range of the VPC that is none": {
			func(i infrastructure) { i.Networks.VPC.CIDR = new("10.250.0.0") },
			[]string{`c.networks.vpc.cidr: Invalid value: "10.250.0.0": give a range in CIDR notation, like 10.250.0.0/16 or 2001:db8::/64`},
		},
		"a range of the VPC that is not canonical": {
			func(i infrastructure) { i.Networks.VPC.CIDR = new("10.250.0.1/16") },
			[]string{`c.networks.vpc.cidr: Invalid value: "10.250.0.1/16": is not in canonical form: write 10.250.0.0/16`},
		},
		"a VPC that is too small for nodes and subnets": {
			func(i infrastructure) {
				i.Networks.VPC.CIDR, i.Networks.Zones = new("10.250.0.0/20"), i.Networks.Zones[:1]
			},
			[]string{
				`c.networks.vpc.cidr: Invalid value: "10.250.0.0/20": must contain spec.networking.nodes (10.250.0.0/16): change one of the two`,
				`c.networks.zones[0].internal: Invalid value: "10.250.112.0/22": must lie within networks.vpc.cidr (10.250.0.0/20): change one of the two`,
				`c.networks.zones[0].public: Invalid value: "10.250.96.0/22": must lie within networks.vpc.cidr (10.250.0.0/20): change one of the two`,
				`c.networks.zones[0].workers: Invalid value: "10.250.0.0/19": must lie within networks.vpc.cidr (10.250.0.0/20): change one of the two`,
			},
		},
		"a VPC that overlaps pods and services": {
			func(i infrastructure) {
				i.Networks.VPC.CIDR, i.Networks.Zones, i.networking.Nodes = new("100.64.0.0/10"), withoutRanges(), new("100.64.0.0/16")
			},
			[]string{
				`c.networks.zones[0].workers: Invalid value: "100.64.0.0/24": overlaps spec.networking.services (100.64.0.0/13): change one of the two`,
				`c.networks.vpc.cidr: Invalid value: "100.64.0.0/10": overlaps spec.networking.pods (100.96.0.0/11): change one of the two`,
				`c.networks.vpc.cidr: Invalid value: "100.64.0.0/10": overlaps spec.networking.services (100.64.0.0/13): change one of the two`,
			},
		},
		"endpoints with their prefix, and as URLs": {
			func(i infrastructure) { i.Networks.VPC.GatewayEndpoints = []string{"S3", "https://s3"} },
			[]string{
				`c.networks.vpc.gatewayEndpoints[0]: Invalid value: "S3": ` + endpoint, `c.networks.vpc.gatewayEndpoints[1]: Invalid value: "https://s3": ` + endpoint,
			},
		},
		"a range of an IPv6 pool for IPv4": {
			func(i infrastructure) {
				i.Networks.VPC.Ipv6IpamPool = &v1alpha1.IPAMPool{ID: new("ipam-pool-1"), CIDRBlock: new("2001:db8::/56")}
			},
			[]string{"c.networks.vpc.ipv6IpamPool.cidrBlock: Forbidden: the shoot has no IPv6: add it to spec.networking.ipFamilies, or remove the field"},
		},
		"a range of no IPv6 pool": {
			func(i infrastructure) {
				i.dualStack()
				i.Networks.VPC.Ipv6IpamPool = &v1alpha1.IPAMPool{CIDRBlock: new("2001:db8::/56")}
			},
			[]string{"c.networks.vpc.ipv6IpamPool.cidrBlock: Forbidden: the range is one of a pool: give its id, or remove the field"},
		},
		"a range of an IPv6 pool of another size": {
			func(i infrastructure) {
				i.dualStack()
				i.Networks.VPC.Ipv6IpamPool = &v1alpha1.IPAMPool{ID: new("ipam-pool-1"), CIDRBlock: new("2001:db8::/64")}
			},
			[]string{`c.networks.vpc.ipv6IpamPool.cidrBlock: Invalid value: "2001:db8::/64": the VPC takes a /56: give an IPv6 range of this size`},
		},
		"a range of an IPv6 pool that is none": {
			func(i infrastructure) {
				i.dualStack()
				i.Networks.VPC.Ipv6IpamPool = &v1alpha1.IPAMPool{ID: new("ipam-pool-1"), CIDRBlock: new("x")}
			},
			[]string{`c.networks.vpc.ipv6IpamPool.cidrBlock: Invalid value: "x": give a range in CIDR notation, like 10.250.0.0/16 or 2001:db8::/64`},
		},
		"an existing security group in a VPC that is created": {
			func(i infrastructure) { i.Networks.NodesSecurityGroupID = new("group") },
			[]string{
				`c.networks.nodesSecurityGroupID: Invalid value: "group": give the ID of a security group, like sg-0123456789abcdef0`,
				"c.networks.nodesSecurityGroupID: Forbidden: a VPC that is created cannot have the security group already: give the existing VPC in networks.vpc.id, or remove the field",
			},
		},
		"no range of nodes": {
			func(i infrastructure) { i.networking.Nodes = nil }, []string{"spec.networking.nodes: Required value: give the IPv4 range that contains the subnets of nodes"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			i := newInfrastructure()
			test.change(i)
			assert.Empty(t, cmp.Diff(test.want, messages(i.validate())))
		})
	}
}

func withoutRanges() []v1alpha1.Zone {
	return []v1alpha1.Zone{{Name: "eu-west-1a", Workers: new("100.64.0.0/24")}}
}

func TestValidateInfrastructureConfig_NoNetworking(t *testing.T) {
	i := newInfrastructure()
	i.networking = nil
	assert.Equal(t, []string{"spec.networking: Required value: describe the networking of the shoot"}, messages(i.validate()))
}

func TestValidateInfrastructureConfig_IgnoreTags(t *testing.T) {
	const reserved = "resources are found by tags with the key Name and keys that begin with kubernetes.io or gardener.cloud: remove it, or give a longer prefix"
	for sentence, test := range map[string]struct {
		tags v1alpha1.IgnoreTags
		want []string
	}{
		"the name":            {v1alpha1.IgnoreTags{Keys: []string{"Name"}}, []string{`c.ignoreTags.keys[0]: Invalid value: "Name": ` + reserved}},
		"a tag of Kubernetes": {v1alpha1.IgnoreTags{Keys: []string{"a", "kubernetes.io/role/elb"}}, []string{`c.ignoreTags.keys[1]: Invalid value: "kubernetes.io/role/elb": ` + reserved}},
		"a tag of Gardener":   {v1alpha1.IgnoreTags{Keys: []string{"gardener.cloud/a"}}, []string{`c.ignoreTags.keys[0]: Invalid value: "gardener.cloud/a": ` + reserved}},
		"an empty key": {v1alpha1.IgnoreTags{Keys: []string{""}}, []string{
			"c.ignoreTags.keys[0]: Required value: give the key of a tag: letters, digits, spaces, and any of _ . : / = + - @",
		}},
		"a key with a comma": {v1alpha1.IgnoreTags{Keys: []string{"a,b"}}, []string{
			`c.ignoreTags.keys[0]: Invalid value: "a,b": give the key of a tag: letters, digits, spaces, and any of _ . : / = + - @`,
		}},
		"a prefix of the name":             {v1alpha1.IgnoreTags{KeyPrefixes: []string{"Na"}}, []string{`c.ignoreTags.keyPrefixes[0]: Invalid value: "Na": ` + reserved}},
		"a prefix of a reserved prefix":    {v1alpha1.IgnoreTags{KeyPrefixes: []string{"kube"}}, []string{`c.ignoreTags.keyPrefixes[0]: Invalid value: "kube": ` + reserved}},
		"a prefix with a reserved prefix":  {v1alpha1.IgnoreTags{KeyPrefixes: []string{"kubernetes.io/x"}}, []string{`c.ignoreTags.keyPrefixes[0]: Invalid value: "kubernetes.io/x": ` + reserved}},
		"an empty prefix, which is of all": {v1alpha1.IgnoreTags{KeyPrefixes: []string{""}}, []string{"c.ignoreTags.keyPrefixes[0]: Required value: give the key of a tag: letters, digits, spaces, and any of _ . : / = + - @"}},
		"a prefix that is too long":        {v1alpha1.IgnoreTags{KeyPrefixes: []string{strings.Repeat("a", 129)}}, []string{"c.ignoreTags.keyPrefixes[0]: Too long: may not be more than 128 bytes"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			i := newInfrastructure()
			i.IgnoreTags = &test.tags
			assert.Empty(t, cmp.Diff(test.want, messages(i.validate())))
		})
	}
}

func TestValidateInfrastructureConfig_AcceptedBefore(t *testing.T) {
	path := field.NewPath("c")
	old := newInfrastructure()
	old.Networks.Zones = append(old.Networks.Zones, v1alpha1.Zone{Name: "eu-west-1a", Workers: new("10.250.64.0/19")})
	old.IgnoreTags = &v1alpha1.IgnoreTags{Keys: []string{"Name"}}
	require.Len(t, old.validate(), 2)

	config := old.DeepCopy()
	assert.Empty(t, validation.ValidateInfrastructureConfig(config, old.InfrastructureConfig, old.networking, path))
	config.IgnoreTags.Keys = []string{"a", "Name", "kubernetes.io"}
	errs := validation.ValidateInfrastructureConfig(config, old.InfrastructureConfig, old.networking, path)
	require.Len(t, errs, 1, "an error that is new")
	assert.Equal(t, "c.ignoreTags.keys[2]", errs[0].Field)
}
