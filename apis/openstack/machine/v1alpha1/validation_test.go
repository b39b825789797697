package v1alpha1_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/openstack/machine/v1alpha1"
)

// validConfig is a configuration that says all that a machine needs.
func validConfig() *v1alpha1.MachineProviderConfig {
	config := v1alpha1.NewMachineProviderConfig()
	config.Spec = v1alpha1.MachineProviderConfigSpec{
		ImageID: "image", Region: "north", AvailabilityZone: "north-1", FlavorName: "small", KeyName: "key",
		SecurityGroups: []string{"nodes"}, NetworkID: "network", SubnetIDs: []string{"subnet"}, PodNetworkCIDRs: []string{"100.96.0.0/11"},
		Tags: map[string]string{"kubernetes.io-cluster-shoot--dev--one": "1", "kubernetes.io-role-node": "1"},
	}
	return config
}

func TestValidate_Valid(t *testing.T) {
	for sentence, change := range map[string]func(*v1alpha1.MachineProviderConfigSpec){
		"all that is needed":                     func(*v1alpha1.MachineProviderConfigSpec) {},
		"an image by its name":                   func(s *v1alpha1.MachineProviderConfigSpec) { s.ImageID, s.ImageName = "", "gardenlinux" },
		"an image by both, of which the ID wins": func(s *v1alpha1.MachineProviderConfigSpec) { s.ImageName = "gardenlinux" },
		"no key pair, in a shoot without SSH":    func(s *v1alpha1.MachineProviderConfigSpec) { s.KeyName = "" },
		"several networks": func(s *v1alpha1.MachineProviderConfigSpec) {
			s.NetworkID, s.Networks = "", []v1alpha1.Network{{ID: "network", PodNetwork: true}, {Name: "storage"}}
		},
		"a boot volume and data volumes": func(s *v1alpha1.MachineProviderConfigSpec) {
			s.RootDiskSize, s.DataVolumes = 50, []v1alpha1.DataVolume{{Name: "one", Size: 1}, {Name: "two", Size: 2}}
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			config := validConfig()
			change(&config.Spec)
			assert.Empty(t, config.Validate(field.NewPath("providerSpec")))
		})
	}
}

func TestValidate_Invalid(t *testing.T) {
	for path, change := range map[string]func(*v1alpha1.MachineProviderConfigSpec){
		"region":           func(s *v1alpha1.MachineProviderConfigSpec) { s.Region = "" },
		"availabilityZone": func(s *v1alpha1.MachineProviderConfigSpec) { s.AvailabilityZone = "" },
		"flavorName":       func(s *v1alpha1.MachineProviderConfigSpec) { s.FlavorName = "" },
		"imageID":          func(s *v1alpha1.MachineProviderConfigSpec) { s.ImageID = "" },
		"tags": func(s *v1alpha1.MachineProviderConfigSpec) {
			s.Tags = map[string]string{"kubernetes.io-cluster-": "1", "kubernetes.io-role-node": "1"}
		},
		"networkID": func(s *v1alpha1.MachineProviderConfigSpec) { s.NetworkID = "" },
		"networks[0].id": func(s *v1alpha1.MachineProviderConfigSpec) {
			s.NetworkID, s.Networks = "", []v1alpha1.Network{{PodNetwork: true}}
		},
		"networks[0].name": func(s *v1alpha1.MachineProviderConfigSpec) {
			s.NetworkID, s.Networks = "", []v1alpha1.Network{{ID: "network", Name: "name"}}
		},
		"podNetworkCIDRs":     func(s *v1alpha1.MachineProviderConfigSpec) { s.PodNetworkCIDRs = nil },
		"rootDiskSize":        func(s *v1alpha1.MachineProviderConfigSpec) { s.RootDiskSize = -1 },
		"dataVolumes[0].name": func(s *v1alpha1.MachineProviderConfigSpec) { s.DataVolumes = []v1alpha1.DataVolume{{Size: 1}} },
		"dataVolumes[1].name": func(s *v1alpha1.MachineProviderConfigSpec) {
			s.DataVolumes = []v1alpha1.DataVolume{{Name: "one", Size: 1}, {Name: "one", Size: 1}}
		},
		"dataVolumes[0].size": func(s *v1alpha1.MachineProviderConfigSpec) { s.DataVolumes = []v1alpha1.DataVolume{{Name: "one"}} },
	} {
		t.Run(path, func(t *testing.T) {
			config := validConfig()
			change(&config.Spec)
			errs := config.Validate(field.NewPath("providerSpec"))
			if assert.Len(t, errs, 1) {
				assert.Equal(t, "providerSpec.spec."+path, errs[0].Field)
			}
		})
	}
	both := validConfig()
	both.Spec.Networks = []v1alpha1.Network{{ID: "network"}}
	assert.NotEmpty(t, both.Validate(nil), "one network and several")
}
