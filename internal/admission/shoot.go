package admission

import (
	"cmp"
	"context"
	"fmt"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/internal/mutation"
)

// ShootKind is the kind of Shoots.
func ShootKind() schema.GroupVersionKind { return coreKind("Shoot") }

func coreKind(kind string) schema.GroupVersionKind {
	return gardencorev1beta1.SchemeGroupVersion.WithKind(kind)
}

func providerPath() *field.Path { return field.NewPath("spec", "provider") }

// Shoots validates the Shoots of a provider type. Config is the configuration in its CloudProfiles.
type Shoots[Config any] struct {
	// Type is the provider type, Cloud its name in sentences.
	Type, Cloud string
	Garden      Garden
	// DecodeProfile decodes the configuration of a CloudProfile, and ignores unknown fields.
	DecodeProfile func(*runtime.RawExtension) (*Config, error)
	// NeedsValidation reports whether Validate could reject a write with any CloudProfile. old is nil for a new Shoot.
	NeedsValidation func(shoot, old *gardencorev1beta1.Shoot) bool
	// Validate checks a Shoot. A failed read is returned besides the errors that do not depend on it.
	Validate func(ctx context.Context, shoot, old *gardencorev1beta1.Shoot, profile ShootProfile[Config]) (field.ErrorList, error)
	// FeatureGates returns the feature gates of the cloud-controller-manager in a ControlPlaneConfig, and none if it cannot be decoded.
	FeatureGates func(controlPlaneConfig *runtime.RawExtension) map[string]bool
}

// ShootProfile is the CloudProfile of a Shoot and the configuration in it. Both are nil if the profile does not exist, which Gardener itself rejects, or
// the configuration of one that the Shoot already uses is invalid.
type ShootProfile[Config any] struct {
	Spec   *gardencorev1beta1.CloudProfileSpec
	Config *Config
}

// Webhook validates the Shoots.
func (s Shoots[Config]) Webhook() Webhook {
	webhook := shootWebhook(v1beta1constants.LabelExtensionProviderTypePrefix, s.Type)
	webhook.Name, webhook.Handler = "shoot."+s.Type, Validate(ShootKind(), s.validate)
	return webhook
}

// ShootDefaults returns the webhook that sets defaults of the Shoots of a provider type, and leaves writes alone that are not a user's: those that do not
// change the spec, and all while the control plane moves to another seed. Shoots without workers have no defaults.
func ShootDefaults(providerType string, set func(ctx context.Context, shoot, old *gardencorev1beta1.Shoot) error) Webhook {
	webhook := shootWebhook(v1beta1constants.LabelExtensionProviderTypePrefix, providerType)
	webhook.Name, webhook.Mutates = "shootdefaults."+providerType, true
	webhook.Handler = mutation.Handler(ShootKind(), func(ctx context.Context, shoot, old *gardencorev1beta1.Shoot) error {
		if shoot.Spec.Provider.Type != providerType || len(shoot.Spec.Provider.Workers) == 0 || !takesDefaults(shoot, old) {
			return nil
		}
		if len(tooLargeShoot(shoot, old)) > 0 { // rejected by validation
			return nil
		}
		return set(ctx, shoot, old)
	})
	return webhook
}

// shootWebhook returns a webhook for the Shoots with the label that Gardener gives those of a type. It may be outdated: handlers check the type again.
func shootWebhook(labelPrefix, extensionType string) Webhook {
	return Webhook{
		Rules:          CreationsAndUpdates(gardencorev1beta1.GroupName, gardencorev1beta1.SchemeGroupVersion.Version, "shoots"),
		ObjectSelector: Labelled(labelPrefix, extensionType),
	}
}

// validate returns all errors at once. A failed read is returned only if there are no other errors.
func (s Shoots[Config]) validate(ctx context.Context, shoot, old *gardencorev1beta1.Shoot) (Result, error) {
	if shoot.Spec.Provider.Type != s.Type {
		return Result{}, nil
	}
	if errs := tooLargeShoot(shoot, old); len(errs) > 0 {
		return Result{Errors: errs}, nil
	}
	gates := featureGates(s.FeatureGates).validate(shoot, old)
	if !s.NeedsValidation(shoot, old) {
		return Result{Errors: gates}, nil
	}
	profile, errs, unread := s.profile(ctx, shoot, old)
	errs = append(errs, gates...)
	invalid, failed := s.Validate(ctx, shoot, old, profile)
	if errs = append(errs, invalid...); len(errs) > 0 {
		return Result{Errors: errs}, nil
	}
	return Result{}, cmp.Or(unread, failed)
}

// tooLargeShoot returns an error for each document that exceeds its limit.
func tooLargeShoot(shoot, old *gardencorev1beta1.Shoot) field.ErrorList {
	before := gardencorev1beta1.Provider{}
	if old != nil {
		before = old.Spec.Provider
	}
	path, provider := providerPath(), shoot.Spec.Provider
	errs := TooLarge(provider.InfrastructureConfig, before.InfrastructureConfig, MaxShootConfig, path.Child("infrastructureConfig"))
	errs = append(errs, TooLarge(provider.ControlPlaneConfig, before.ControlPlaneConfig, MaxShootConfig, path.Child("controlPlaneConfig"))...)
	oldPoolConfigs := map[string]*runtime.RawExtension{}
	for _, pool := range before.Workers {
		oldPoolConfigs[pool.Name] = pool.ProviderConfig
	}
	for i, pool := range provider.Workers {
		poolPath := path.Child("workers").Index(i).Child("providerConfig")
		errs = append(errs, TooLarge(pool.ProviderConfig, oldPoolConfigs[pool.Name], MaxShootConfig, poolPath)...)
	}
	return errs
}

// profile returns the Shoot's CloudProfile. If its configuration is invalid, Shoots that newly choose the profile get an error; Shoots that already use
// it are validated without it.
func (s Shoots[Config]) profile(ctx context.Context, shoot, old *gardencorev1beta1.Shoot) (profile ShootProfile[Config], errs field.ErrorList, err error) {
	spec, err := s.Garden.CloudProfileSpec(ctx, shoot)
	if err != nil || spec == nil {
		return profile, nil, err
	}
	config, invalid := s.DecodeProfile(spec.ProviderConfig)
	if invalid == nil {
		return ShootProfile[Config]{Spec: spec, Config: config}, nil, nil
	}
	reference, path := cloudProfileOf(shoot)
	if old != nil {
		if before, _ := cloudProfileOf(old); before == reference {
			return profile, nil, nil
		}
	}
	return profile, field.ErrorList{field.Invalid(path, reference.Name, fmt.Sprintf(
		"what this %s says about %s cannot be used: choose another, or ask its admin to correct its spec.providerConfig: %v", reference.Kind, s.Cloud, invalid))}, nil
}

// cloudProfileOf returns the kind and name of the Shoot's CloudProfile, and the path of the field that references it.
func cloudProfileOf(shoot *gardencorev1beta1.Shoot) (gardencorev1beta1.CloudProfileReference, *field.Path) {
	const defaultKind = v1beta1constants.CloudProfileReferenceKindCloudProfile
	if reference := shoot.Spec.CloudProfile; reference != nil {
		return gardencorev1beta1.CloudProfileReference{Kind: cmp.Or(reference.Kind, defaultKind), Name: reference.Name}, field.NewPath("spec", "cloudProfile", "name")
	}
	reference := gardencorev1beta1.CloudProfileReference{Kind: defaultKind}
	if name := shoot.Spec.CloudProfileName; name != nil {
		reference.Name = *name
	}
	return reference, field.NewPath("spec", "cloudProfileName")
}
