package network

import (
	"fmt"
	"net/netip"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// NetworkingPath is where a user writes what a driver validates.
func NetworkingPath() *field.Path { return field.NewPath("spec", "networking") }

// ConfiguredFamilies are the IP families that the driver's configuration is for: all of the shoot, including one that is not deployed yet.
func (s *Shoot) ConfiguredFamilies() []gardencorev1beta1.IPFamily {
	families := s.Network.Spec.IPFamilies
	if len(families) == 0 {
		families = s.Families
	}
	return GardenFamilies(families)
}

// GardenFamilies returns IP families as values of the garden's type for them.
func GardenFamilies(families []extensionsv1alpha1.IPFamily) []gardencorev1beta1.IPFamily {
	var same []gardencorev1beta1.IPFamily
	for _, family := range families {
		same = append(same, gardencorev1beta1.IPFamily(family))
	}
	return same
}

// ValidateRanges checks that ranges can be read, and that there is one of pods for each deployed family.
func (s *Shoot) ValidateRanges() field.ErrorList {
	var errs field.ErrorList
	for _, ranges := range []struct {
		field, example string
		texts          []string
	}{
		{"pods", "100.96.0.0/11", s.PodRanges},
		{"nodes", "10.250.0.0/16", s.NodeRanges},
		{"services", "100.64.0.0/13", s.ServiceRanges},
	} {
		if _, err := ParseRanges(ranges.texts); err != nil {
			errs = append(errs, field.Invalid(NetworkingPath().Child(ranges.field), ranges.texts, fmt.Sprintf(
				"%v: give ranges in CIDR notation, like %s", err, ranges.example)))
		}
	}
	if len(errs) > 0 {
		return errs
	}
	pods, _ := ParseRanges(s.PodRanges) // they have just been read
	for _, family := range s.Families {
		if len(RangesOfFamily(family, pods)) == 0 {
			errs = append(errs, field.Required(NetworkingPath().Child("pods"), fmt.Sprintf(
				"pods are to have addresses of %s, for which there is no range: give one in CIDR notation, or leave the family out of spec.networking.ipFamilies", family)))
		}
	}
	return errs
}

// ParseRanges parses ranges in CIDR notation. It masks host bits, which plugins refuse.
func ParseRanges(texts []string) ([]netip.Prefix, error) {
	var ranges []netip.Prefix
	for _, text := range texts {
		parsed, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("%q is no range", text)
		}
		ranges = append(ranges, parsed.Masked())
	}
	return ranges, nil
}

// RangesOfFamily returns the ranges of a family, without those that lie within another one.
func RangesOfFamily(family extensionsv1alpha1.IPFamily, ranges []netip.Prefix) []netip.Prefix {
	var found []netip.Prefix
	for i, candidate := range ranges {
		covered := candidate.Addr().Is4() != (family == extensionsv1alpha1.IPFamilyIPv4)
		for j, other := range ranges {
			wider := other.Bits() < candidate.Bits() || other == candidate && j < i
			covered = covered || wider && other.Overlaps(candidate)
		}
		if !covered {
			found = append(found, candidate)
		}
	}
	return found
}
