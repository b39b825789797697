package v1alpha1_test

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

type capabilities = gardencorev1beta1.Capabilities

// images maps versions of one machine image in all the ways that there are.
func images(t *testing.T) *v1alpha1.CloudProfileConfig {
	t.Helper()
	return &v1alpha1.CloudProfileConfig{MachineImages: []v1alpha1.MachineImages{
		{Name: "flatcar", Versions: []v1alpha1.MachineImageVersion{{Version: "1.0.0", Image: "flatcar"}}},
		{Name: "gardenlinux", Versions: []v1alpha1.MachineImageVersion{
			{Version: "by-name", Image: "gardenlinux-1"},
			{Version: "by-id", Image: "gardenlinux-1", Regions: []v1alpha1.RegionIDMapping{
				{Name: "north", ID: "north-amd64"},
				{Name: "north", ID: "north-arm64", Architecture: new("arm64")},
				{Name: "south", ID: "south-amd64", Architecture: new("amd64")},
			}},
			{Version: "north-only", Regions: []v1alpha1.RegionIDMapping{{Name: "north", ID: "north-amd64"}}},
			{Version: "in-two-entries", Image: "amd64-everywhere"},
			{Version: "in-two-entries", Regions: []v1alpha1.RegionIDMapping{{Name: "north", ID: "north-arm64", Architecture: new("arm64")}}},
			{Version: "by-capabilities", CapabilityFlavors: []v1alpha1.MachineImageFlavor{
				{Image: "plain", Capabilities: capabilities{"architecture": {"amd64"}, "boot": {"bios"}}},
				{Image: "modern", Capabilities: capabilities{"architecture": {"amd64"}, "boot": {"uefi", "bios"}}},
				{Capabilities: capabilities{"architecture": {"arm64"}}, Regions: []v1alpha1.RegionIDMapping{{Name: "north", ID: "north-arm64"}}},
			}},
			{Version: "ambiguous", CapabilityFlavors: []v1alpha1.MachineImageFlavor{
				{Image: "one", Capabilities: capabilities{"architecture": {"amd64"}}}, {Image: "two", Capabilities: capabilities{"architecture": {"amd64"}}},
			}},
		}},
	}}
}

// boots is what the admin of a CloudProfile defines that prefers amd64, and UEFI.
func boots() []gardencorev1beta1.CapabilityDefinition {
	return []gardencorev1beta1.CapabilityDefinition{
		{Name: "architecture", Values: []string{"amd64", "arm64"}}, {Name: "boot", Values: []string{"uefi", "bios"}},
	}
}

func TestFindMachineImage(t *testing.T) {
	type query = v1alpha1.ImageQuery
	for sentence, tc := range map[string]struct {
		query query
		want  v1alpha1.MachineImage // but for name and version
	}{
		"a name for every region": {
			query: query{Version: "by-name"}, want: v1alpha1.MachineImage{Image: "gardenlinux-1", Architecture: new("amd64")},
		},
		"an ID in the region, of the usual architecture": {
			query: query{Version: "by-id"}, want: v1alpha1.MachineImage{ID: "north-amd64", Architecture: new("amd64")},
		},
		"an ID in the region, of another architecture": {
			query: query{Version: "by-id", Architecture: "arm64"}, want: v1alpha1.MachineImage{ID: "north-arm64", Architecture: new("arm64")},
		},
		"a name where the region has no ID": {
			query: query{Version: "by-id", Region: "west"}, want: v1alpha1.MachineImage{Image: "gardenlinux-1", Architecture: new("amd64")},
		},
		"the second entry of a version": {
			query: query{Version: "in-two-entries", Architecture: "arm64"}, want: v1alpha1.MachineImage{ID: "north-arm64", Architecture: new("arm64")},
		},
		"the machine type knows its architecture better than the pool": {
			query: query{Version: "by-id", Architecture: "amd64", Capabilities: capabilities{"architecture": {"arm64"}}},
			want:  v1alpha1.MachineImage{ID: "north-arm64", Architecture: new("arm64")},
		},
		"the only image that is compatible": {
			query: query{Version: "by-capabilities", Capabilities: capabilities{"boot": {"uefi"}}, Definitions: boots()},
			want:  v1alpha1.MachineImage{Image: "modern", Capabilities: capabilities{"architecture": {"amd64"}, "boot": {"uefi", "bios"}}},
		},
		"the better of two that are compatible": {
			query: query{Version: "by-capabilities", Definitions: boots()},
			want:  v1alpha1.MachineImage{Image: "modern", Capabilities: capabilities{"architecture": {"amd64"}, "boot": {"uefi", "bios"}}},
		},
		"an image that says nothing of a capability has all its values": {
			query: query{Version: "by-capabilities", Architecture: "arm64", Capabilities: capabilities{"boot": {"bios"}}, Definitions: boots()},
			want:  v1alpha1.MachineImage{ID: "north-arm64", Capabilities: capabilities{"architecture": {"arm64"}}},
		},
		"the only architecture that there is": {
			query: query{Version: "by-capabilities", Architecture: "amd64", Definitions: []gardencorev1beta1.CapabilityDefinition{
				{Name: "architecture", Values: []string{"arm64"}},
			}},
			want: v1alpha1.MachineImage{ID: "north-arm64", Capabilities: capabilities{"architecture": {"arm64"}}},
		},
		"a version that is mapped by architecture, in a CloudProfile with capabilities": {
			query: query{Version: "by-id", Architecture: "arm64", Definitions: boots()},
			want:  v1alpha1.MachineImage{ID: "north-arm64", Capabilities: capabilities{"architecture": {"arm64"}}},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			profile := images(t)
			tc.query.Name = "gardenlinux"
			if tc.query.Region == "" {
				tc.query.Region = "north"
			}
			found, err := profile.FindMachineImage(tc.query)
			require.NoError(t, err)
			tc.want.Name, tc.want.Version = tc.query.Name, tc.query.Version
			assert.Empty(t, cmp.Diff(&tc.want, found))
			assert.Empty(t, cmp.Diff(images(t), profile), "the CloudProfile is everybody's")

			workerStatus := &v1alpha1.WorkerStatus{MachineImages: []v1alpha1.MachineImage{{Name: "gardenlinux", Version: "other"}, *found}}
			assert.Empty(t, cmp.Diff(found, workerStatus.FindMachineImage(tc.query)), "what was found is found again when the CloudProfile lacks it")
		})
	}
}

