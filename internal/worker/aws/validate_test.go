package aws_test

import (
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/worker"
)

func TestValidate(t *testing.T) {
	for sentence, tc := range map[string]struct {
		mutate      func(*environment)
		path, words string
	}{
		"image without mapping": {
			func(env *environment) { env.pools[0].MachineImage.Version = "1.2.3" }, "spec.pools[0].machineImage",
			`the machines of pool "cpu" have no image: the CloudProfile maps machine image gardenlinux 1.2.3 in region "eu-west-1" for architecture [amd64] ` +
				`to no AMI; choose another version of the image, or ask the CloudProfile's admin to correct machineImages`,
		},
		"image without mapping for the architecture": {
			func(env *environment) {
				env.pools[0].MachineImage.Version, env.pools[0].Architecture = "1592.1.0", new("arm64")
			},
			"spec.pools[0].machineImage", "for architecture [arm64] to no AMI",
		},
		"no zone": {func(env *environment) { env.pools[0].Zones = nil }, "spec.pools[0].zones", "at least one"},
		"a zone that the infrastructure does not have": {
			func(env *environment) { env.pools[0].Zones[1] = "eu-west-1c" }, "spec.pools[0].zones[1]", `choose one of "eu-west-1a", "eu-west-1b"`,
		},
		"no volume": {func(env *environment) { env.pools[0].Volume = nil }, "spec.pools[0].volume", "machines start from a volume"},
		"invalid size": {
			func(env *environment) {
				env.pools[0].DataVolumes = []extensionsv1alpha1.DataVolume{{Name: "a", Size: "x", Type: new("gp3")}}
			}, "spec.pools[0].dataVolumes[0].size", "like 50Gi",
		},
		"io1 without IOPS": {func(env *environment) { env.pools[0].Volume.Type = new("io1") }, "spec.pools[0].providerConfig.volume.iops", "need it"},
		"the configuration of a second pool": {
			func(env *environment) {
				_, config := env.addPool("second")
				config.InstanceMarketOptions = &awsv1alpha1.InstanceMarketOptions{MarketType: "cheap"}
			}, "spec.pools[1].providerConfig.instanceMarketOptions.marketType", "choose one of",
		},
		"an unknown field": {
			func(env *environment) {
				env.pools[0].ProviderConfig = &runtime.RawExtension{Raw: []byte(`{"apiVersion":"aws.provider.extensions.gardener.cloud/v1alpha1","kind":"WorkerConfig","x":1}`)}
			}, "spec.pools[0].providerConfig", `unknown field "x"`,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			env := newEnvironment(t)
			tc.mutate(env)
			errs := env.driver.Validate(env.shootInput())
			require.Len(t, errs, 1)
			assert.Equal(t, tc.path, errs[0].Field)
			assert.Contains(t, errs[0].Error(), tc.words)
		})
	}
}

func TestValidate_CloudProfile(t *testing.T) {
	env := newEnvironment(t)
	shoot := env.shootInput()
	shoot.Cluster.CloudProfile.Spec.ProviderConfig.Raw = []byte(`{}`)
	errs := env.driver.Validate(shoot)
	require.Len(t, errs, 1)
	assert.Equal(t, "cloudProfile.spec.providerConfig", errs[0].Field)
	_, err := env.driver.Prepare(t.Context(), shoot)
	assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
}

// The Infrastructure itself reports a configuration that cannot be decoded.
func TestValidate_InfrastructureConfig(t *testing.T) {
	env := newEnvironment(t)
	shoot := env.shootInput()
	shoot.Cluster.Shoot.Spec.Provider.InfrastructureConfig = nil
	assert.Empty(t, env.driver.Validate(shoot))
}

// Users cannot correct what the Infrastructure has reported.
func TestDriver_IncompleteInfrastructureStatus(t *testing.T) {
	const path = "spec.infrastructureProviderStatus."
	for sentence, tc := range map[string]struct {
		mutate   func(*environment)
		wantText string
	}{
		"missing": {
			func(env *environment) { env.infra = awsv1alpha1.NewInfrastructureStatus() },
			path + `vpc.subnets: the Infrastructure has not reported the subnet of nodes in zone "eu-west-1a" yet, which machines require`,
		},
		"no subnet in one of the zones": {
			func(env *environment) { env.infra.VPC.Subnets = env.infra.VPC.Subnets[:2] },
			path + `vpc.subnets: the Infrastructure has not reported the subnet of nodes in zone "eu-west-1b" yet`,
		},
		"no security group": {
			func(env *environment) { env.infra.VPC.SecurityGroups = nil }, path + "vpc.securityGroups: the Infrastructure has not reported the security group",
		},
		"no instance profile": {
			func(env *environment) { env.infra.IAM.InstanceProfiles = nil },
			path + "iam.instanceProfiles: the Infrastructure has not reported the instance profile",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			env := newEnvironment(t)
			tc.mutate(env)
			assertTransient(t, env, env.shootInput(), tc.wantText)
		})
	}
	env := newEnvironment(t)
	shoot := env.shootInput()
	shoot.Worker.Spec.InfrastructureProviderStatus.Raw = []byte(`{}`)
	assertTransient(t, env, shoot, "decoding spec.infrastructureProviderStatus")

	env = newEnvironment(t)
	env.infra.IAM.InstanceProfiles = nil
	env.configs[0].IAMInstanceProfile = &awsv1alpha1.IAMInstanceProfile{Name: new("mine")}
	env.prepare() // does not need the shoot's
}

func assertTransient(t *testing.T, env *environment, shoot *worker.Shoot, text string) {
	t.Helper()
	require.Empty(t, env.driver.Validate(shoot))
	_, err := env.driver.Prepare(t.Context(), shoot)
	require.ErrorContains(t, err, text)
	assert.Equal(t, cloud.Unknown, cloud.KindOf(err))
}
