package openstack

import (
	"context"
	"fmt"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrladmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/apis/openstack/validation"
	"github.com/trellis-garden/trellis/internal/admission"
	"github.com/trellis-garden/trellis/internal/mutation"
)

func cloudProfileWebhooks(garden admission.Garden) []admission.Webhook {
	namespaced := namespacedCloudProfiles{garden: garden}
	return []admission.Webhook{
		profileWebhook("cloudprofiledefaults", "cloudprofiles", true, mutation.Handler(kindOf("CloudProfile"), setCapabilityFlavors)),
		profileWebhook("cloudprofile", "cloudprofiles", false, admission.Validate(kindOf("CloudProfile"), validateCloudProfile)),
		profileWebhook("namespacedcloudprofiledefaults", "namespacedcloudprofiles", true,
			mutation.Handler(kindOf("NamespacedCloudProfile"), namespaced.setCapabilityFlavors)),
		profileWebhook("namespacedcloudprofile", "namespacedcloudprofiles", false, admission.Validate(kindOf("NamespacedCloudProfile"), namespaced.validate)),
		profileWebhook("namespacedcloudprofilestatus", "namespacedcloudprofiles/status", true,
			mutation.SubresourceHandler(kindOf("NamespacedCloudProfile"), "status", mergeIntoStatus)),
	}
}

func kindOf(kind string) schema.GroupVersionKind {
	return gardencorev1beta1.SchemeGroupVersion.WithKind(kind)
}

func profileWebhook(name, resource string, mutates bool, handler ctrladmission.Handler) admission.Webhook {
	group := gardencorev1beta1.SchemeGroupVersion
	webhook := admission.Webhook{
		Name: name + "." + Type, Mutates: mutates, Handler: handler,
		Rules:          admission.CreationsAndUpdates(group.Group, group.Version, resource),
		ObjectSelector: admission.Labelled(v1beta1constants.LabelExtensionProviderTypePrefix, Type),
	}
	if resource == "namespacedcloudprofiles/status" { // which is never created
		webhook.Rules[0].Operations = []admissionregistrationv1.OperationType{admissionregistrationv1.Update}
	}
	return webhook
}

// maxWarnings are returned in full: a region without an image often lacks all its versions.
const maxWarnings = 10

func validateCloudProfile(_ context.Context, profile, old *gardencorev1beta1.CloudProfile) (admission.Result, error) {
	if profile.Spec.Type != Type || old != nil && sameCloudProfile(&profile.Spec, &old.Spec) {
		return admission.Result{}, nil
	}
	if errs := tooLargeProfile(profile, old); len(errs) > 0 {
		return admission.Result{Errors: errs}, nil
	}
	result := resultForCloudProfile(&profile.Spec)
	if old != nil && old.Spec.Type == Type {
		result = onlyIntroduced(resultForCloudProfile(&old.Spec), result)
	}
	// API servers truncate long warnings.
	if more := len(result.Warnings) - maxWarnings; more > 0 {
		result.Warnings = append(result.Warnings[:maxWarnings], fmt.Sprintf("spec.providerConfig: %d warnings more", more))
	}
	return result, nil
}

func tooLargeProfile(profile, old *gardencorev1beta1.CloudProfile) field.ErrorList {
	var before *runtime.RawExtension
	if old != nil {
		before = old.Spec.ProviderConfig
	}
	return admission.TooLarge(profile.Spec.ProviderConfig, before, admission.MaxProfileConfig, field.NewPath("spec", "providerConfig"))
}

// sameCloudProfile compares the fields that resultForCloudProfile evaluates.
func sameCloudProfile(a, b *gardencorev1beta1.CloudProfileSpec) bool {
	return a.Type == b.Type && equality.Semantic.DeepEqual(a.ProviderConfig, b.ProviderConfig) &&
		equality.Semantic.DeepEqual(a.MachineImages, b.MachineImages) &&
		equality.Semantic.DeepEqual(a.MachineCapabilities, b.MachineCapabilities) &&
		equality.Semantic.DeepEqual(a.Regions, b.Regions)
}

func resultForCloudProfile(spec *gardencorev1beta1.CloudProfileSpec) admission.Result {
	path := field.NewPath("spec", "providerConfig")
	if isEmptyConfig(spec.ProviderConfig) {
		_, err := openstackv1alpha1.DecodeCloudProfileConfigStrictly(nil)
		return admission.Result{Errors: field.ErrorList{field.Required(path, err.Error())}}
	}
	config, errs := readCloudProfileConfig(spec.ProviderConfig, path)
	if config == nil {
		return admission.Result{Errors: errs}
	}
	return admission.Result{
		Errors:   append(errs, validation.ValidateCloudProfileConfig(config, spec, path)...),
		Warnings: validation.CloudProfileWarnings(config, spec, path),
	}
}

// readCloudProfileConfig returns a config with its decoding errors. A config with unknown fields is decoded nevertheless, so that other errors can
// be compared with the old object's. It is nil if it cannot be decoded.
func readCloudProfileConfig(raw *runtime.RawExtension, path *field.Path) (*openstackv1alpha1.CloudProfileConfig, field.ErrorList) {
	config, err := openstackv1alpha1.DecodeCloudProfileConfigStrictly(raw)
	if err == nil {
		return config, nil
	}
	errs := validation.DecodingErrors(path, err)
	if config, err = openstackv1alpha1.DecodeCloudProfileConfig(raw); err != nil {
		return nil, errs
	}
	return config, errs
}

func isEmptyConfig(raw *runtime.RawExtension) bool {
	return raw == nil || len(raw.Raw) == 0 || string(raw.Raw) == "null"
}
