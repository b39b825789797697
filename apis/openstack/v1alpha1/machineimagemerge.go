package v1alpha1

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// MergeMachineImages returns the images of a CloudProfile with those of a NamespacedCloudProfile: the parent's in the parent's order, then
// what is new in its own order, and the same with versions. Where both map a version, the own mapping takes the parent's place.
// Merging the same once more changes nothing. Neither list is changed.
func MergeMachineImages(parent, own []MachineImages) []MachineImages {
	return mergeImages(parent, own, imageShape[MachineImages, MachineImageVersion]{
		name:     func(image MachineImages) string { return image.Name },
		versions: func(image MachineImages) []MachineImageVersion { return image.Versions },
		version:  func(version MachineImageVersion) string { return version.Version },
		with: func(image MachineImages, versions []MachineImageVersion) MachineImages {
			return MachineImages{Name: image.Name, Versions: versions}
		},
	})
}

// MergeProviderConfigs returns the parent's CloudProfileConfig with the machine images of both, as MergeMachineImages does. Everything else,
// and fields that are not known here, stay as they are in the parent's and in the images. Both must be decodable.
func MergeProviderConfigs(parent, own *runtime.RawExtension) (*runtime.RawExtension, error) {
	merged, ofParent, err := imageDocuments(parent)
	if err != nil {
		return nil, fmt.Errorf("reading the parent's config: %w", err)
	}
	_, ofOwn, err := imageDocuments(own)
	if err != nil {
		return nil, fmt.Errorf("reading the config that is merged into the parent's: %w", err)
	}
	if len(ofOwn) == 0 {
		return parent, nil
	}
	images := mergeImages(ofParent, ofOwn, imageShape[map[string]any, any]{
		name: func(image map[string]any) string { return stringField(image, "name") },
		versions: func(image map[string]any) []any {
			versions, _ := image["versions"].([]any)
			return versions
		},
		version: func(version any) string { return stringField(version, "version") },
		with:    withVersions,
	})
	if merged["machineImages"], err = json.Marshal(images); err != nil {
		return nil, fmt.Errorf("encoding machineImages: %w", err)
	}
	raw, err := json.Marshal(merged)
	if err != nil {
		return nil, fmt.Errorf("encoding CloudProfileConfig: %w", err)
	}
	return &runtime.RawExtension{Raw: raw}, nil
}

// imageDocuments returns the fields of a config, and its machine images, as they are written.
func imageDocuments(config *runtime.RawExtension) (fields map[string]json.RawMessage, images []map[string]any, err error) {
	if _, err := DecodeCloudProfileConfig(config); err != nil {
		return nil, nil, err
	}
	encoded, err := json.Marshal(config)
	if err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal(encoded, &fields); err != nil {
		return nil, nil, err
	}
	if written, ok := fields["machineImages"]; ok {
		if err := json.Unmarshal(written, &images); err != nil {
			return nil, nil, fmt.Errorf("machineImages: %w", err)
		}
	}
	return fields, images, nil
}

func stringField(document any, key string) string {
	fields, _ := document.(map[string]any)
	text, _ := fields[key].(string)
	return text
}

func withVersions(image map[string]any, versions []any) map[string]any {
	changed := make(map[string]any, len(image)+1)
	maps.Copy(changed, image)
	changed["versions"] = versions
	return changed
}

// imageShape says how images are built that are to be merged, typed or as documents.
type imageShape[Image, Version any] struct {
	name     func(Image) string
	versions func(Image) []Version
	version  func(Version) string
	with     func(Image, []Version) Image
}

func mergeImages[Image, Version any](parent, own []Image, shape imageShape[Image, Version]) []Image {
	merged := slices.Clone(parent)
	lastOf := map[string]int{}
	for i, image := range merged {
		lastOf[shape.name(image)] = i
	}
	for _, image := range own {
		if _, known := lastOf[shape.name(image)]; !known {
			lastOf[shape.name(image)] = len(merged)
			merged = append(merged, shape.with(image, []Version{}))
		}
	}
	order, entries := shape.byVersion(own)
	placed := make(map[imageVersion]bool, len(order))
	for i, image := range merged {
		merged[i] = shape.replaced(image, entries, placed)
	}
	// What is new goes behind the last version of its image.
	added := map[int][]Version{}
	for _, which := range order {
		if !placed[which] {
			last := lastOf[which.image]
			added[last] = append(added[last], entries[which]...)
		}
	}
	for i, versions := range added {
		merged[i] = shape.with(merged[i], slices.Concat(shape.versions(merged[i]), versions))
	}
	return merged
}

// imageVersion is a version of an image. It may have several entries: by architecture, for example.
type imageVersion struct{ image, version string }

// byVersion returns the entries of each version, and the order in which the versions appear.
func (s imageShape[Image, Version]) byVersion(images []Image) (order []imageVersion, entries map[imageVersion][]Version) {
	entries = map[imageVersion][]Version{}
	for _, image := range images {
		for _, version := range s.versions(image) {
			which := imageVersion{s.name(image), s.version(version)}
			if _, known := entries[which]; !known {
				order = append(order, which)
			}
			entries[which] = append(entries[which], version)
		}
	}
	return order, entries
}

// replaced puts entries in the place of the first that there is of their version, and takes the others away.
func (s imageShape[Image, Version]) replaced(image Image, entries map[imageVersion][]Version, placed map[imageVersion]bool) Image {
	versions, touched := []Version{}, false
	for _, version := range s.versions(image) {
		which := imageVersion{s.name(image), s.version(version)}
		by, replace := entries[which]
		switch {
		case !replace:
			versions = append(versions, version)
			continue
		case !placed[which]:
			versions = append(versions, by...)
			placed[which] = true
		}
		touched = true
	}
	if !touched {
		return image
	}
	return s.with(image, versions)
}
