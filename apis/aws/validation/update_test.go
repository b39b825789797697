package validation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/apis/aws/validation"
)

func TestValidateInfrastructureConfigUpdate(t *testing.T) {
	type config = *v1alpha1.InfrastructureConfig
	pool := func(c config) { c.Networks.VPC.Ipv6IpamPool = &v1alpha1.IPAMPool{ID: new("ipam-pool-1")} }
	fileSystem := func(c config) { c.ElasticFileSystem = &v1alpha1.ElasticFileSystemConfig{Enabled: true} }
	dualStack := func(c config) { c.DualStack = &v1alpha1.DualStack{Enabled: true} }
	const again = ", or create a new shoot"
	for sentence, test := range map[string]struct {
		before, after func(config)
		want          []string
	}{
		"what may change": {nil, func(c config) {
			c.EnableECRAccess, c.EnableMTUCustomizer, c.IgnoreTags = new(false), new(false), &v1alpha1.IgnoreTags{Keys: []string{"a"}}
			c.Networks.VPC.GatewayEndpoints = []string{"s3"}
			c.Networks.Zones[0].ElasticIPAllocationID = new("eipalloc-1")
			c.Networks.Zones = append(c.Networks.Zones, v1alpha1.Zone{Name: "eu-west-1c"})
		}, nil},
		"what may be set later": {func(c config) { c.Networks.Zones[0].Public, c.Networks.Zones[0].Internal = nil, nil }, func(c config) {
			pool(c)
			fileSystem(c)
			dualStack(c)
		}, nil},
		"no tenancy, which is the default": {func(c config) { c.EnableDedicatedTenancyForVPC = nil }, func(c config) { c.EnableDedicatedTenancyForVPC = new(false) }, nil},
		"another VPC": {nil, func(c config) { c.Networks.VPC = v1alpha1.VPC{ID: new("vpc-1")} }, []string{
			`c.networks.vpc.id: Invalid value: "vpc-1": is immutable: remove the field` + again,
			`c.networks.vpc.cidr: Invalid value: null: is immutable: set it back to "10.250.0.0/16"` + again,
		}},
		"another pool for IPv6": {pool, func(c config) { c.Networks.VPC.Ipv6IpamPool = nil }, []string{
			`c.networks.vpc.ipv6IpamPool: Invalid value: null: is immutable: set it back to {"id":"ipam-pool-1"}` + again,
		}},
		"a security group": {nil, func(c config) { c.Networks.NodesSecurityGroupID = new("sg-1") }, []string{
			`c.networks.nodesSecurityGroupID: Invalid value: "sg-1": is immutable: remove the field` + again,
		}},
		"a zone less": {nil, func(c config) { c.Networks.Zones = c.Networks.Zones[1:] }, []string{
			"c.networks.zones: Forbidden: zones cannot be removed, since nodes and volumes are in them: set them back to the 2 zones that there were",
		}},
		"another zone": {nil, func(c config) { c.Networks.Zones[1].Name = "eu-west-1c" }, []string{
			`c.networks.zones[1].name: Invalid value: "eu-west-1c": is immutable: set it back to "eu-west-1b"` + again,
		}},
		"other ranges": {nil, func(c config) {
			c.Networks.Zones[0].Workers, c.Networks.Zones[0].Public, c.Networks.Zones[0].Internal = new("10.250.0.0/20"), nil, new("10.250.112.0/24")
		}, []string{
			`c.networks.zones[0].workers: Invalid value: "10.250.0.0/20": is immutable: set it back to "10.250.0.0/19"` + again,
			`c.networks.zones[0].public: Invalid value: null: is immutable: set it back to "10.250.96.0/22"` + again,
			`c.networks.zones[0].internal: Invalid value: "10.250.112.0/24": is immutable: set it back to "10.250.112.0/22"` + again,
		}},
		"a subnet for nodes that existed before": {nil, func(c config) { c.Networks.Zones[0].WorkersSubnetID = new("subnet-1") }, []string{
			`c.networks.zones[0].workersSubnetID: Invalid value: "subnet-1": is immutable: remove the field` + again,
		}},
		"other subnets for load balancers": {func(c config) {
			c.Networks.Zones[0].PublicSubnetID, c.Networks.Zones[0].InternalSubnetID = new("subnet-1"), new("subnet-2")
		}, func(c config) {
			c.Networks.Zones[0].PublicSubnetID, c.Networks.Zones[0].InternalSubnetID = new("subnet-3"), nil
		}, []string{
			`c.networks.zones[0].publicSubnetID: Invalid value: "subnet-3": is immutable: set it back to "subnet-1"` + again,
			`c.networks.zones[0].internalSubnetID: Invalid value: null: is immutable: set it back to "subnet-2"` + again,
		}},
		"another tenancy": {nil, func(c config) { c.EnableDedicatedTenancyForVPC = new(true) }, []string{
			"c.enableDedicatedTenancyForVPC: Invalid value: true: is immutable: set it back to false" + again,
		}},
		"no file system": {fileSystem, func(c config) { c.ElasticFileSystem.Enabled = false }, []string{
			`c.elasticFileSystem: Invalid value: {"enabled":false}: is immutable: set it back to {"enabled":true}` + again,
		}},
		"no dual stack": {dualStack, func(c config) { c.DualStack = nil }, []string{
			"c.dualStack.enabled: Forbidden: dual stack cannot be switched off again, since nodes have IPv6 addresses: set it back to true",
		}},
	} {
		t.Run(sentence, func(t *testing.T) {
			before := newInfrastructure().InfrastructureConfig
			if test.before != nil {
				test.before(before)
			}
			after := before.DeepCopy()
			test.after(after)
			assert.Empty(t, cmp.Diff(test.want, messages(validation.ValidateInfrastructureConfigUpdate(before, after, field.NewPath("c")))))
		})
	}
}

