package validation

import (
	"fmt"
	"strconv"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/calico/v1alpha1"
)

// ValidateNewNetworkConfig rejects, in addition to ValidateNetworkConfig, values of the data plane that Default would override in this
// context. The context's families are the shoot's, whether or not they are deployed yet.
func ValidateNewNetworkConfig(config *v1alpha1.NetworkConfig, context v1alpha1.DefaultingContext, fldPath *field.Path) field.ErrorList {
	errs := validateOverrides(config, context, fldPath)
	errs = append(errs, validateAddresses(config, context.IPFamilies, fldPath)...)
	return append(errs, validateSensibleMTU(config.VethMTU, context.IPFamilies, fldPath.Child("vethMTU"))...)
}

// WarningsOf returns, in sentences, the values that Default overrides and ValidateNewNetworkConfig accepts.
func WarningsOf(config *v1alpha1.NetworkConfig, context v1alpha1.DefaultingContext, fldPath *field.Path) []string {
	var warnings []string
	effective, overrides := config.DefaultWithOverrides(context)
	for _, override := range overrides {
		if path := originalPath(override.Field, config, fldPath); path != nil && harmless(override.Field, config, effective) {
			override.Field = path.String()
			warnings = append(warnings, override.String())
		}
	}
	return warnings
}

// harmless reports whether an override has the effect that users expect. Nodes detect their addresses with any method; pod routes are needed
// only without the overlay; and packets from an overlay to the nodes' DNS servers have the address of the node in any case. The overlay
// setting takes precedence over backend and modes by definition: upstream's admission adds it to new shoots whatever else they have, so that
// exported manifests contain both.
func harmless(name string, config, effective *v1alpha1.NetworkConfig) bool {
	switch name {
	case "backend", "ipv4.mode":
		return config.Overlay != nil && effective.Overlay != nil && config.Overlay.Enabled == effective.Overlay.Enabled
	case "ipv4.autoDetectionMethod", "ipv6.autoDetectionMethod":
		return true
	case "overlay.createPodRoutes", "snatToUpstreamDNS.enabled":
		return effective.IPv4 != nil && effective.IPv4.Mode.Encapsulates()
	default:
		return false
	}
}

func validateOverrides(config *v1alpha1.NetworkConfig, context v1alpha1.DefaultingContext, fldPath *field.Path) field.ErrorList {
	var errs field.ErrorList
	effective, overrides := config.DefaultWithOverrides(context)
	for _, override := range overrides {
		if path := originalPath(override.Field, config, fldPath); path != nil && !harmless(override.Field, config, effective) {
			errs = append(errs, field.Invalid(path, override.Given,
				fmt.Sprintf("would be %s: %s: write that, or remove the field", override.Effective, override.Reason)))
		}
	}
	if !has(context.IPFamilies, gardencorev1beta1.IPFamilyIPv6) {
		return errs
	}
	if config.Overlay != nil && config.Overlay.Enabled {
		errs = addUnlessKnown(errs, field.Invalid(fldPath.Child("overlay", "enabled"), true, "packets of shoots with IPv6 are not wrapped: set it to false"))
	}
	if config.VXLAN != nil && config.VXLAN.Enabled {
		errs = addUnlessKnown(errs, field.Invalid(fldPath.Child("vxlan", "enabled"), true, "packets of shoots with IPv6 are not wrapped: remove the field"))
	}
	return errs
}

// addUnlessKnown adds errors for fields that have none yet: one error per field is enough.
func addUnlessKnown(errs field.ErrorList, more ...*field.Error) field.ErrorList {
	known := map[string]bool{}
	for _, err := range errs {
		known[err.Field] = true
	}
	for _, err := range more {
		if !known[err.Field] {
			errs = append(errs, err)
		}
	}
	return errs
}

// originalPath returns the path of a field that the user set, which may be a deprecated field. It returns nil for a field that results from
// other fields: those have the error.
func originalPath(name string, config *v1alpha1.NetworkConfig, fldPath *field.Path) *field.Path {
	ipv4 := config.IPv4
	if ipv4 == nil {
		ipv4 = &v1alpha1.IPv4{}
	}
	first, rest, nested := strings.Cut(name, ".")
	switch {
	case name == "ipv4.pool" && ipv4.Pool == nil, name == "ipv4.mode" && config.ModeIPv4() == nil:
		return nil
	case name == "ipv4.mode" && ipv4.Mode == nil:
		return fldPath.Child("ipip")
	case name == "ipv4.autoDetectionMethod" && (ipv4.AutoDetectionMethod == nil || *ipv4.AutoDetectionMethod == ""):
		return fldPath.Child("ipAutodetectionMethod")
	case nested:
		return fldPath.Child(first, strings.Split(rest, ".")...)
	default:
		return fldPath.Child(first)
	}
}

// validateAddresses checks that ranges are of the right family, and in canonical form.
func validateAddresses(config *v1alpha1.NetworkConfig, families []gardencorev1beta1.IPFamily, fldPath *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, given := range detections(config, fldPath) {
		if text, found := given.otherFamily(); found {
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
		return nil // validateMTU rejects what is not a number
	}
	return field.ErrorList{field.Invalid(path, *text, fmt.Sprintf(`choose a number of bytes between %d and %d, or "0" to let Calico find it out`, least, maxMTU))}
}
