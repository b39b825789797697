package gardenet

import (
	"fmt"
	"net/netip"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/gardenet/v1alpha1"
	"github.com/trellis-garden/trellis/apis/gardenet/validation"
	"github.com/trellis-garden/trellis/internal/network"
)

func networkingPath() *field.Path { return field.NewPath("spec", "networking") }

func decode(shoot *network.Shoot) (*v1alpha1.NetworkConfig, error) {
	return v1alpha1.DecodeNetworkConfig(shoot.Network.Spec.ProviderConfig)
}

// validate refuses what can never be deployed.
func validate(shoot *network.Shoot) field.ErrorList {
	path := networkingPath().Child("providerConfig")
	config, err := decode(shoot)
	if err != nil {
		return validation.DecodingErrors(path, err)
	}
	// The configuration is for all families of the shoot, including one that is not deployed yet.
	families := familiesOf(shoot.Network.Spec.IPFamilies)
	if len(families) == 0 {
		families = familiesOf(shoot.Families)
	}
	errs := validation.ValidateNetworkConfig(config, families, shoot.Infrastructure, path)
	// The contract refuses that nobody routes Services.
	if shoot.KubeProxy.Enabled && *config.Default(shoot.Infrastructure).ServiceRouting.Enabled {
		errs = append(errs, validation.RoutedTwice())
	}
	return append(errs, validateRanges(shoot)...)
}

// validateRanges checks that there is one range of pods for each deployed family.
func validateRanges(shoot *network.Shoot) field.ErrorList {
	var errs field.ErrorList
	pods, err := readRanges(shoot.PodRanges)
	if err != nil {
		errs = append(errs, field.Invalid(networkingPath().Child("pods"), shoot.PodRanges, err.Error()+": give ranges in CIDR notation, like 100.96.0.0/11"))
	}
	if _, err := readRanges(shoot.NodeRanges); err != nil {
		errs = append(errs, field.Invalid(networkingPath().Child("nodes"), shoot.NodeRanges, err.Error()+": give ranges in CIDR notation, like 10.250.0.0/16"))
	}
	if _, err := readRanges(shoot.ServiceRanges); err != nil {
		errs = append(errs, field.Invalid(networkingPath().Child("services"), shoot.ServiceRanges, err.Error()+": give ranges in CIDR notation, like 100.64.0.0/13"))
	}
	if len(errs) > 0 {
		return errs
	}
	for _, family := range shoot.Families {
		switch ranges := ofFamily(pods, family); {
		case len(ranges) == 0:
			errs = append(errs, field.Required(networkingPath().Child("pods"), fmt.Sprintf(
				"pods are to have addresses of %s, for which there is no range: give one in CIDR notation, or leave the family out of spec.networking.ipFamilies", family)))
		case len(ranges) > 1:
			errs = append(errs, field.Invalid(networkingPath().Child("pods"), shoot.PodRanges, fmt.Sprintf("there are several ranges of %s: give one", family)))
		}
	}
	return errs
}

func familiesOf(families []extensionsv1alpha1.IPFamily) []gardencorev1beta1.IPFamily {
	var same []gardencorev1beta1.IPFamily
	for _, family := range families {
		same = append(same, gardencorev1beta1.IPFamily(family))
	}
	return same
}

// readRanges parses ranges in CIDR notation. It masks host bits.
func readRanges(texts []string) ([]netip.Prefix, error) {
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

// ofFamily returns the ranges of a family, without those that others contain.
func ofFamily(ranges []netip.Prefix, family extensionsv1alpha1.IPFamily) []netip.Prefix {
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
