package validation

import (
	"fmt"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/internal/codec"
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
	if !hasInfrastructure(shoot) {
		return nil
	}
	if oldShoot == nil || !hasInfrastructure(oldShoot) {
		return append(in.validateConfigs(shoot, nil), in.validatePools(shoot, nil)...)
	}
	errs := ratcheting.Introduced(in.validateConfigs(oldShoot, oldShoot), in.validateConfigs(shoot, oldShoot))
	errs = append(errs, validateShootInfrastructureUpdate(shoot, oldShoot)...)
	return append(errs, in.validatePools(shoot, oldShoot)...)
}

// hasInfrastructure reports whether Gardener creates an Infrastructure for the shoot.
func hasInfrastructure(shoot *gardencorev1beta1.Shoot) bool {
	selfHosted := slices.ContainsFunc(shoot.Spec.Provider.Workers, func(worker gardencorev1beta1.Worker) bool { return worker.ControlPlane != nil })
	hasCredentials := shoot.Spec.CredentialsBindingName != nil || shoot.Spec.SecretBindingName != nil
	return len(shoot.Spec.Provider.Workers) > 0 && (hasCredentials || !selfHosted)
}

func providerPath(name string) *field.Path { return field.NewPath("spec", "provider", name) }

// validateConfigs checks the configurations of infrastructure and control plane. accepted is the Shoot with those that were accepted before.
func (in ShootValidationContext) validateConfigs(shoot, accepted *gardencorev1beta1.Shoot) field.ErrorList {
	path := providerPath("infrastructureConfig")
	infrastructure, errs := readShootConfig(shoot.Spec.Provider.InfrastructureConfig, path, "InfrastructureConfig",
		v1alpha1.DecodeInfrastructureConfig, v1alpha1.DecodeStoredInfrastructureConfig)
	if infrastructure != nil {
		errs = append(errs, ValidateInfrastructureConfig(infrastructure, nil, shoot.Spec.Networking, path)...)
		if in.Profile != nil {
			errs = append(errs, validateFloatingPoolInAny(infrastructure, in.Profile, shoot.Spec.Region, in.domains(), path)...)
		}
	}

	controlPlane, invalid := readShootConfig(shoot.Spec.Provider.ControlPlaneConfig, providerPath("controlPlaneConfig"), "ControlPlaneConfig",
		v1alpha1.DecodeControlPlaneConfig, v1alpha1.DecodeStoredControlPlaneConfig)
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

// readShootConfig decodes a required configuration of a Shoot. Unknown fields are errors, but do not hide others. The
// configuration is nil if it is absent or cannot be decoded.
func readShootConfig[Config any](
	raw *runtime.RawExtension, path *field.Path, kind string, strictly, leniently func(*runtime.RawExtension) (*Config, error),
) (*Config, field.ErrorList) {
	if raw == nil || len(raw.Raw) == 0 || string(raw.Raw) == "null" {
		return nil, field.ErrorList{field.Required(path, fmt.Sprintf("give one with apiVersion %s and kind %s", v1alpha1.GroupVersion(), kind))}
	}
	config, err := strictly(raw)
	if err == nil {
		return config, nil
	}
	config, _ = leniently(raw)
	return config, DecodingErrors(path, err)
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
		if errs := ValidateControlPlaneConfig(config, oldConfig, validationContext, providerPath("controlPlaneConfig")); i == 0 || len(errs) < len(best) {
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

// validatePools checks the pools and matches them by name, since indices change when a pool is removed.
func (in ShootValidationContext) validatePools(shoot, oldShoot *gardencorev1beta1.Shoot) field.ErrorList {
	var errs field.ErrorList
	oldWorkers, known := poolsByName(oldShoot), map[machine]bool{}
	for _, oldWorker := range oldWorkers {
		known[machineOf(oldWorker)] = true
	}
	for i := range shoot.Spec.Provider.Workers {
		worker, path := &shoot.Spec.Provider.Workers[i], providerPath("workers").Index(i)
		pool := PoolOfShoot(worker)
		if wanted := machineOf(worker); !known[wanted] {
			errs = append(errs, in.validateImage(wanted, shoot.Spec.Region, path)...)
		}
		oldWorker := oldWorkers[worker.Name]
		if oldWorker == nil {
			errs = append(errs, ValidateWorkerPool(&pool, nil, in.Profile, path)...)
			continue
		}
		oldPool := PoolOfShoot(oldWorker)
		errs = append(errs, ratcheting.Introduced(
			ValidateWorkerPool(&oldPool, &oldPool, in.Profile, path), ValidateWorkerPool(&pool, &oldPool, in.Profile, path))...)
		errs = append(errs, ValidateWorkerPoolUpdate(&oldPool, &pool, path)...)
	}
	return errs
}

func poolsByName(shoot *gardencorev1beta1.Shoot) map[string]*gardencorev1beta1.Worker {
	pools := map[string]*gardencorev1beta1.Worker{}
	if shoot == nil {
		return pools
	}
	for i := range shoot.Spec.Provider.Workers {
		pools[shoot.Spec.Provider.Workers[i].Name] = &shoot.Spec.Provider.Workers[i]
	}
	return pools
}
