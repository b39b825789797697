package validation

import (
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/apis/internal/codec"
	"github.com/trellis-garden/trellis/apis/internal/machineimage"
	"github.com/trellis-garden/trellis/apis/internal/shoots"
	"github.com/trellis-garden/trellis/apis/ratcheting"
)

// ShootValidationContext is the context in which a Shoot is validated.
type ShootValidationContext struct {
	// Profile is the CloudProfile's configuration, and Spec the CloudProfile itself. Without them, what depends on them is not checked.
	Profile *v1alpha1.CloudProfileConfig
	Spec    *gardencorev1beta1.CloudProfileSpec
}

// ValidateShoot checks all AWS configuration of a Shoot. oldShoot is the old Shoot, nil for a new one.
//
// Changes of immutable fields are rejected. Other errors are reported only if oldShoot does not have them in the same
// context: it may have been admitted by other rules, and must stay changeable, not least by Gardener. For the same reason
// unknown fields of oldShoot are ignored.
//
// It does not check a Shoot without infrastructure: one without workers, or a self-hosted one with its own machines.
// Gardener itself rejects configurations in the former.
func ValidateShoot(shoot, oldShoot *gardencorev1beta1.Shoot, in ShootValidationContext) field.ErrorList {
	if !shoots.HasInfrastructure(shoot) {
		return nil
	}
	errs := in.validateConfigs(shoot)
	if oldShoot != nil && shoots.HasInfrastructure(oldShoot) {
		errs = ratcheting.Introduced(in.validateConfigs(oldShoot), errs)
		errs = append(errs, validateShootInfrastructureUpdate(shoot, oldShoot)...)
	} else {
		oldShoot = nil
	}
	return append(errs, in.validatePools(shoot, oldShoot)...)
}

// ShootNeedsValidation reports whether ValidateShoot could reject a write in any context. Most writes of Shoots change
// none of the validated fields: the formatting of a document or the number of a pool's machines make no difference.
func ShootNeedsValidation(shoot, oldShoot *gardencorev1beta1.Shoot) bool {
	return shoots.NeedsValidation(shoot, oldShoot, validatedFieldsOf)
}

// DecodingErrors converts the error of a Decode function of v1alpha1 into errors below path: one for each invalid field.
func DecodingErrors(path *field.Path, err error) field.ErrorList { return codec.FieldErrors(path, err) }

// validatedFieldsOf returns the validated fields of a Shoot. Those of the network tell whether there is an overlay.
func validatedFieldsOf(shoot *gardencorev1beta1.Shoot) shoots.Validated {
	validated := shoots.ValidatedOf(shoot)
	if networking := shoot.Spec.Networking; networking != nil {
		validated.Networking.Type, validated.Networking.ProviderConfig = networking.Type, shoots.Canonical(networking.ProviderConfig)
	}
	return validated
}

func infrastructureConfigs() shoots.Reader[v1alpha1.InfrastructureConfig] {
	return shoots.Reader[v1alpha1.InfrastructureConfig]{
		Kind: kindOf("InfrastructureConfig"), Strictly: v1alpha1.DecodeInfrastructureConfig, Leniently: v1alpha1.DecodeStoredInfrastructureConfig,
	}
}

func controlPlaneConfigs() shoots.Reader[v1alpha1.ControlPlaneConfig] {
	return shoots.Reader[v1alpha1.ControlPlaneConfig]{
		Kind: kindOf("ControlPlaneConfig"), Strictly: v1alpha1.DecodeControlPlaneConfig, Leniently: v1alpha1.DecodeStoredControlPlaneConfig,
	}
}

// validateConfigs checks the networking, and the configurations of infrastructure and control plane. The latter may be absent.
func (in ShootValidationContext) validateConfigs(shoot *gardencorev1beta1.Shoot) field.ErrorList {
	path := shoots.ProviderPath("infrastructureConfig")
	infrastructure, errs := infrastructureConfigs().Required(shoot.Spec.Provider.InfrastructureConfig, path)
	if infrastructure != nil {
		errs = append(errs, ValidateInfrastructureConfig(infrastructure, nil, shoot.Spec.Networking, path)...)
		errs = append(errs, ValidateZones(infrastructure, shoot.Spec.Region, in.Spec, path)...)
	}
	errs = append(errs, validateOverlay(shoot.Spec.Networking)...)

	path = shoots.ProviderPath("controlPlaneConfig")
	controlPlane, invalid := controlPlaneConfigs().Read(shoot.Spec.Provider.ControlPlaneConfig, path)
	errs = append(errs, invalid...)
	if controlPlane != nil {
		errs = append(errs, ValidateControlPlaneConfig(controlPlane, nil, path)...)
	}
	return errs
}

func (in ShootValidationContext) validatePools(shoot, oldShoot *gardencorev1beta1.Shoot) field.ErrorList {
	var zones []v1alpha1.Zone
	// A configuration that cannot be decoded is reported elsewhere.
	if infrastructure, err := v1alpha1.DecodeStoredInfrastructureConfig(shoot.Spec.Provider.InfrastructureConfig); err == nil {
		zones = infrastructure.Networks.Zones
	}
	var count machineimage.Count
	if in.Profile != nil {
		count = func(query machineimage.Query) int { return len(in.Profile.BestMachineImages(query)) }
	}
	return shoots.PoolRules{
		Machine: shoots.ImageRule(shoot.Spec.Region, in.Spec, count),
		Pool: func(pool, _ *WorkerPool, path *field.Path) field.ErrorList {
			return ValidateWorkerPool(pool, zones, path)
		},
		Update: ValidateWorkerPoolUpdate,
	}.Validate(shoot, oldShoot)
}

// validateShootInfrastructureUpdate rejects changes of immutable fields. A configuration that cannot be decoded cannot be
// compared; that is reported elsewhere, if it is new.
func validateShootInfrastructureUpdate(shoot, oldShoot *gardencorev1beta1.Shoot) field.ErrorList {
	configs := [2]*v1alpha1.InfrastructureConfig{}
	for i, raw := range []*runtime.RawExtension{oldShoot.Spec.Provider.InfrastructureConfig, shoot.Spec.Provider.InfrastructureConfig} {
		config, err := v1alpha1.DecodeStoredInfrastructureConfig(raw)
		if err != nil {
			return nil
		}
		configs[i] = config
	}
	return ValidateInfrastructureConfigUpdate(configs[0], configs[1], shoots.ProviderPath("infrastructureConfig"))
}
