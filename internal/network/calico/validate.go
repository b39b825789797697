package calico

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
	"github.com/trellis-garden/trellis/apis/calico/validation"
	"github.com/trellis-garden/trellis/internal/network"
)

func decode(shoot *network.Shoot) (*calicov1alpha1.NetworkConfig, error) {
	return calicov1alpha1.DecodeNetworkConfig(shoot.Network.Spec.ProviderConfig)
}

// validate refuses what can never be deployed. Settings without the expected effect are accepted for the sake of existing shoots, and reported in
// messages.
func validate(shoot *network.Shoot) field.ErrorList {
	path := network.NetworkingPath().Child("providerConfig")
	config, err := decode(shoot)
	if err != nil {
		return validation.DecodingErrors(path, err)
	}
	errs := validation.ValidateNetworkConfig(config, shoot.ConfiguredFamilies(), path)
	return append(errs, shoot.ValidateRanges()...)
}
