package validation_test

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/apis/openstack/validation"
)

// namespacedProfile is a NamespacedCloudProfile that adds a version and an image to a parent.
type namespacedProfile struct {
	parent *cloudProfile
	config *v1alpha1.CloudProfileConfig
	spec   *gardencorev1beta1.NamespacedCloudProfileSpec
}

func newNamespacedProfile(t *testing.T) *namespacedProfile {
	t.Helper()
	return &namespacedProfile{
		parent: newCloudProfile(t),
		config: &v1alpha1.CloudProfileConfig{MachineImages: []v1alpha1.MachineImages{
			{Name: "gardenlinux", Versions: []v1alpha1.MachineImageVersion{{Version: "1.1.0", Image: "mine"}}},
			{Name: "mine", Versions: []v1alpha1.MachineImageVersion{{Version: "1.0.0", Regions: []v1alpha1.RegionIDMapping{
				{Name: "asia", ID: glanceID}, {Name: "asia", ID: glanceID, Architecture: new("arm64")},
			}}}},
		}},
		spec: &gardencorev1beta1.NamespacedCloudProfileSpec{MachineImages: []gardencorev1beta1.MachineImage{
			{Name: "coreos", Versions: []gardencorev1beta1.MachineImageVersion{offeredVersion("2135.6.0")}}, // expires at another time
			{Name: "gardenlinux", Versions: []gardencorev1beta1.MachineImageVersion{offeredVersion("1.1.0", "amd64")}},
			{Name: "mine", Versions: []gardencorev1beta1.MachineImageVersion{offeredVersion("1.0.0", "arm64", "amd64")}},
		}},
	}
}

func (a *namespacedProfile) validate() field.ErrorList {
	parent := validation.Parent{Spec: a.parent.spec, Config: a.parent.config}
	return validation.ValidateNamespacedCloudProfileConfig(a.config, a.spec, parent, field.NewPath("spec", "providerConfig"))
}

func TestValidateNamespacedCloudProfileConfig_Valid(t *testing.T) {
	for sentence, change := range map[string]func(*namespacedProfile){
		"a version and an image more":         func(*namespacedProfile) {},
		"nothing":                             func(a *namespacedProfile) { a.config.MachineImages, a.spec.MachineImages = nil, nil },
		"empty lists of what the parent says": func(a *namespacedProfile) { a.config.Constraints.FloatingPools = []v1alpha1.FloatingPool{} },
		"an older version that the parent's config maps already": func(a *namespacedProfile) {
			a.spec.MachineImages[1].Versions = append(a.spec.MachineImages[1].Versions, offeredVersion("0.9.0"))
		},
		"architectures, of a parent that works with capabilities": func(a *namespacedProfile) { a.parent.withCapabilities() },
		"flavors, of a parent that works with capabilities": func(a *namespacedProfile) {
			a.parent.withCapabilities()
			version := &a.spec.MachineImages[1].Versions[0]
			version.Architectures, version.CapabilityFlavors = nil, []gardencorev1beta1.MachineImageFlavor{{Capabilities: capabilitySet{"architecture": {"arm64"}}}}
			a.config.MachineImages[0].Versions[0] = v1alpha1.MachineImageVersion{Version: "1.1.0", CapabilityFlavors: []v1alpha1.MachineImageFlavor{
				{Image: "mine", Capabilities: capabilitySet{"architecture": {"arm64"}}},
			}}
		},
		"flavors, of a parent that works without": func(a *namespacedProfile) {
			version := &a.spec.MachineImages[1].Versions[0]
			version.Architectures, version.CapabilityFlavors = nil, []gardencorev1beta1.MachineImageFlavor{{Capabilities: capabilitySet{"architecture": {"arm64"}}}}
			a.config.MachineImages[0].Versions[0] = v1alpha1.MachineImageVersion{Version: "1.1.0", CapabilityFlavors: []v1alpha1.MachineImageFlavor{
				{Image: "mine", Capabilities: capabilitySet{"architecture": {"arm64"}, "boot": {"uefi"}}},
			}}
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			a := newNamespacedProfile(t)
			change(a)
			require.Empty(t, a.validate())
		})
	}
}

