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
		name: func(image map[string]any) string { return textIn(image, "name") },
		versions: func(image map[string]any) []any {
			versions, _ := image["versions"].([]any)
			return versions
		},
		version: func(version any) string { return textIn(version, "version") },
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

func textIn(document any, key string) string {
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
	for _, image := range own {
		named := func(other Image) bool { return shape.name(other) == shape.name(image) }
		if !slices.ContainsFunc(merged, named) {
			merged = append(merged, shape.with(image, []Version{}))
		}
	}
	for _, version := range namedVersions(own, shape) {
		shape.replace(merged, version)
	}
	return merged
}

// versionEntries are all entries of one version of one image: by architecture, for example.
type versionEntries[Version any] struct {
	image, version string
	entries        []Version
}

func namedVersions[Image, Version any](images []Image, shape imageShape[Image, Version]) []versionEntries[Version] {
	var all []versionEntries[Version]
	for _, image := range images {
		for _, version := range shape.versions(image) {
			next := versionEntries[Version]{image: shape.name(image), version: shape.version(version)}
			i := slices.IndexFunc(all, func(other versionEntries[Version]) bool {
				return other.image == next.image && other.version == next.version
			})
			if i < 0 {
				i, all = len(all), append(all, next)
			}
			all[i].entries = append(all[i].entries, version)
		}
	}
	return all
}

// replace puts the entries in the place of the first that there is of the version, or else behind the last version of the image.
func (s imageShape[Image, Version]) replace(images []Image, by versionEntries[Version]) {
	isReplaced := func(version Version) bool { return s.version(version) == by.version }
	home, last := -1, -1
	for i, image := range images {
		if s.name(image) != by.image {
			continue
		}
		last = i
		if home < 0 && slices.ContainsFunc(s.versions(image), isReplaced) {
			home = i
		}
	}
	if home < 0 {
		images[last] = s.with(images[last], slices.Concat(s.versions(images[last]), by.entries))
		return
	}
	for i, image := range images {
		if s.name(image) != by.image || !slices.ContainsFunc(s.versions(image), isReplaced) {
			continue
		}
		place := slices.IndexFunc(s.versions(image), isReplaced)
		kept := slices.DeleteFunc(slices.Clone(s.versions(image)), isReplaced)
		if i == home {
			kept = slices.Insert(kept, place, by.entries...)
		}
		images[i] = s.with(image, kept)
	}
}
