package validation

import (
	"fmt"
	"net/netip"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/internal/fields"
	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

// The lengths of the prefixes: nodes configure their addresses by SLAAC, which requires a /64; every node takes a /64 of
// the pods' range; and services always use a /112, so every length is accepted.
const (
	nodePrefixIPv6       = 64
	maxPodPrefixIPv6     = 64
	maxServicePrefixIPv6 = 128
)

// validateIPFamilies checks that a dual-stack shoot has an ipv6 block. In an IPv4 shoot the block is ignored: Gardener lets a
// shoot go back from dual stack, and the block is immutable.
func validateIPFamilies(config *v1alpha1.IPv6Config, networking *gardencorev1beta1.Networking, path *field.Path) field.ErrorList {
	var families []gardencorev1beta1.IPFamily
	if networking != nil {
		families = networking.IPFamilies
	}
	var (
		familiesPath = field.NewPath("spec", "networking", "ipFamilies")
		hasIPv6      = slices.Contains(families, gardencorev1beta1.IPFamilyIPv6)
		hasIPv4      = len(families) == 0 || slices.Contains(families, gardencorev1beta1.IPFamilyIPv4)
		errs         field.ErrorList
	)
	if hasIPv6 && !hasIPv4 {
		errs = append(errs, field.Invalid(familiesPath, families, "shoots with IPv6 alone are not supported: use [IPv4] or [IPv4, IPv6]"))
	}
	if config == nil && hasIPv6 {
		errs = append(errs, field.Required(path, "say where the IPv6 ranges of the dual-stack shoot come from: set subnetPoolID, or nodeCIDR, podCIDR and serviceCIDR"))
	}
	return errs
}

// validateIPv6 checks the block. Ranges take precedence over a pool, which then has no effect.
func validateIPv6(config *v1alpha1.IPv6Config, path *field.Path) field.ErrorList {
	switch {
	case config == nil:
		return nil
	case config.SubnetPoolID != nil && !config.HasRanges():
		return validateUUID(*config.SubnetPoolID, "subnet pool", path.Child("subnetPoolID"))
	default:
		return validateIPv6Ranges(config, path)
	}
}

func validateIPv6Ranges(config *v1alpha1.IPv6Config, path *field.Path) field.ErrorList {
	var (
		errs   field.ErrorList
		parsed = map[string]netip.Prefix{}
		ranges = ipv6Ranges(config)
	)
	for i, given := range ranges {
		rangePath := path.Child(given.name)
		if given.text == "" {
			errs = append(errs, field.Required(rangePath, "give all three of nodeCIDR, podCIDR and serviceCIDR, or subnetPoolID alone"))
			continue
		}
		prefix, invalid := fields.ParseRange(given.text, rangePath)
		if len(invalid) > 0 {
			errs = append(errs, invalid...)
			continue
		}
		if !prefix.Addr().Is6() {
			errs = append(errs, field.Invalid(rangePath, given.text, "give an IPv6 range here; IPv4 ranges belong into networks.workers and spec.networking"))
			continue
		}
		errs = append(errs, given.validateSize(prefix, rangePath)...)
		parsed[given.name] = prefix
		for _, other := range ranges[:i] {
			if otherPrefix, ok := parsed[other.name]; ok && otherPrefix.Overlaps(prefix) {
				errs = append(errs, field.Invalid(rangePath, given.text, fmt.Sprintf("overlaps %s (%s): change one of the two", other.name, other.text)))
			}
		}
	}
	return errs
}

type ipv6Range struct {
	name, text       string
	minBits, maxBits int
}

func ipv6Ranges(config *v1alpha1.IPv6Config) []ipv6Range {
	return []ipv6Range{
		{name: "nodeCIDR", text: config.NodeCIDR, minBits: nodePrefixIPv6, maxBits: nodePrefixIPv6},
		{name: "podCIDR", text: config.PodCIDR, maxBits: maxPodPrefixIPv6},
		{name: "serviceCIDR", text: config.ServiceCIDR, maxBits: maxServicePrefixIPv6},
	}
}

func (r ipv6Range) validateSize(prefix netip.Prefix, path *field.Path) field.ErrorList {
	switch {
	case prefix.Bits() > r.maxBits:
		return field.ErrorList{field.Invalid(path, r.text, fmt.Sprintf("is too small: give a /%d%s", r.maxBits, orLarger(r)))}
	case prefix.Bits() < r.minBits:
		return field.ErrorList{field.Invalid(path, r.text, fmt.Sprintf("is too large: give a /%d", r.minBits))}
	}
	return nil
}

func orLarger(r ipv6Range) string {
	if r.minBits == r.maxBits {
		return ""
	}
	return " or larger"
}