func TestValidateNamespacedCloudProfileConfig_Invalid(t *testing.T) {
	for sentence, test := range map[string]struct {
		change        func(*namespacedProfile)
		field, remedy string // field is below spec.providerConfig
	}{
		"a Keystone":               {func(a *namespacedProfile) { a.config.KeyStoneURL = "https://keystone" }, "keystoneURL", "may only add machineImages"},
		"a storage class":          {func(a *namespacedProfile) { a.config.StorageClasses = []v1alpha1.StorageClassDefinition{{}} }, "storageClasses", "may only add machineImages"},
		"a floating pool":          {func(a *namespacedProfile) { a.config.Constraints.FloatingPools = []v1alpha1.FloatingPool{{}} }, "constraints", "may only add machineImages"},
		"what turns something off": {func(a *namespacedProfile) { a.config.UseSNAT = new(false) }, "useSNAT", "remove the field"},
		"a version that the parent has": {
			func(a *namespacedProfile) {
				a.config.MachineImages[0].Versions = append(a.config.MachineImages[0].Versions, v1alpha1.MachineImageVersion{Version: "1.0.0", Image: "mine"})
			}, "machineImages[0].versions[1]", "the parent CloudProfile has gardenlinux 1.0.0 already",
		},
		"a version that is not listed": {
			func(a *namespacedProfile) {
				a.config.MachineImages[1].Versions = append(a.config.MachineImages[1].Versions, v1alpha1.MachineImageVersion{Version: "2", Image: "mine"})
			}, "machineImages[1].versions[1]", "add it there",
		},
		"an image that is not listed": {
			func(a *namespacedProfile) {
				a.config.MachineImages = append(a.config.MachineImages, v1alpha1.MachineImages{Name: "b", Versions: a.config.MachineImages[0].Versions})
			}, "machineImages[2].versions[0]", "add it there",
		},
		"a version that is not mapped": {
			func(a *namespacedProfile) {
				a.spec.MachineImages[1].Versions = append(a.spec.MachineImages[1].Versions, offeredVersion("1.2.0"))
			}, "machineImages", "gardenlinux 1.2.0 for amd64",
		},
		"an architecture that is not mapped": {
			func(a *namespacedProfile) {
				a.spec.MachineImages[1].Versions[0].Architectures = []string{"amd64", "arm64"}
			}, "machineImages", "gardenlinux 1.1.0 for arm64",
		},
		"no config for new versions": {
			func(a *namespacedProfile) {
				a.config, a.spec.MachineImages = &v1alpha1.CloudProfileConfig{}, a.spec.MachineImages[:2]
			}, "machineImages", "gardenlinux 1.1.0 for amd64",
		},
		"a region that the parent does not have": {
			func(a *namespacedProfile) {
				a.spec.MachineImages[2].Versions[0].Architectures = nil
				a.config.MachineImages[1].Versions[0].Regions = []v1alpha1.RegionIDMapping{{Name: "mars", ID: glanceID}}
			}, "machineImages", "mine 1.0.0 for amd64",
		},
		"an ID that is a name": {
			func(a *namespacedProfile) { a.config.MachineImages[1].Versions[0].Regions[0].ID = "mine" }, "machineImages[1].versions[0].regions[0].id", "not its name",
		},
		"a flavor that the parent does not define": {
			func(a *namespacedProfile) {
				a.parent.withCapabilities()
				a.config.MachineImages[0].Versions[0] = v1alpha1.MachineImageVersion{Version: "1.1.0", CapabilityFlavors: []v1alpha1.MachineImageFlavor{
					{Image: "mine", Capabilities: capabilitySet{"architecture": {"amd64"}, "disk": {"nvme"}}},
				}}
			}, "machineImages[0].versions[0].capabilityFlavors[0].capabilities.disk", "spec.machineCapabilities does not define it",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			a := newNamespacedProfile(t)
			test.change(a)
			errs := a.validate()
			require.Len(t, errs, 1, "%v", errs)
			require.Equal(t, "spec.providerConfig."+test.field, errs[0].Field)
			require.Contains(t, errs[0].Error(), test.remedy)
		})
	}
}
