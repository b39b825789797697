package openstack

import (
	"context"
	"fmt"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/apis/openstack/validation"
	"github.com/trellis-garden/trellis/internal/admission"
)

func shootKind() schema.GroupVersionKind {
	return gardencorev1beta1.SchemeGroupVersion.WithKind("Shoot")
}

func shootWebhooks(garden admission.Garden, options Options) []admission.Webhook {
	webhook := admission.Webhook{
		Rules: admission.CreationsAndUpdates(gardencorev1beta1.GroupName, gardencorev1beta1.SchemeGroupVersion.Version, "shoots"),
		// The selector uses a label of Gardener's: the handler checks the shoot's type again.
		ObjectSelector: admission.Labelled(v1beta1constants.LabelExtensionProviderTypePrefix, Type),
	}
	validating := webhook
	validating.Name, validating.Handler = "shoot."+Type, admission.Validate(shootKind(), shootValidator{garden}.validate)
	webhooks := []admission.Webhook{validating}
	if options.NodeLocalDNSWithoutTCP {
		defaulting := webhook
		defaulting.Name, defaulting.Mutates, defaulting.Handler = "shootdefaults."+Type, true, shootDefaults()
		webhooks = append(webhooks, defaulting)
	}
	return webhooks
}

// shootValidator validates Shoots.
type shootValidator struct {
	garden admission.Garden
}

// validate returns all errors at once. A failed read is returned only if there are no other errors.
func (s shootValidator) validate(ctx context.Context, shoot, old *gardencorev1beta1.Shoot) (admission.Result, error) {
	if shoot.Spec.Provider.Type != Type {
		return admission.Result{}, nil
	}
	if errs := tooLarge(shoot, old); len(errs) > 0 {
		return admission.Result{Errors: errs}, nil
	}
	gates := validateFeatureGates(shoot, old)
	if !validation.ShootNeedsValidation(shoot, old) {
		return admission.Result{Errors: gates}, nil
	}
	in, errs, err := s.validationContext(ctx, shoot, old)
	errs = append(errs, gates...)
	if errs = append(errs, validation.ValidateShoot(shoot, old, in)...); len(errs) > 0 {
		return admission.Result{Errors: errs}, nil
	}
	return admission.Result{}, err
}

// tooLarge returns an error for each document that exceeds its limit.
func tooLarge(shoot, old *gardencorev1beta1.Shoot) field.ErrorList {
	before := gardencorev1beta1.Provider{}
	if old != nil {
		before = old.Spec.Provider
	}
	path, provider := field.NewPath("spec", "provider"), shoot.Spec.Provider
	errs := admission.TooLarge(provider.InfrastructureConfig, before.InfrastructureConfig, admission.MaxShootConfig, path.Child("infrastructureConfig"))
	errs = append(errs, admission.TooLarge(provider.ControlPlaneConfig, before.ControlPlaneConfig, admission.MaxShootConfig, path.Child("controlPlaneConfig"))...)
	oldPoolConfigs := map[string]*runtime.RawExtension{}
	for _, pool := range before.Workers {
		oldPoolConfigs[pool.Name] = pool.ProviderConfig
	}
	for i, pool := range provider.Workers {
		poolPath := path.Child("workers").Index(i).Child("providerConfig")
		errs = append(errs, admission.TooLarge(pool.ProviderConfig, oldPoolConfigs[pool.Name], admission.MaxShootConfig, poolPath)...)
	}
	return errs
}

// validationContext returns the context as far as it can be read, and the errors in it. Gardener itself rejects a shoot without
// CloudProfile.
func (s shootValidator) validationContext(
	ctx context.Context, shoot, old *gardencorev1beta1.Shoot,
) (in validation.ShootValidationContext, errs field.ErrorList, err error) {
	spec, err := s.garden.CloudProfileSpec(ctx, shoot)
	if err != nil || spec == nil {
		return in, nil, err
	}
	if in.Profile, errs = readProfile(spec, shoot, old); in.Profile == nil {
		return in, errs, nil
	}
	in.Spec = spec
	in.Domain, err = s.domain(ctx, shoot, in.Profile)
	return in, nil, err
}

// readProfile returns the CloudProfile's configuration for OpenStack. If it is invalid, shoots that newly choose the profile get an error;
// shoots that already use it are validated without it.
func readProfile(spec *gardencorev1beta1.CloudProfileSpec, shoot, old *gardencorev1beta1.Shoot) (*v1alpha1.CloudProfileConfig, field.ErrorList) {
	profile, err := v1alpha1.DecodeCloudProfileConfig(spec.ProviderConfig)
	if err == nil {
		return profile, nil
	}
	reference, path := validation.CloudProfileOf(shoot)
	if old != nil {
		if before, _ := validation.CloudProfileOf(old); before == reference {
			return nil, nil
		}
	}
	return nil, field.ErrorList{field.Invalid(path, reference.Name,
		fmt.Sprintf("what this %s says about OpenStack cannot be used: choose another, or ask its admin to correct its spec.providerConfig: %v", reference.Kind, err))}
}

// domain returns the name of the Keystone domain of the shoot's project. It is empty if the credentials do not contain it, and if
// the profile does not depend on it: then credentials are not read.
func (s shootValidator) domain(ctx context.Context, shoot *gardencorev1beta1.Shoot, profile *v1alpha1.CloudProfileConfig) (string, error) {
	if !slices.ContainsFunc(profile.Constraints.FloatingPools, func(pool v1alpha1.FloatingPool) bool { return pool.Domain != nil }) {
		return "", nil
	}
	credentials, err := s.garden.CredentialsOf(ctx, shoot)
	if err != nil {
		return "", err
	}
	return validation.DomainName(credentials), nil
}