func TestValidateControlPlaneConfig(t *testing.T) {
	class := func(name string) *v1alpha1.ControlPlaneConfig {
		return &v1alpha1.ControlPlaneConfig{LoadBalancerController: &v1alpha1.LoadBalancerControllerConfig{Enabled: true, IngressClassName: &name}}
	}
	gates := func(name string) *v1alpha1.ControlPlaneConfig {
		return &v1alpha1.ControlPlaneConfig{CloudControllerManager: &v1alpha1.CloudControllerManagerConfig{FeatureGates: map[string]bool{name: true}}}
	}
	for sentence, test := range map[string]struct {
		config, old *v1alpha1.ControlPlaneConfig
		want        []string
	}{
		"nothing":           {config: &v1alpha1.ControlPlaneConfig{}},
		"a class":           {config: class("alb.example")},
		"a feature gate":    {config: gates("Some1")},
		"no name":           {config: class(""), want: []string{"c.loadBalancerController.ingressClassName: Required value: give the name of a class, like alb, or remove the field"}},
		"a name that is no": {config: class("A_b"), want: []string{`c.loadBalancerController.ingressClassName: Invalid value: "A_b": give the name of a class, like alb, or remove the field`}},
		"a gate that is no": {config: gates("a=b"), want: []string{"c.cloudControllerManager.featureGates[a=b]: Invalid value: \"a=b\": give the name of a feature gate: letters and digits, a letter first"}},
		"as before":         {config: class(""), old: class("")},
		"worse than before": {config: class("A_b"), old: class(""), want: []string{`c.loadBalancerController.ingressClassName: Invalid value: "A_b": give the name of a class, like alb, or remove the field`}},
	} {
		t.Run(sentence, func(t *testing.T) {
			assert.Empty(t, cmp.Diff(test.want, messages(validation.ValidateControlPlaneConfig(test.config, test.old, field.NewPath("c")))))
		})
	}
}

func TestValidateBackupBucketConfig(t *testing.T) {
	for sentence, test := range map[string]struct {
		change func(*v1alpha1.ImmutableConfig)
		want   []string
	}{
		"compliance": {func(*v1alpha1.ImmutableConfig) {}, nil},
		"governance": {func(i *v1alpha1.ImmutableConfig) { i.Mode = "governance" }, nil},
		"another type, period and mode": {
			func(i *v1alpha1.ImmutableConfig) {
				i.RetentionType, i.RetentionPeriod.Duration, i.Mode = "object", 0, ""
			},
			[]string{
				`c.immutability.retentionType: Invalid value: "object": set it to bucket`,
				`c.immutability.retentionPeriod: Invalid value: "0s": S3 counts in days: give a multiple of 24h`,
				`c.immutability.mode: Invalid value: "": choose one of "governance", "compliance"`,
			},
		},
		"a day and an hour": {
			func(i *v1alpha1.ImmutableConfig) { i.RetentionPeriod.Duration = 25 * 60 * 60 * 1e9 },
			[]string{`c.immutability.retentionPeriod: Invalid value: "25h0m0s": S3 counts in days: give a multiple of 24h`},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			config := immutableBucket()
			test.change(config.Immutability)
			assert.Empty(t, cmp.Diff(test.want, messages(validation.ValidateBackupBucketConfig(config, field.NewPath("c")))))
		})
	}
	assert.Empty(t, validation.ValidateBackupBucketConfig(&v1alpha1.BackupBucketConfig{}, field.NewPath("c")))
}

func TestValidateBackupBucketConfigUpdate(t *testing.T) {
	for sentence, test := range map[string]struct {
		before, after func(*v1alpha1.BackupBucketConfig)
		want          []string
	}{
		"a longer period": {nil, func(c *v1alpha1.BackupBucketConfig) { c.Immutability.RetentionPeriod.Duration *= 2 }, nil},
		"switched off":    {nil, func(c *v1alpha1.BackupBucketConfig) { c.Immutability = nil }, nil},
		"a shorter period of governance": {
			func(c *v1alpha1.BackupBucketConfig) { c.Immutability.Mode = "governance" },
			func(c *v1alpha1.BackupBucketConfig) { c.Immutability.RetentionPeriod.Duration /= 2 }, nil,
		},
		"a shorter period of compliance": {
			nil, func(c *v1alpha1.BackupBucketConfig) { c.Immutability.RetentionPeriod.Duration /= 2 },
			[]string{"c.immutability.retentionPeriod: Forbidden: with compliance it cannot become shorter: give 96h0m0s or more"},
		},
		"governance instead of compliance": {
			nil, func(c *v1alpha1.BackupBucketConfig) { c.Immutability.Mode = "governance" },
			[]string{"c.immutability.mode: Forbidden: compliance cannot be given up: set it back to compliance"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			before := immutableBucket()
			if test.before != nil {
				test.before(before)
			}
			after := before.DeepCopy()
			test.after(after)
			assert.Empty(t, cmp.Diff(test.want, messages(validation.ValidateBackupBucketConfigUpdate(before, after, field.NewPath("c")))))
		})
	}
}

func immutableBucket() *v1alpha1.BackupBucketConfig {
	config := &v1alpha1.BackupBucketConfig{Immutability: &v1alpha1.ImmutableConfig{RetentionType: "bucket", Mode: "compliance"}}
	config.Immutability.RetentionPeriod.Duration = 96 * 60 * 60 * 1e9
	return config
}
