package v1alpha1_test

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/aws/v1alpha1"
)

// definitions are the capabilities of a CloudProfile that prefers amd64 and UEFI.
func definitions() []gardencorev1beta1.CapabilityDefinition {
	return []gardencorev1beta1.CapabilityDefinition{
		{Name: "architecture", Values: []string{"amd64", "arm64"}}, {Name: "bootMode", Values: []string{"uefi", "bios"}},
	}
}

func imageProfile() *v1alpha1.CloudProfileConfig {
	type mapping = v1alpha1.RegionAMIMapping
	return &v1alpha1.CloudProfileConfig{MachineImages: []v1alpha1.MachineImages{{Name: "linux", Versions: []v1alpha1.MachineImageVersion{
		{Version: "1", Regions: []mapping{
			{Name: "west", AMI: "ami-amd"}, {Name: "west", AMI: "ami-second"}, {Name: "west", AMI: "ami-arm", Architecture: new("arm64")}, {Name: "east", AMI: "ami-east"},
		}},
		{Version: "2", CapabilityFlavors: []v1alpha1.MachineImageFlavor{
			{Regions: []mapping{{Name: "west", AMI: "ami-bios"}}, Capabilities: gardencorev1beta1.Capabilities{"architecture": {"amd64"}, "bootMode": {"bios"}}},
			{Regions: []mapping{{Name: "west", AMI: "ami-uefi"}}, Capabilities: gardencorev1beta1.Capabilities{"architecture": {"amd64"}, "bootMode": {"uefi"}}},
		}},
		{Version: "3", CapabilityFlavors: []v1alpha1.MachineImageFlavor{
			{Regions: []mapping{{Name: "west", AMI: "ami-a"}}}, {Regions: []mapping{{Name: "west", AMI: "ami-b"}}},
		}},
	}}}}
}

func TestFindMachineImage(t *testing.T) {
	architecture := func(name string) gardencorev1beta1.Capabilities {
		return gardencorev1beta1.Capabilities{"architecture": {name}}
	}
	for sentence, test := range map[string]struct {
		query v1alpha1.ImageQuery
		want  v1alpha1.MachineImage
		err   string
	}{
		"the first AMI of the default architecture": {
			v1alpha1.ImageQuery{Version: "1", Region: "west"}, v1alpha1.MachineImage{AMI: "ami-amd", Architecture: new("amd64")}, "",
		},
		"by architecture": {
			v1alpha1.ImageQuery{Version: "1", Region: "west", Architecture: "arm64"}, v1alpha1.MachineImage{AMI: "ami-arm", Architecture: new("arm64")}, "",
		},
		"a mapping by architecture for a CloudProfile with capabilities": {
			v1alpha1.ImageQuery{Version: "1", Region: "west", Capabilities: architecture("arm64"), Definitions: definitions()},
			v1alpha1.MachineImage{AMI: "ami-arm", Capabilities: architecture("arm64")},
			"",
		},
		"the preferred capability": {
			v1alpha1.ImageQuery{Version: "2", Region: "west", Definitions: definitions()},
			v1alpha1.MachineImage{AMI: "ami-uefi", Capabilities: gardencorev1beta1.Capabilities{"architecture": {"amd64"}, "bootMode": {"uefi"}}},
			"",
		},
		"no AMI of the architecture in the region": {
			v1alpha1.ImageQuery{Version: "1", Region: "east", Architecture: "arm64"},
			v1alpha1.MachineImage{},
			`the CloudProfile maps machine image linux 1 in region "east" for architecture [arm64] to no AMI`,
		},
		"a version that is not mapped": {
			v1alpha1.ImageQuery{Version: "9", Region: "east"}, v1alpha1.MachineImage{}, "to no AMI",
		},
		"AMIs that are alike": {
			v1alpha1.ImageQuery{Version: "3", Region: "west", Definitions: definitions()}, v1alpha1.MachineImage{}, "to 2 AMIs that it does not tell apart",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			test.query.Name = "linux"
			image, err := imageProfile().FindMachineImage(test.query)
			if test.err != "" {
				require.ErrorContains(t, err, test.err)
				return
			}
			require.NoError(t, err)
			test.want.Name, test.want.Version = "linux", test.query.Version
			assert.Empty(t, cmp.Diff(&test.want, image))
		})
	}
}

func TestWorkerStatus_FindMachineImage(t *testing.T) {
	status := &v1alpha1.WorkerStatus{MachineImages: []v1alpha1.MachineImage{
		{Name: "linux", Version: "1", AMI: "ami-1"}, {Name: "linux", Version: "2", AMI: "ami-2", Capabilities: gardencorev1beta1.Capabilities{"architecture": {"arm64"}}},
	}}
	query := v1alpha1.ImageQuery{Name: "linux", Version: "1", Region: "west"}
	assert.Empty(t, cmp.Diff(&v1alpha1.MachineImage{Name: "linux", Version: "1", AMI: "ami-1", Architecture: new("amd64")}, status.FindMachineImage(query)))

	query.Definitions = definitions()
	want := &v1alpha1.MachineImage{Name: "linux", Version: "1", AMI: "ami-1", Capabilities: gardencorev1beta1.Capabilities{"architecture": {"amd64"}}}
	assert.Empty(t, cmp.Diff(want, status.FindMachineImage(query)), "an entry is converted to the form of the CloudProfile")

	query = v1alpha1.ImageQuery{Name: "linux", Version: "2", Region: "west", Architecture: "arm64"}
	want = &v1alpha1.MachineImage{Name: "linux", Version: "2", AMI: "ami-2", Architecture: new("arm64")}
	assert.Empty(t, cmp.Diff(want, status.FindMachineImage(query)), "and back")
	query.Architecture = "amd64"
	assert.Nil(t, status.FindMachineImage(query))
}

func TestMergeProviderConfigs(t *testing.T) {
	own := &v1alpha1.CloudProfileConfig{MachineImages: []v1alpha1.MachineImages{{Name: "linux", Versions: []v1alpha1.MachineImageVersion{
		{Version: "4", Regions: []v1alpha1.RegionAMIMapping{{Name: "west", AMI: "ami-own"}}},
	}}}}
	encode := func(config *v1alpha1.CloudProfileConfig) *runtime.RawExtension {
		raw, err := v1alpha1.Encode(config)
		require.NoError(t, err)
		return raw
	}
	raw, err := v1alpha1.MergeProviderConfigs(encode(imageProfile()), encode(own))
	require.NoError(t, err)
	merged, err := v1alpha1.DecodeCloudProfileConfigStrictly(raw)
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(v1alpha1.MergeMachineImages(imageProfile().MachineImages, own.MachineImages), merged.MachineImages))

	_, err = v1alpha1.MergeProviderConfigs(&runtime.RawExtension{Raw: []byte("{}")}, encode(own))
	require.ErrorContains(t, err, "reading the parent's config")
}

func TestCapabilityFlavors(t *testing.T) {
	assert.Empty(t, imageProfile().CapabilityFlavors()("linux", "1"))
	assert.Len(t, imageProfile().CapabilityFlavors()("linux", "2"), 2)
	assert.NotNil(t, imageProfile().CapabilityFlavors()("linux", "3")[0].Capabilities)
}
