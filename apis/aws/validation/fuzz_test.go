package validation_test

import (
	"os"
	"path/filepath"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/apis/aws/validation"
)

// FuzzShoot feeds the validation of Shoots with anything. It may not panic, and a Shoot that stays as it is stays valid, whatever it is.
func FuzzShoot(f *testing.F) {
	for _, name := range []string{"infrastructureconfig", "controlplaneconfig", "workerconfig"} {
		document, err := os.ReadFile(filepath.Join("..", "v1alpha1", "testdata", "upstream", name+".yaml"))
		require.NoError(f, err)
		data, err := yaml.YAMLToJSON(document)
		require.NoError(f, err)
		f.Add(data, data, data, "10.250.0.0/16", true)
	}
	const start = `{"apiVersion":"aws.provider.extensions.gardener.cloud/v1alpha1","kind":`
	f.Add([]byte(start+`"InfrastructureConfig","networks":{"zones":[{"workers":"::/0","public":"0.0.0.0/0"},{"workersSubnetID":"","publicSubnetID":null}]}}`),
		[]byte(start+`"ControlPlaneConfig","cloudControllerManager":{"featureGates":{"":true}}}`),
		[]byte(start+`"WorkerConfig","networkInterfaces":[{"networkCardIndexRange":{"from":9223372036854775807,"to":-9223372036854775808}}]}`), "::/0", false)

	f.Fuzz(func(t *testing.T, infrastructure, controlPlane, worker []byte, nodes string, ipv6 bool) {
		c := newCluster()
		c.networking.Nodes = &nodes
		if ipv6 {
			c.networking.IPFamilies = []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv6}
		}
		c.afterwards = func(provider *gardencorev1beta1.Provider) {
			provider.InfrastructureConfig, provider.ControlPlaneConfig = &runtime.RawExtension{Raw: infrastructure}, &runtime.RawExtension{Raw: controlPlane}
			provider.Workers[0].ProviderConfig = &runtime.RawExtension{Raw: worker}
		}
		shoot := c.write(t)
		validation.ValidateShoot(shoot, nil, c.in)
		require.Empty(t, validation.ValidateShoot(shoot, shoot.DeepCopy(), c.in))
		require.False(t, validation.ShootNeedsValidation(shoot, shoot.DeepCopy()))
		validation.ValidateShoot(newCluster().write(t), shoot, c.in)
	})
}

// FuzzCloudProfile feeds the validation of CloudProfiles with anything. It may not panic, and what is valid has an AMI for every machine.
func FuzzCloudProfile(f *testing.F) {
	document, err := os.ReadFile(filepath.Join("..", "v1alpha1", "testdata", "upstream", "cloudprofileconfig.yaml"))
	require.NoError(f, err)
	data, err := yaml.YAMLToJSON(document)
	require.NoError(f, err)
	f.Add(data, false)
	for _, profile := range []cloudProfile{newCloudProfile(), withCapabilities()} {
		raw, err := v1alpha1.Encode(profile.config)
		require.NoError(f, err)
		f.Add(raw.Raw, len(profile.spec.MachineCapabilities) > 0)
	}
	f.Fuzz(func(t *testing.T, data []byte, capabilities bool) {
		profile, machine := newCloudProfile(), v1alpha1.ImageQuery{Name: "linux", Version: "1"}
		if capabilities {
			profile = withCapabilities()
			machine.Capabilities, machine.Definitions = profile.spec.MachineImages[0].Versions[0].CapabilityFlavors[0].Capabilities, profile.spec.MachineCapabilities
		}
		config, err := v1alpha1.DecodeCloudProfileConfigStrictly(&runtime.RawExtension{Raw: data})
		if err != nil {
			return
		}
		profile.config = config
		if len(profile.validate()) > 0 {
			return
		}
		var found int
		for _, region := range profile.spec.Regions {
			machine.Region = region.Name
			found += len(config.BestMachineImages(machine))
		}
		require.NotZero(t, found)
	})
}

// TestExamples_Valid checks the documents that the reference page shows.
func TestExamples_Valid(t *testing.T) {
	read := func(name string) *runtime.RawExtension {
		document, err := os.ReadFile(filepath.Join("..", "v1alpha1", "testdata", "examples", name))
		require.NoError(t, err)
		data, err := yaml.YAMLToJSON(document)
		require.NoError(t, err)
		return &runtime.RawExtension{Raw: data}
	}
	for _, infrastructure := range []string{"1-infrastructure.yaml", "2-existing-subnets.yaml"} {
		for _, pool := range []string{"4-worker.yaml", "5-worker-fabric.yaml"} {
			t.Run(infrastructure+" with "+pool, func(t *testing.T) {
				c := newCluster()
				c.worker.Zones = c.worker.Zones[:1]
				c.afterwards = func(provider *gardencorev1beta1.Provider) {
					provider.InfrastructureConfig, provider.ControlPlaneConfig = read(infrastructure), read("3-controlplane.yaml")
					provider.Workers[0].ProviderConfig = read(pool)
				}
				require.Empty(t, validation.ValidateShoot(c.write(t), nil, c.in))
			})
		}
	}
}
