package validation

import (
	"fmt"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

// CloudProfileWarnings speaks of what is no error of a CloudProfileConfig, but may be none of its author's intentions either: regions that the
// CloudProfile does not have, and machine images that only some of its regions have.
func CloudProfileWarnings(config *v1alpha1.CloudProfileConfig, spec *gardencorev1beta1.CloudProfileSpec, fldPath *field.Path) []string {
	warnings := unknownRegions(config, spec.Regions, fldPath)
	mapped := byVersion(config.MachineImages)
	for _, image := range spec.MachineImages {
		for _, version := range image.Versions {
			for _, need := range needsOf(&version, spec.MachineCapabilities) {
				available := findImages(mapped, image.Name, version.Version, need, spec)
				if len(available.found) > 0 && len(available.missing) > 0 {
					warnings = append(warnings, fmt.Sprintf("%s: no image for %s in region %s", fldPath.Child("machineImages"), available.title,
						strings.Join(quoted(available.missing), ", ")))
				}
			}
		}
	}
	return warnings
}

func unknownRegions(config *v1alpha1.CloudProfileConfig, regions []gardencorev1beta1.Region, fldPath *field.Path) []string {
	var warnings []string
	check := func(region string, path *field.Path) {
		isRegion := func(known gardencorev1beta1.Region) bool { return known.Name == region }
		if region != "" && !slices.ContainsFunc(regions, isRegion) {
			warnings = append(warnings, fmt.Sprintf("%s: the CloudProfile has no region %q", path, region))
		}
	}
	constraints := fldPath.Child("constraints")
	for i, pool := range config.Constraints.FloatingPools {
		if pool.Region != nil {
			check(*pool.Region, constraints.Child("floatingPools").Index(i).Child("region"))
		}
	}
	for i, provider := range config.Constraints.LoadBalancerProviders {
		if provider.Region != nil {
			check(*provider.Region, constraints.Child("loadBalancerProviders").Index(i).Child("region"))
		}
	}
	for i, regional := range config.KeyStoneURLs {
		check(regional.Region, fldPath.Child("keystoneURLs").Index(i).Child("region"))
	}
	return append(warnings, unknownImageRegions(config.MachineImages, regions, fldPath.Child("machineImages"))...)
}

// unknownImageRegions names each region once: where one is misspelt, it often is so for all images.
func unknownImageRegions(images []v1alpha1.MachineImages, regions []gardencorev1beta1.Region, path *field.Path) []string {
	var unknown []string
	known := seen[string]{"": true}
	for _, region := range regions {
		known[region.Name] = true
	}
	for _, image := range images {
		for _, version := range image.Versions {
			for _, flavor := range version.Flavors() {
				for _, mapping := range flavor.Regions {
					if !known.isDuplicate(mapping.Name) {
						unknown = append(unknown, mapping.Name)
					}
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
