package openstack

import (
	"context"
	"fmt"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/apis/openstack/validation"
	"github.com/trellis-garden/trellis/internal/admission"
)

// namespacedCloudProfiles are those whose parent is for OpenStack: they have no type of their own.
type namespacedCloudProfiles struct {
	garden admission.Garden
}

func (n namespacedCloudProfiles) validate(ctx context.Context, profile, old *gardencorev1beta1.NamespacedCloudProfile) (admission.Result, error) {
	if isEmptyConfig(profile.Spec.ProviderConfig) && len(profile.Spec.MachineImages) == 0 || old != nil && sameNamespaced(&profile.Spec, &old.Spec) {
		return admission.Result{}, nil
	}
	if errs := tooLargeNamespaced(profile, old); len(errs) > 0 {
		return admission.Result{Errors: errs}, nil
	}
	parent, err := n.parentOf(ctx, profile)
	if err != nil || parent == nil {
		return admission.Result{}, err
	}
	in := validation.Parent{Spec: parent, Config: &openstackv1alpha1.CloudProfileConfig{}}
	if config, err := openstackv1alpha1.DecodeCloudProfileConfig(parent.ProviderConfig); err == nil {
		in.Config = config
	}
	result := resultForNamespaced(&profile.Spec, in)
	if old != nil {
		result = onlyIntroduced(resultForNamespaced(&old.Spec, in), result)
	}
	return result, nil
}

// parentOf returns nil if the parent is for another cloud, or does not exist, which Gardener itself rejects.
func (n namespacedCloudProfiles) parentOf(ctx context.Context, profile *gardencorev1beta1.NamespacedCloudProfile) (*gardencorev1beta1.CloudProfileSpec, error) {
	reference := profile.Spec.Parent
	if reference.Kind != v1beta1constants.CloudProfileReferenceKindCloudProfile {
		return nil, nil
	}
	parent, err := n.garden.ParentSpec(ctx, reference.Name)
	if err != nil || parent == nil || parent.Type != Type {
		return nil, err
	}
	return parent, nil
}

func tooLargeNamespaced(profile, old *gardencorev1beta1.NamespacedCloudProfile) field.ErrorList {
	var before *runtime.RawExtension
	if old != nil {
		before = old.Spec.ProviderConfig
	}
	return admission.TooLarge(profile.Spec.ProviderConfig, before, admission.MaxProjectProfileConfig, field.NewPath("spec", "providerConfig"))
}

// sameNamespaced compares the fields that resultForNamespaced evaluates.
func sameNamespaced(a, b *gardencorev1beta1.NamespacedCloudProfileSpec) bool {
	return a.Parent == b.Parent && equality.Semantic.DeepEqual(a.ProviderConfig, b.ProviderConfig) &&
		equality.Semantic.DeepEqual(a.MachineImages, b.MachineImages)
}

func resultForNamespaced(spec *gardencorev1beta1.NamespacedCloudProfileSpec, parent validation.Parent) admission.Result {
	path := field.NewPath("spec", "providerConfig")
	config, errs := &openstackv1alpha1.CloudProfileConfig{}, field.ErrorList(nil)
	if !isEmptyConfig(spec.ProviderConfig) {
		if config, errs = readCloudProfileConfig(spec.ProviderConfig, path); config == nil {
			return admission.Result{Errors: errs}
		}
	}
	return admission.Result{Errors: append(errs, validation.ValidateNamespacedCloudProfileConfig(config, spec, parent, path)...)}
}

// setCapabilityFlavors is setCapabilityFlavors of CloudProfiles. The capabilities are those of the parent; so are the flavors of versions that it has.
func (n namespacedCloudProfiles) setCapabilityFlavors(ctx context.Context, profile, old *gardencorev1beta1.NamespacedCloudProfile) error {
	if isEmptyConfig(profile.Spec.ProviderConfig) || old != nil && sameNamespaced(&profile.Spec, &old.Spec) {
		return nil
	}
	if len(tooLargeNamespaced(profile, old)) > 0 { // rejected by validation
		return nil
	}
	before := profileImages{}
	if old != nil {
		before = profileImagesOf(old.Spec.ProviderConfig, old.Spec.MachineImages)
	}
	changes := profileImagesOf(profile.Spec.ProviderConfig, profile.Spec.MachineImages).changesSince(before)
	if len(changes) == 0 {
		return nil
	}
	parent, err := n.parentOf(ctx, profile)
	if err != nil {
		return fmt.Errorf("%w: try again", err)
	}
	if parent == nil || len(parent.MachineCapabilities) == 0 {
		return nil
	}
	for _, change := range changes {
		if !(validation.Parent{Spec: parent}).Lists(change.image, change.version.Version) {
			change.apply()
		}
	}
	return nil
}

// mergeIntoStatus adds the own machine images to those of the parent, which Gardener has put into the status with the rest of the parent's
// spec. It does so once Gardener has observed the current spec; until then the status belongs to an older one.
//
// What cannot be decoded is left unchanged: Gardener could never write a status that is rejected, and validation has
// reported the spec.
func mergeIntoStatus(ctx context.Context, profile, _ *gardencorev1beta1.NamespacedCloudProfile) error {
	status := &profile.Status.CloudProfileSpec
	if status.Type != Type || profile.Generation != profile.Status.ObservedGeneration ||
		isEmptyConfig(profile.Spec.ProviderConfig) || isEmptyConfig(status.ProviderConfig) {
		return nil
	}
	merged, err := openstackv1alpha1.MergeProviderConfigs(status.ProviderConfig, profile.Spec.ProviderConfig)
	if err != nil {
		logf.FromContext(ctx).Error(err, "The status of a NamespacedCloudProfile lacks its machine images", "namespace", profile.Namespace, "name", profile.Name)
		return nil
	}
	status.ProviderConfig = merged
	return nil
}
