package machineimage_test

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/internal/machineimage"
)

// image maps versions to what a cloud has: here each version is itself.
type image struct {
	name     string
	versions []string
}

func shape() machineimage.Shape[image, string] {
	return machineimage.Shape[image, string]{
		Name:     func(i image) string { return i.name },
		Versions: func(i image) []string { return i.versions },
		Version:  func(version string) string { return version },
		With:     func(i image, versions []string) image { return image{i.name, versions} },
	}
}

func TestMerge(t *testing.T) {
	parent, own := []image{{"a", []string{"2", "1"}}}, []image{{"b", []string{"1"}}, {"a", []string{"1", "3"}}}
	want := []image{{"a", []string{"2", "1", "3"}}, {"b", []string{"1"}}}
	merged := machineimage.Merge(parent, own, shape())
	assert.Empty(t, cmp.Diff(want, merged, cmp.AllowUnexported(image{})))
	assert.Empty(t, cmp.Diff(want, machineimage.Merge(merged, own, shape()), cmp.AllowUnexported(image{})), "once more")
}

func TestByVersion(t *testing.T) {
	indexed := machineimage.ByVersion([]image{{"a", []string{"1", "2", "1"}}, {"a", []string{"1"}}}, shape())
	assert.Empty(t, cmp.Diff(map[machineimage.ID][]image{
		{Name: "a", Version: "1"}: {{"a", []string{"1", "1"}}, {"a", []string{"1"}}},
		{Name: "a", Version: "2"}: {{"a", []string{"2"}}},
	}, indexed, cmp.AllowUnexported(image{})))
}

func TestBest(t *testing.T) {
	type candidate = machineimage.Candidate[string]
	ofVersion := func(version string) ([]candidate, bool) {
		return []candidate{
			{Image: "first of " + version, Capabilities: machineimage.OfArchitecture("amd64")}, {Image: "arm of " + version, Capabilities: machineimage.OfArchitecture("arm64")},
		}, false
	}
	query := machineimage.Query{Name: "a", Version: "1", Region: "west"}
	found := machineimage.Best(query, []image{{"a", []string{"1", "2", "1"}}}, shape(), ofVersion)
	assert.Equal(t, []candidate{{Image: "first of 1", Capabilities: machineimage.OfArchitecture("amd64")}}, found)
	query.Architecture = "arm64"
	assert.Equal(t, "arm of 1", machineimage.Best(query, []image{{"a", []string{"1"}}}, shape(), ofVersion)[0].Image)
	assert.Equal(t, `machine image a 1 in region "west" for architecture [arm64]`, query.String())
}

func TestUnknownRegions(t *testing.T) {
	regions := []gardencorev1beta1.Region{{Name: "west"}}
	warnings := machineimage.UnknownRegions([]image{{"a", []string{"west", "south", "north", "south", ""}}}, shape(), func(version string) []string { return []string{version} },
		regions, field.NewPath("c"))
	assert.Equal(t, []string{`c: the CloudProfile has no region "north"`, `c: the CloudProfile has no region "south"`}, warnings)
}
