package validation

import (
	"fmt"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/gardenet/v1alpha1"
	"github.com/trellis-garden/trellis/apis/internal/codec"
	"github.com/trellis-garden/trellis/apis/internal/fields"
	"github.com/trellis-garden/trellis/apis/networking"
)

// The limits of an MTU: IPv6 guarantees the first, and above the second no common hardware works.
const (
	minMTU = 1280
	maxMTU = 9216
)

const (
	maxVXLANPort = 1<<16 - 1
	maxVXLANID   = 1<<24 - 1
	// maxDeniedPackets bounds logging.deniedPackets.perSecond: logs are for people.
	maxDeniedPackets = 1000
	// maxRanges bounds masquerade.nonMasqueradeCIDRs.
	maxRanges = 100
)

// ValidateNetworkConfig rejects what can never be deployed on an infrastructure in a shoot with the given families (Shoot.spec.networking.ipFamilies, whether or not
// they are deployed yet).
func ValidateNetworkConfig(config *v1alpha1.NetworkConfig, families []gardencorev1beta1.IPFamily, infrastructure networking.Infrastructure, path *field.Path) field.ErrorList {
	errs := validateIPAM(config.IPAM, path.Child("ipam"))
	errs = append(errs, validateOverlay(config, infrastructure, path.Child("overlay"))...)
	if mtu := config.MTU; mtu != nil && *mtu != v1alpha1.DefaultMTU {
		errs = append(errs, inRange(mtu, minMTU, maxMTU, "or 0 to let nodes find it out", path.Child("mtu"))...)
	}
	if config.Masquerade != nil {
		errs = append(errs, validateRanges(config.Masquerade.NonMasqueradeCIDRs, families, path.Child("masquerade", "nonMasqueradeCIDRs"))...)
	}
	errs = append(errs, validateNetworkPolicy(config.NetworkPolicy, path.Child("networkPolicy"))...)
	errs = append(errs, validateLogging(config, path.Child("logging"))...)
	return append(errs, validateResources(config.Resources, path.Child("resources"))...)
}

func validateIPAM(ipam *v1alpha1.IPAM, path *field.Path) field.ErrorList {
	if ipam == nil {
		return nil
	}
	errs := only(ipam.Type, path.Child("type"), v1alpha1.IPAMHostLocal)
	return append(errs, only(ipam.CIDR, path.Child("cidr"), v1alpha1.IPAMUsePodCIDR)...)
}

// validateOverlay checks that packets get to other nodes.
func validateOverlay(config *v1alpha1.NetworkConfig, infrastructure networking.Infrastructure, path *field.Path) field.ErrorList {
	if config.Overlay == nil {
		return nil
	}
	var errs field.ErrorList
	effective := config.Default(infrastructure).Overlay
	switch {
	case *effective.Enabled && !infrastructure.VXLAN:
		errs = append(errs, field.Invalid(path.Child("enabled"), true, fmt.Sprintf("infrastructure %q does not let VXLAN through: set it to false", infrastructure.Type)))
	case *effective.Enabled && *effective.CreatePodRoutes:
		errs = append(errs, field.Forbidden(path.Child("createPodRoutes"), "has an effect with the overlay off only: set overlay.enabled to false, or remove the field"))
	case !*effective.Enabled && !*effective.CreatePodRoutes && !infrastructure.CloudRoutes:
		errs = append(errs, field.Invalid(path.Child("enabled"), false, fmt.Sprintf("infrastructure %q has no routes to pods: set it to true, or, "+
			"if all nodes are in one layer 2 network, overlay.createPodRoutes to true", infrastructure.Type)))
	}
	if vxlan := config.Overlay.VXLAN; vxlan != nil {
		errs = append(errs, inRange(vxlan.Port, 1, maxVXLANPort, "or remove the field", path.Child("vxlan", "port"))...)
		errs = append(errs, inRange(vxlan.ID, 1, maxVXLANID, "or remove the field", path.Child("vxlan", "id"))...)
	}
	return errs
}

func validateNetworkPolicy(policy *v1alpha1.NetworkPolicy, path *field.Path) field.ErrorList {
	if policy == nil {
		return nil
	}
	errs := only(policy.Established, path.Child("established"), v1alpha1.EstablishedRecheck, v1alpha1.EstablishedKeep)
	if policy.Enabled != nil && !*policy.Enabled && policy.Established != "" {
		errs = append(errs, field.Forbidden(path.Child("established"), "has no effect where networkPolicy.enabled is false: set that to true, or remove this field"))
	}
	return errs
}

func validateLogging(config *v1alpha1.NetworkConfig, path *field.Path) field.ErrorList {
	if config.Logging == nil || config.Logging.DeniedPackets == nil {
		return nil
	}
	path = path.Child("deniedPackets")
	denied, policy := config.Logging.DeniedPackets, config.NetworkPolicy
	errs := inRange(denied.PerSecond, 1, maxDeniedPackets, "or remove the field", path.Child("perSecond"))
	if denied.Enabled != nil && *denied.Enabled && policy != nil && policy.Enabled != nil && !*policy.Enabled {
		errs = append(errs, field.Forbidden(path.Child("enabled"), "has no effect where networkPolicy.enabled is false: set that to true, or remove this field"))
	}
	return errs
}

// validateRanges checks that ranges are in canonical form, of a family of the shoot, and there once.
func validateRanges(ranges []string, families []gardencorev1beta1.IPFamily, path *field.Path) field.ErrorList {
	if len(ranges) > maxRanges {
		return field.ErrorList{field.TooMany(path, len(ranges), maxRanges)}
	}
	var errs field.ErrorList
	seen := fields.Seen[string]{}
	for i, text := range ranges {
		prefix, wrong := fields.ParseRange(text, path.Index(i))
		if len(wrong) > 0 {
			errs = append(errs, wrong...)
			continue
		}
		family := gardencorev1beta1.IPFamilyIPv4
		if prefix.Addr().Is6() {
			family = gardencorev1beta1.IPFamilyIPv6
		}
		switch {
		case seen.IsDuplicate(text):
			errs = append(errs, fields.Duplicate(path.Index(i), text))
		case !has(families, family):
			errs = append(errs, field.Invalid(path.Index(i), text, fmt.Sprintf("the shoot has no %s: remove it", family)))
		}
	}
	return errs
}

// only rejects a value that is not allowed. An absent field is accepted.
func only[Value ~string](value Value, path *field.Path, allowed ...Value) field.ErrorList {
	names := make([]string, 0, len(allowed))
	for _, name := range allowed {
		if value == name {
			return nil
		}
		names = append(names, string(name))
	}
	if value == "" {
		return nil
	}
	err := field.Invalid(path, value, fmt.Sprintf("write %s, or remove the field", strings.Join(names, " or ")))
	err.Type = field.ErrorTypeNotSupported
	return field.ErrorList{err}
}

// inRange rejects a number outside of a range. An absent field is accepted.
func inRange(number *int, least, most int, otherwise string, path *field.Path) field.ErrorList {
	if number == nil || *number >= least && *number <= most {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *number, fmt.Sprintf("choose a number from %d to %d, %s", least, most, otherwise))}
}

// DecodingErrors converts the error of a Decode function of v1alpha1 into errors below path: one for each invalid field. Errors about unknown fields list the fields
// that there are.
func DecodingErrors(path *field.Path, err error) field.ErrorList {
	errs := codec.FieldErrors(path, err)
	for _, each := range errs {
		if strings.Contains(each.Detail, "unknown field") {
			each.Detail += "; the fields are " + strings.Join(v1alpha1.Fields(), ", ")
		}
	}
	return errs
}