func TestFindMachineImage_NotFound(t *testing.T) {
	type query = v1alpha1.ImageQuery
	for sentence, tc := range map[string]struct {
		query query
		want  string
	}{
		"an unknown image":   {query{Name: "suse", Version: "1.0.0", Region: "north"}, `maps machine image suse 1.0.0 in region "north" for architecture [amd64] to no image`},
		"an unknown version": {query{Name: "flatcar", Version: "2.0.0", Region: "north"}, "flatcar 2.0.0"},
		"no ID in the region and no name": {
			query{Name: "gardenlinux", Version: "north-only", Region: "south"}, `in region "south"`,
		},
		"another architecture": {query{Name: "flatcar", Version: "1.0.0", Region: "north", Architecture: "arm64"}, "architecture [arm64]"},
		"no image with the capabilities": {
			query{Name: "gardenlinux", Version: "by-capabilities", Region: "south", Architecture: "arm64", Definitions: boots()}, "architecture [arm64]",
		},
		"two images that nobody can tell apart": {query{Name: "gardenlinux", Version: "ambiguous", Region: "north"}, "2 images in Glance that it does not tell apart"},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := images(t).FindMachineImage(tc.query)
			require.ErrorContains(t, err, tc.want)
			assert.Nil(t, new(v1alpha1.WorkerStatus).FindMachineImage(tc.query))
		})
	}
}

// A CloudProfile may begin to work with capabilities, or end it, while an image is in use that it maps no longer.
func TestFindMachineImage_CapabilitiesChanged(t *testing.T) {
	status := &v1alpha1.WorkerStatus{MachineImages: []v1alpha1.MachineImage{
		{Name: "gardenlinux", Version: "1", ID: "old"},
		{Name: "gardenlinux", Version: "1", ID: "old-arm", Architecture: new("arm64")},
		{Name: "gardenlinux", Version: "2", ID: "new", Capabilities: capabilities{"architecture": {"arm64"}, "boot": {"uefi"}}},
	}}
	found := status.FindMachineImage(v1alpha1.ImageQuery{Name: "gardenlinux", Version: "1", Architecture: "arm64", Definitions: boots()})
	assert.Equal(t, &v1alpha1.MachineImage{
		Name: "gardenlinux", Version: "1", ID: "old-arm", Capabilities: capabilities{"architecture": {"arm64"}},
	}, found)
	found = status.FindMachineImage(v1alpha1.ImageQuery{Name: "gardenlinux", Version: "2", Architecture: "arm64"})
	assert.Equal(t, &v1alpha1.MachineImage{Name: "gardenlinux", Version: "2", ID: "new", Architecture: new("arm64")}, found)
	assert.Nil(t, status.FindMachineImage(v1alpha1.ImageQuery{Name: "gardenlinux", Version: "2"}), "amd64")
}

// The name of an image belongs to the architectures that its regions list, and to amd64 when it lists none. So does upstream's extension look
// images up.
func TestFindMachineImage_Name(t *testing.T) {
	profile := &v1alpha1.CloudProfileConfig{MachineImages: []v1alpha1.MachineImages{{Name: "linux", Versions: []v1alpha1.MachineImageVersion{
		{Version: "arm", Image: "name", Regions: []v1alpha1.RegionIDMapping{{Name: "r1", ID: "r1-arm", Architecture: new("arm64")}}},
		{Version: "both", Image: "name", Regions: []v1alpha1.RegionIDMapping{
			{Name: "r1", ID: "r1-arm", Architecture: new("arm64")}, {Name: "r2", ID: "r2-amd"},
		}},
		{Version: "none", Image: "name"},
		{Version: "two", Image: "first", Regions: []v1alpha1.RegionIDMapping{{Name: "r1", ID: "r1-arm", Architecture: new("arm64")}}},
		{Version: "two", Image: "second"},
	}}}}
	for _, tt := range []struct{ version, region, architecture, want string }{
		{"arm", "r1", "arm64", "r1-arm"},
		{"arm", "r2", "arm64", "name"},
		{"arm", "r1", "amd64", ""},
		{"both", "r1", "arm64", "r1-arm"},
		{"both", "r2", "arm64", "name"},
		{"both", "r1", "amd64", "name"},
		{"both", "r2", "amd64", "r2-amd"},
		{"none", "r1", "amd64", "name"},
		{"none", "r1", "arm64", ""},
		{"two", "r2", "arm64", "first"},
		{"two", "r1", "amd64", "second"},
	} {
		found, err := profile.FindMachineImage(v1alpha1.ImageQuery{Name: "linux", Version: tt.version, Region: tt.region, Architecture: tt.architecture})
		if tt.want == "" {
			assert.ErrorContains(t, err, "to no image", tt)
			continue
		}
		require.NoError(t, err, tt)
		assert.Equal(t, tt.want, found.ID+found.Image, tt)
	}
}
