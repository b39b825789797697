package machineimage

import (
	"slices"
)

// Shape says how the mappings of an image are built, typed or as documents.
type Shape[Image, Version any] struct {
	// Name returns the name of an image, Versions its versions, and Version what a version is called.
	Name     func(Image) string
	Versions func(Image) []Version
	Version  func(Version) string
	// With returns an image with other versions. It does not change the image that it is given.
	With func(Image, []Version) Image
}

// ID is a version of a machine image.
type ID struct{ Name, Version string }

// Merge returns the images of a CloudProfile with those of a NamespacedCloudProfile: the parent's in the parent's order, then what is new in its own
// order, and the same with versions. Where both map a version, the own mapping takes the parent's place. Merging the same once more changes
// nothing. Neither list is changed.
func Merge[Image, Version any](parent, own []Image, shape Shape[Image, Version]) []Image {
	merged := slices.Clone(parent)
	lastOf := map[string]int{}
	for i, image := range merged {
		lastOf[shape.Name(image)] = i
	}
	for _, image := range own {
		if _, known := lastOf[shape.Name(image)]; !known {
			lastOf[shape.Name(image)] = len(merged)
			merged = append(merged, shape.With(image, []Version{}))
		}
	}
	order, entries := shape.entriesByVersion(own)
	placed := make(map[ID]bool, len(order))
	for i, image := range merged {
		merged[i] = shape.replaced(image, entries, placed)
	}
	// What is new goes behind the last version of its image.
	added := map[int][]Version{}
	for _, which := range order {
		if !placed[which] {
			last := lastOf[which.Name]
			added[last] = append(added[last], entries[which]...)
		}
	}
	for i, versions := range added {
		merged[i] = shape.With(merged[i], slices.Concat(shape.Versions(merged[i]), versions))
	}
	return merged
}

// entriesByVersion returns the entries of each version, which may have several: by architecture, for example. It also returns the order in which the versions appear.
func (s Shape[Image, Version]) entriesByVersion(images []Image) (order []ID, entries map[ID][]Version) {
	entries = map[ID][]Version{}
	for _, image := range images {
		for _, version := range s.Versions(image) {
			which := ID{s.Name(image), s.Version(version)}
			if _, known := entries[which]; !known {
				order = append(order, which)
			}
			entries[which] = append(entries[which], version)
		}
	}
	return order, entries
}

// replaced puts entries in the place of the first that there is of their version, and takes the others away.
func (s Shape[Image, Version]) replaced(image Image, entries map[ID][]Version, placed map[ID]bool) Image {
	versions, touched := []Version{}, false
	for _, version := range s.Versions(image) {
		which := ID{s.Name(image), s.Version(version)}
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
	return s.With(image, versions)
}
