package v1alpha1_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

// mapping is an image whose versions are all mapped to an image of one name.
func mapping(name, to string, versions ...string) v1alpha1.MachineImages {
	image := v1alpha1.MachineImages{Name: name, Versions: []v1alpha1.MachineImageVersion{}}
	for _, version := range versions {
		image.Versions = append(image.Versions, v1alpha1.MachineImageVersion{Version: version, Image: to})
	}
	return image
}

func TestMergeMachineImages(t *testing.T) {
	type images = []v1alpha1.MachineImages
	for sentence, test := range map[string]struct{ parent, own, want images }{
		"nothing": {},
		"nothing of one's own": {
			parent: images{mapping("b", "p", "2", "1"), mapping("a", "p", "1")}, want: images{mapping("b", "p", "2", "1"), mapping("a", "p", "1")},
		},
		"nothing of the parent's": {own: images{mapping("b", "o", "2", "1")}, want: images{mapping("b", "o", "2", "1")}},
		"new images come behind the parent's, in their order": {
			parent: images{mapping("m", "p", "1")}, own: images{mapping("z", "o", "1"), mapping("a", "o", "1")},
			want: images{mapping("m", "p", "1"), mapping("z", "o", "1"), mapping("a", "o", "1")},
		},
		"new versions come behind the parent's, in their order": {
			parent: images{mapping("m", "p", "2", "1")}, own: images{mapping("m", "p", "9", "0")}, want: images{mapping("m", "p", "2", "1", "9", "0")},
		},
		"one's own mapping takes the place of the parent's": {
			parent: images{mapping("m", "p", "2", "1", "0")}, own: images{mapping("m", "o", "1")},
			want: images{{Name: "m", Versions: []v1alpha1.MachineImageVersion{{Version: "2", Image: "p"}, {Version: "1", Image: "o"}, {Version: "0", Image: "p"}}}},
		},
		"all entries of a version are replaced by all of one's own": {
			parent: images{mapping("m", "p", "1", "2", "1"), mapping("m", "p", "1", "3")}, own: images{mapping("m", "o", "1", "1")},
			want: images{
				{Name: "m", Versions: []v1alpha1.MachineImageVersion{{Version: "1", Image: "o"}, {Version: "1", Image: "o"}, {Version: "2", Image: "p"}}},
				mapping("m", "p", "3"),
			},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			before, err := json.Marshal([]images{test.parent, test.own})
			require.NoError(t, err)
			merged := v1alpha1.MergeMachineImages(test.parent, test.own)
			assert.Empty(t, cmp.Diff(test.want, merged))
			assert.Empty(t, cmp.Diff(merged, v1alpha1.MergeMachineImages(merged, test.own)), "once more")
			after, err := json.Marshal([]images{test.parent, test.own})
			require.NoError(t, err)
			assert.JSONEq(t, string(before), string(after), "what is merged stays")
		})
	}
}

func TestMergeMachineImages_Deterministic(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	several := func(to string) []v1alpha1.MachineImages {
		var images []v1alpha1.MachineImages
		for range dice.IntN(6) {
			image := mapping(string(rune('a'+dice.IntN(4))), to)
			for range dice.IntN(6) {
				image.Versions = append(image.Versions, v1alpha1.MachineImageVersion{Version: string(rune('0' + dice.IntN(4))), Image: to})
			}
			images = append(images, image)
		}
		return images
	}
	for range 100 {
		parent, own := several("p"), several("o")
		merged := v1alpha1.MergeMachineImages(parent, own)
		require.Empty(t, cmp.Diff(merged, v1alpha1.MergeMachineImages(parent, own)))
		require.Empty(t, cmp.Diff(merged, v1alpha1.MergeMachineImages(merged, own)), "once more")
		// The parent's images are where they were, and every version is one of the two's.
		for i := range parent {
			require.Equal(t, parent[i].Name, merged[i].Name)
		}
		for _, image := range own {
			for _, version := range image.Versions {
				found, err := (&v1alpha1.CloudProfileConfig{MachineImages: merged}).FindMachineImage(v1alpha1.ImageQuery{
					Name: image.Name, Version: version.Version, Region: "r",
				})
				if err == nil { // one entry alone
					require.Equal(t, "o", found.Image)
				}
			}
		}
	}
}

