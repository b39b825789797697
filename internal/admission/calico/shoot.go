package calico

import (
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/calico/validation"
	"github.com/trellis-garden/trellis/apis/networking"
)

// validate rejects what the Network controller could not deploy, or would deploy differently.
func validate(shoot, old *gardencorev1beta1.Shoot) (errs field.ErrorList, warnings []string) {
	return validation.ValidateShootNetwork(shoot, old, networking.InfrastructureOf(shoot.Spec.Provider.Type))
}
