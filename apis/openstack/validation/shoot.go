package validation

import (
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/internal/codec"
	"github.com/trellis-garden/trellis/apis/internal/machineimage"
	"github.com/trellis-garden/trellis/apis/internal/shoots"
	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/apis/ratcheting"
)

// ShootValidationContext is the context in which a Shoot is validated.
type ShootValidationContext struct {
	// Profile is the CloudProfile's configuration. Without it, what depends on it is not checked.
	Profile *v1alpha1.CloudProfileConfig
	// Spec is the CloudProfile itself. Without it, images are not checked.
	Spec *gardencorev1beta1.CloudProfileSpec
	// Domain is the Keystone domain, by name, of the shoot's project. It is empty if it is unknown: credentials may contain its ID instead,
	// or be missing. Then a value is valid if it is valid in any domain.
	Domain string
}

// ValidateShoot checks all OpenStack configuration of a Shoot. oldShoot is the old Shoot, nil for a new one.
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
	if oldShoot == nil || !shoots.HasInfrastructure(oldShoot) {
		return append(in.validateConfigs(shoot, nil), in.validatePools(shoot, nil)...)
	}
	errs := ratcheting.Introduced(in.validateConfigs(oldShoot, oldShoot), in.validateConfigs(shoot, oldShoot))
	errs = append(errs, validateShootInfrastructureUpdate(shoot, oldShoot)...)
	return append(errs, in.validatePools(shoot, oldShoot)...)
}

// validateConfigs checks the configurations of infrastructure and control plane. accepted is the Shoot with those that were accepted before.
func (in ShootValidationContext) validateConfigs(shoot, accepted *gardencorev1beta1.Shoot) field.ErrorList {
	path := shoots.ProviderPath("infrastructureConfig")
	infrastructure, errs := infrastructureConfigs().Required(shoot.Spec.Provider.InfrastructureConfig, path)
	if infrastructure != nil {
		errs = append(errs, ValidateInfrastructureConfig(infrastructure, nil, shoot.Spec.Networking, path)...)
		if in.Profile != nil {
			errs = append(errs, validateFloatingPoolInAny(infrastructure, in.Profile, shoot.Spec.Region, in.domains(), path)...)
		}
	}

	controlPlane, invalid := controlPlaneConfigs().Required(shoot.Spec.Provider.ControlPlaneConfig, shoots.ProviderPath("controlPlaneConfig"))
	errs = append(errs, invalid...)
	if controlPlane == nil {
		return errs
	}
	var acceptedConfig *v1alpha1.ControlPlaneConfig
	if accepted != nil {
		// A configuration that cannot be decoded was not accepted, so everything is checked.
		acceptedConfig, _ = v1alpha1.DecodeStoredControlPlaneConfig(accepted.Spec.Provider.ControlPlaneConfig)
	}
	return append(errs, in.validateControlPlane(controlPlane, acceptedConfig, infrastructure, shoot)...)
}

func infrastructureConfigs() shoots.Reader[v1alpha1.InfrastructureConfig] {
	return shoots.Reader[v1alpha1.InfrastructureConfig]{
		Kind:     v1alpha1.GroupVersion().WithKind("InfrastructureConfig"),
		Strictly: v1alpha1.DecodeInfrastructureConfig, Leniently: v1alpha1.DecodeStoredInfrastructureConfig,
	}
}

func controlPlaneConfigs() shoots.Reader[v1alpha1.ControlPlaneConfig] {
	return shoots.Reader[v1alpha1.ControlPlaneConfig]{
		Kind:     v1alpha1.GroupVersion().WithKind("ControlPlaneConfig"),
		Strictly: v1alpha1.DecodeControlPlaneConfig, Leniently: v1alpha1.DecodeStoredControlPlaneConfig,
	}
}

// DecodingErrors converts the error of a Decode function of v1alpha1 into errors below path: one for each invalid field.
func DecodingErrors(path *field.Path, err error) field.ErrorList { return codec.FieldErrors(path, err) }

func (in ShootValidationContext) validateControlPlane(
	config, oldConfig *v1alpha1.ControlPlaneConfig, infrastructure *v1alpha1.InfrastructureConfig, shoot *gardencorev1beta1.Shoot,
) field.ErrorList {
	validationContext := ControlPlaneValidationContext{
		Profile: in.Profile,
		Region:  shoot.Spec.Region,
		// An infrastructure configuration that cannot be decoded is reported alone.
		ShareNetwork: infrastructure == nil || shareNetworkEnabled(&infrastructure.Networks),
		Secrets:      secretsOfShoot(shoot),
		IPv6:         shoot.Spec.Networking != nil && slices.Contains(shoot.Spec.Networking.IPFamilies, gardencorev1beta1.IPFamilyIPv6),
	}
	if infrastructure != nil {
		validationContext.FloatingPoolName = infrastructure.FloatingPoolName
	}
	var best field.ErrorList
	for i, domain := range in.domainsWithPool(validationContext.FloatingPoolName, shoot.Spec.Region) {
		validationContext.Domain = domain
		if errs := ValidateControlPlaneConfig(config, oldConfig, validationContext, shoots.ProviderPath("controlPlaneConfig")); i == 0 || len(errs) < len(best) {
			best = errs
		}
	}
	return best
}

func secretsOfShoot(shoot *gardencorev1beta1.Shoot) []string {
	var names []string
	for _, resource := range shoot.Spec.Resources {
		if resource.ResourceRef.Kind == "Secret" {
			names = append(names, resource.Name)
		}
	}
	return names
}

// domains returns the domains in which the shoot's project may be, as far as they differ in the CloudProfile. There is at least one,
// possibly without a name.
func (in ShootValidationContext) domains() []string {
	domains := []string{in.Domain}
	if in.Domain != "" || in.Profile == nil {
		return domains
	}
	for _, pool := range in.Profile.Constraints.FloatingPools {
		if pool.Domain != nil && !slices.Contains(domains, *pool.Domain) {
			domains = append(domains, *pool.Domain)
		}
	}
	return domains
}

// domainsWithPool are those of the domains in which the CloudProfile allows the floating pool, or all if there is none.
func (in ShootValidationContext) domainsWithPool(name, region string) []string {
	all := in.domains()
	var domains []string
	for _, domain := range all {
		if in.Profile != nil && in.Profile.FindFloatingPool(name, region, domain) != nil {
			domains = append(domains, domain)
		}
	}
	if len(domains) == 0 {
		return all
	}
	return domains
}

func (in ShootValidationContext) validatePools(shoot, oldShoot *gardencorev1beta1.Shoot) field.ErrorList {
	var count machineimage.Count
	if in.Profile != nil {
		count = func(query machineimage.Query) int { return len(in.Profile.BestMachineImages(query)) }
	}
	return shoots.PoolRules{
		Machine: shoots.ImageRule(shoot.Spec.Region, in.Spec, count),
		Pool: func(pool, oldPool *WorkerPool, path *field.Path) field.ErrorList {
			return ValidateWorkerPool(pool, oldPool, in.Profile, path)
		},
		Update: ValidateWorkerPoolUpdate,
	}.Validate(shoot, oldShoot)
}
