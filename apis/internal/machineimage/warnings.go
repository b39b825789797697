package machineimage

import (
	"fmt"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/internal/fields"
)

// MissingRegions warns of machine images that only some of the regions of a CloudProfile have.
func MissingRegions(spec *gardencorev1beta1.CloudProfileSpec, count Count, path *field.Path) []string {
	var warnings []string
	for _, image := range spec.MachineImages {
		for _, version := range image.Versions {
			for _, available := range Availabilities(image.Name, &version, spec, count) {
				if len(available.Found) > 0 && len(available.Missing) > 0 {
					warnings = append(warnings, fmt.Sprintf("%s: no image for %s in region %s", path, available.Title,
						strings.Join(fields.Quoted(available.Missing), ", ")))
				}
			}
		}
	}
	return warnings
}

// UnknownRegions warns of regions in mappings that the CloudProfile does not have. It names each once: where one is misspelt, it often is so for all
// images.
//
// regionsOf returns the regions of the mapping of a version.
func UnknownRegions[Image, Version any](images []Image, shape Shape[Image, Version], regionsOf func(Version) []string, regions []gardencorev1beta1.Region,
	path *field.Path,
) []string {
	var unknown []string
	known := fields.Seen[string]{"": true}
	for _, region := range regions {
		known[region.Name] = true
	}
	for _, image := range images {
		for _, version := range shape.Versions(image) {
			for _, region := range regionsOf(version) {
				if !known.IsDuplicate(region) {
					unknown = append(unknown, region)
				}
			}
		}
	}
	slices.Sort(unknown)
	var warnings []string
	for _, region := range unknown {
		warnings = append(warnings, fmt.Sprintf("%s: the CloudProfile has no region %q", path, region))
	}
	return warnings
}
