package gardenet

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/gardenet/v1alpha1"
	"github.com/trellis-garden/trellis/apis/gardenet/validation"
	"github.com/trellis-garden/trellis/internal/network"
)

func decode(shoot *network.Shoot) (*v1alpha1.NetworkConfig, error) {
	return v1alpha1.DecodeNetworkConfig(shoot.Network.Spec.ProviderConfig)
}

// validate refuses what can never be deployed.
func validate(shoot *network.Shoot) field.ErrorList {
	path := network.NetworkingPath().Child("providerConfig")
	config, err := decode(shoot)
	if err != nil {
		return validation.DecodingErrors(path, err)
	}
	errs := validation.ValidateNetworkConfig(config, shoot.ConfiguredFamilies(), shoot.Infrastructure, path)
	// The contract refuses that nobody routes Services.
	if shoot.KubeProxy.Enabled && *config.Default(shoot.Infrastructure).ServiceRouting.Enabled {
		errs = append(errs, validation.RoutedTwice())
	}
	return append(errs, validateRanges(shoot)...)
}

// validateRanges checks that there is one range of pods for each deployed family.
func validateRanges(shoot *network.Shoot) field.ErrorList {
	if errs := shoot.ValidateRanges(); len(errs) > 0 {
		return errs
	}
	var errs field.ErrorList
	pods, _ := network.ParseRanges(shoot.PodRanges) // they have just been read
	for _, family := range shoot.Families {
		if len(network.RangesOfFamily(family, pods)) > 1 {
			errs = append(errs, field.Invalid(network.NetworkingPath().Child("pods"), shoot.PodRanges, fmt.Sprintf("there are several ranges of %s: give one", family)))
		}
	}
	return errs
}
