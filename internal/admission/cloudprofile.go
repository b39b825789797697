package admission

import (
	"context"
	"fmt"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/trellis-garden/trellis/internal/mutation"
)

// CloudProfiles validates the CloudProfiles and NamespacedCloudProfiles of a provider type, and sets what follows from their configuration. Config is that
// of both: a NamespacedCloudProfile adds machine images to its parent's.
type CloudProfiles[Config any] struct {
	// Type is the provider type.
	Type   string
	Garden Garden
	// Strictly and Leniently decode a configuration. Unknown fields are errors of the former, which DecodingErrors converts.
	Strictly, Leniently func(*runtime.RawExtension) (*Config, error)
	DecodingErrors      func(path *field.Path, err error) field.ErrorList
	// Validate checks the configuration of a CloudProfile.
	Validate func(config *Config, spec *gardencorev1beta1.CloudProfileSpec, path *field.Path) Result
	// ValidateNamespaced checks the configuration of a NamespacedCloudProfile. The parent's is empty if it cannot be decoded.
	ValidateNamespaced func(config *Config, spec *gardencorev1beta1.NamespacedCloudProfileSpec, parent ParentProfile[Config], path *field.Path) field.ErrorList
	// Flavors returns the look-up of the flavors by which a configuration maps a version of a machine image, as Gardener writes them. There are none if it
	// does not map the version by capabilities.
	Flavors func(config *Config) func(image, version string) []gardencorev1beta1.MachineImageFlavor
	// Merge returns the parent's configuration with the machine images of both. Both must be decodable.
	Merge func(parent, own *runtime.RawExtension) (*runtime.RawExtension, error)
}

// ParentProfile is the CloudProfile that a NamespacedCloudProfile adds to, and the configuration in it.
type ParentProfile[Config any] struct {
	Spec   *gardencorev1beta1.CloudProfileSpec
	Config *Config
}

// Webhooks returns all webhooks of profiles.
func (p CloudProfiles[Config]) Webhooks() []Webhook {
	type (
		profile    = gardencorev1beta1.CloudProfile
		namespaced = gardencorev1beta1.NamespacedCloudProfile
	)
	kind, namespacedKind := coreKind("CloudProfile"), coreKind("NamespacedCloudProfile")
	return []Webhook{
		p.webhook("cloudprofiledefaults", "cloudprofiles", true, mutation.Handler(kind, func(_ context.Context, object, old *profile) error {
			p.setCapabilityFlavors(object, old)
			return nil
		})),
		p.webhook("cloudprofile", "cloudprofiles", false, Validate(kind, func(_ context.Context, object, old *profile) (Result, error) {
			return p.validate(object, old), nil
		})),
		p.webhook("namespacedcloudprofiledefaults", "namespacedcloudprofiles", true, mutation.Handler(namespacedKind, p.setNamespacedCapabilityFlavors)),
		p.webhook("namespacedcloudprofile", "namespacedcloudprofiles", false, Validate(namespacedKind, p.validateNamespaced)),
		p.webhook("namespacedcloudprofilestatus", "namespacedcloudprofiles/status", true,
			mutation.SubresourceHandler(namespacedKind, "status", func(ctx context.Context, object, _ *namespaced) error {
				p.mergeIntoStatus(ctx, object)
				return nil
			})),
	}
}

func (p CloudProfiles[Config]) webhook(name, resource string, mutates bool, handler admission.Handler) Webhook {
	group := gardencorev1beta1.SchemeGroupVersion
	webhook := Webhook{
		Name: name + "." + p.Type, Mutates: mutates, Handler: handler,
		Rules:          CreationsAndUpdates(group.Group, group.Version, resource),
		ObjectSelector: Labelled(v1beta1constants.LabelExtensionProviderTypePrefix, p.Type),
	}
	if resource == "namespacedcloudprofiles/status" { // which is never created
		webhook.Rules[0].Operations = []admissionregistrationv1.OperationType{admissionregistrationv1.Update}
	}
	return webhook
}

// maxWarnings are returned in full: a region without an image often lacks all its versions.
const maxWarnings = 10

func (p CloudProfiles[Config]) validate(profile, old *gardencorev1beta1.CloudProfile) Result {
	if profile.Spec.Type != p.Type || old != nil && sameCloudProfile(&profile.Spec, &old.Spec) {
		return Result{}
	}
	if errs := tooLargeProfile(profile, old); len(errs) > 0 {
		return Result{Errors: errs}
	}
	result := p.resultFor(&profile.Spec)
	if old != nil && old.Spec.Type == p.Type {
		result = introduced(p.resultFor(&old.Spec), result)
	}
	// API servers truncate long warnings.
	if more := len(result.Warnings) - maxWarnings; more > 0 {
		result.Warnings = append(result.Warnings[:maxWarnings], fmt.Sprintf("spec.providerConfig: %d warnings more", more))
	}
	return result
}

func tooLargeProfile(profile, old *gardencorev1beta1.CloudProfile) field.ErrorList {
	var before *runtime.RawExtension
	if old != nil {
		before = old.Spec.ProviderConfig
	}
	return TooLarge(profile.Spec.ProviderConfig, before, MaxProfileConfig, profileConfigPath())
}

func profileConfigPath() *field.Path { return field.NewPath("spec", "providerConfig") }

// sameCloudProfile compares the fields that resultFor evaluates.
func sameCloudProfile(a, b *gardencorev1beta1.CloudProfileSpec) bool {
	return a.Type == b.Type && equality.Semantic.DeepEqual(a.ProviderConfig, b.ProviderConfig) &&
		equality.Semantic.DeepEqual(a.MachineImages, b.MachineImages) &&
		equality.Semantic.DeepEqual(a.MachineCapabilities, b.MachineCapabilities) &&
		equality.Semantic.DeepEqual(a.Regions, b.Regions)
}

func (p CloudProfiles[Config]) resultFor(spec *gardencorev1beta1.CloudProfileSpec) Result {
	path := profileConfigPath()
	if isAbsent(spec.ProviderConfig) {
		_, err := p.Strictly(nil)
		return Result{Errors: field.ErrorList{field.Required(path, err.Error())}}
	}
	config, errs := p.read(spec.ProviderConfig, path)
	if config == nil {
		return Result{Errors: errs}
	}
	result := p.Validate(config, spec, path)
	result.Errors = append(errs, result.Errors...)
	return result
}

// read returns a configuration with its decoding errors. One with unknown fields is decoded nevertheless, so that other errors can be compared with the
// old object's. It is nil if it cannot be decoded.
func (p CloudProfiles[Config]) read(raw *runtime.RawExtension, path *field.Path) (*Config, field.ErrorList) {
	config, err := p.Strictly(raw)
	if err == nil {
		return config, nil
	}
	errs := p.DecodingErrors(path, err)
	if config, err = p.Leniently(raw); err != nil {
		return nil, errs
	}
	return config, errs
}
