package validation

import (
	"fmt"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/internal/machineimage"
	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

// CloudProfileWarnings speaks of what is no error of a CloudProfileConfig, but may be none of its author's intentions either: regions that the
// CloudProfile does not have, and machine images that only some of its regions have.
func CloudProfileWarnings(config *v1alpha1.CloudProfileConfig, spec *gardencorev1beta1.CloudProfileSpec, fldPath *field.Path) []string {
	warnings := unknownRegions(config, spec.Regions, fldPath)
	return append(warnings, machineimage.MissingRegions(spec, countImages(config.MachineImages), fldPath.Child("machineImages"))...)
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
	return append(warnings, machineimage.UnknownRegions(config.MachineImages, v1alpha1.MachineImageShape(), imageRegions, regions, fldPath.Child("machineImages"))...)
}

func imageRegions(version v1alpha1.MachineImageVersion) []string {
	var names []string
	for _, flavor := range version.Flavors() {
		for _, mapping := range flavor.Regions {
			names = append(names, mapping.Name)
		}
	}
	return names
}