func providerConfig(fields string) *runtime.RawExtension {
	return &runtime.RawExtension{Raw: []byte(`{` + apiVersion + `,"kind":"CloudProfileConfig"` + fields + `}`)}
}

func TestMergeProviderConfigs_UnknownFields(t *testing.T) {
	for sentence, test := range map[string]struct{ parent, own, want string }{
		"unknown fields at every depth": {
			parent: `,"new":{"a":[1.50]},"keystoneURL":"https://k","machineImages":[{"name":"a","new":1,"versions":[{"version":"1","image":"p","new":2},{"version":"2","new":3}]}]`,
			own:    `,"machineImages":[{"name":"a","mine":4,"versions":[{"version":"2","image":"o","mine":5}]},{"name":"b","mine":6,"versions":[{"version":"1","image":"o"}]}]`,
			want: `,"new":{"a":[1.50]},"keystoneURL":"https://k","machineImages":[{"name":"a","new":1,"versions":[{"version":"1","image":"p","new":2},` +
				`{"version":"2","image":"o","mine":5}]},{"name":"b","mine":6,"versions":[{"version":"1","image":"o"}]}]`,
		},
		"a parent without images": {own: `,"machineImages":[{"name":"a","versions":[]}]`, want: `,"machineImages":[{"name":"a","versions":[]}]`},
		"no images in either":     {parent: `,"machineImages":null`, own: ``, want: `,"machineImages":null`},
	} {
		t.Run(sentence, func(t *testing.T) {
			merged, err := v1alpha1.MergeProviderConfigs(providerConfig(test.parent), providerConfig(test.own))
			require.NoError(t, err)
			assert.JSONEq(t, string(providerConfig(test.want).Raw), string(merged.Raw))
			again, err := v1alpha1.MergeProviderConfigs(merged, providerConfig(test.own))
			require.NoError(t, err)
			assert.JSONEq(t, string(merged.Raw), string(again.Raw))
		})
	}
}

func TestMergeProviderConfigs_Invalid(t *testing.T) {
	fine := providerConfig("")
	other := &runtime.RawExtension{Raw: []byte(`{` + apiVersion + `,"kind":"WorkerConfig"}`)}
	_, err := v1alpha1.MergeProviderConfigs(other, fine)
	require.ErrorContains(t, err, `reading the parent's config: decoding CloudProfileConfig: apiVersion is`)
	_, err = v1alpha1.MergeProviderConfigs(fine, providerConfig(`,"machineImages":{}`))
	require.ErrorContains(t, err, "reading the config that is merged into the parent's: decoding CloudProfileConfig: machineImages must be a list")
}

func TestCapabilityFlavors(t *testing.T) {
	profile := images(t)
	assert.Equal(t, []gardencorev1beta1.MachineImageFlavor{
		{Capabilities: capabilities{"architecture": {"amd64"}, "boot": {"bios"}}},
		{Capabilities: capabilities{"architecture": {"amd64"}, "boot": {"uefi", "bios"}}},
		{Capabilities: capabilities{"architecture": {"arm64"}}},
	}, profile.CapabilityFlavors()("gardenlinux", "by-capabilities"))
	assert.Empty(t, profile.CapabilityFlavors()("gardenlinux", "by-id"))
	assert.Empty(t, profile.CapabilityFlavors()("suse", "by-capabilities"))

	profile.MachineImages[0].Versions[0].CapabilityFlavors = []v1alpha1.MachineImageFlavor{{Image: "all"}}
	written, err := json.Marshal(profile.CapabilityFlavors()("flatcar", "1.0.0"))
	require.NoError(t, err)
	assert.JSONEq(t, `[{}]`, string(written), "no capabilities are all, and never null")
}
