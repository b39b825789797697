package validation

import (
	"fmt"
	"strconv"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/calico/v1alpha1"
)

// ValidateNewNetworkConfig refuses, besides what ValidateNetworkConfig refuses, what would not come out as it is written:
// wishes that Default overrides in these surroundings. The context's families are the shoot's, whether or not they are
// deployed yet.
func ValidateNewNetworkConfig(config *v1alpha1.NetworkConfig, context v1alpha1.DefaultingContext, fldPath *field.Path) field.ErrorList {
	errs := validateWishes(config, context, fldPath)
	errs = append(errs, validateAddresses(config, context.IPFamilies, fldPath)...)
	return append(errs, validateSensibleMTU(config.VethMTU, context.IPFamilies, fldPath.Child("vethMTU"))...)
}

// ValidateChangedNetworkConfig refuses what ValidateNewNetworkConfig refuses, except what it would have refused before: a
// shoot that has come to something does not have to be repaired with the next change.
func ValidateChangedNetworkConfig(
	oldConfig *v1alpha1.NetworkConfig, oldContext v1alpha1.DefaultingContext,
	newConfig *v1alpha1.NetworkConfig, newContext v1alpha1.DefaultingContext, fldPath *field.Path,
) field.ErrorList {
	before := map[string]bool{}
	for _, err := range ValidateNewNetworkConfig(oldConfig, oldContext, fldPath) {
		before[err.Error()] = true
	}
	var errs field.ErrorList
	for _, err := range ValidateNewNetworkConfig(newConfig, newContext, fldPath) {
		if !before[err.Error()] {
			errs = append(errs, err)
		}
	}
	return errs
}

func validateWishes(config *v1alpha1.NetworkConfig, context v1alpha1.DefaultingContext, fldPath *field.Path) field.ErrorList {
	var errs field.ErrorList
	effective, overrides := config.DefaultWithOverrides(context)
	for _, override := range overrides {
		errs = append(errs, field.Invalid(pathOf(override.Field, config, fldPath), override.Given,
			fmt.Sprintf("would be %s: %s: write that, or remove the field", override.InForce, override.Because)))
	}
	if ipv4 := effective.IPv4; ipv4 != nil && ipv4.Mode.Wraps() && *ipv4.Pool != v1alpha1.PoolVXLAN && *effective.Backend == v1alpha1.BackendVXLAN {
		errs = append(errs, field.Invalid(fldPath.Child("backend"), v1alpha1.BackendVXLAN,
			"knows the way for VXLAN pools only: set ipv4.pool to vxlan, or backend to bird"))
	}
	if !has(context.IPFamilies, gardencorev1beta1.IPFamilyIPv6) {
		return errs
	}
	if config.Overlay != nil && config.Overlay.Enabled {
		errs = append(errs, field.Invalid(fldPath.Child("overlay", "enabled"), true, "packets of shoots with IPv6 are not wrapped: set it to false"))
	}
	if config.VXLAN != nil && config.VXLAN.Enabled {
		errs = append(errs, field.Invalid(fldPath.Child("vxlan", "enabled"), true, "packets of shoots with IPv6 are not wrapped: remove the field"))
	}
	return errs
}

// pathOf returns the path of a field where the user wrote it: the mode may stand in a deprecated field.
func pathOf(name string, config *v1alpha1.NetworkConfig, fldPath *field.Path) *field.Path {
	if name == "ipv4.mode" && (config.IPv4 == nil || config.IPv4.Mode == nil) {
		return fldPath.Child("ipip")
	}
	first, rest, _ := strings.Cut(name, ".")
	if rest == "" {
		return fldPath.Child(first)
	}
	return fldPath.Child(first, strings.Split(rest, ".")...)
}

// validateAddresses checks that ranges are of the family that they are for, and written as they are meant.
func validateAddresses(config *v1alpha1.NetworkConfig, families []gardencorev1beta1.IPFamily, fldPath *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, given := range detections(config, fldPath) {
		if text, found := given.foreign(); found {
			errs = append(errs, field.Invalid(given.path, given.method, fmt.Sprintf("%s is of the other IP family: remove it there", text)))
		}
	}
	if config.IPAutoDetectionMethod != nil && !has(families, gardencorev1beta1.IPFamilyIPv4) {
		errs = append(errs, field.Forbidden(fldPath.Child("ipAutodetectionMethod"), "the shoot has no IPv4: use ipv6.autoDetectionMethod"))
	}
	if config.IPAM == nil || config.IPAM.CIDR == nil {
		return errs
	}
	prefix, ok := parseRange(string(*config.IPAM.CIDR))
	if !ok {
		return errs
	}
	path := fldPath.Child("ipam", "cidr")
	if canonical := prefix.Masked(); canonical != prefix {
		errs = append(errs, field.Invalid(path, *config.IPAM.CIDR, fmt.Sprintf("is not in canonical form: write %s", canonical)))
	}
	family := gardencorev1beta1.IPFamilyIPv4
	if prefix.Addr().Is6() {
		family = gardencorev1beta1.IPFamilyIPv6
	}
	if !has(families, family) {
		errs = append(errs, field.Invalid(path, *config.IPAM.CIDR, fmt.Sprintf("the shoot has no %s: give a range of its own family, or usePodCIDR", family)))
	}
	return errs
}

// The limits of an MTU: IPv4 guarantees the first, IPv6 the second, and above the third no common hardware works.
const (
	minMTU     = 576
	minMTUIPv6 = 1280
	maxMTU     = 9216
)

func validateSensibleMTU(text *string, families []gardencorev1beta1.IPFamily, path *field.Path) field.ErrorList {
	if text == nil || *text == v1alpha1.DefaultVethMTU {
		return nil
	}
	least := uint64(minMTU)
	if has(families, gardencorev1beta1.IPFamilyIPv6) {
		least = minMTUIPv6
	}
	mtu, err := strconv.ParseUint(*text, 10, 31)
	if err != nil || mtu != 0 && mtu >= least && mtu <= maxMTU {
		return nil // what is no number at all is refused anyway
	}
	return field.ErrorList{field.Invalid(path, *text, fmt.Sprintf(`choose a number of bytes between %d and %d, or "0" to let Calico find it out`, least, maxMTU))}
}
