package validation

import (
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/internal/shoots"
	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

// ShootNeedsValidation reports whether ValidateShoot could reject a write in any context. Most writes of Shoots change
// none of the validated fields: the formatting of a document or the number of a pool's machines make no difference. Nor do
// credentials: new ones must be for the project of the network.
func ShootNeedsValidation(shoot, oldShoot *gardencorev1beta1.Shoot) bool {
	return shoots.NeedsValidation(shoot, oldShoot, validatedFieldsOf)
}

// validatedFields are the validated fields of a Shoot.
type validatedFields struct {
	shoots.Validated
	Secrets []string
}

func validatedFieldsOf(shoot *gardencorev1beta1.Shoot) validatedFields {
	return validatedFields{Validated: shoots.ValidatedOf(shoot), Secrets: secretsOfShoot(shoot)}
}

// validateShootInfrastructureUpdate rejects changes of immutable fields. A configuration that cannot be decoded cannot be
// compared; that is reported elsewhere, if it is new.
func validateShootInfrastructureUpdate(shoot, oldShoot *gardencorev1beta1.Shoot) field.ErrorList {
	oldConfig, err := v1alpha1.DecodeStoredInfrastructureConfig(oldShoot.Spec.Provider.InfrastructureConfig)
	if err != nil {
		return nil
	}
	config, err := v1alpha1.DecodeStoredInfrastructureConfig(shoot.Spec.Provider.InfrastructureConfig)
	if err != nil {
		return nil
	}
	return ValidateInfrastructureConfigUpdate(oldConfig, config, shoots.ProviderPath("infrastructureConfig"))
}
