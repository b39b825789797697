package admission

import (
	"context"
	"fmt"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
)

// validateNamespaced validates those whose parent is of the type: they have no type of their own.
func (p CloudProfiles[Config]) validateNamespaced(ctx context.Context, profile, old *gardencorev1beta1.NamespacedCloudProfile) (Result, error) {
	if isAbsent(profile.Spec.ProviderConfig) && len(profile.Spec.MachineImages) == 0 || old != nil && sameNamespaced(&profile.Spec, &old.Spec) {
		return Result{}, nil
	}
	if errs := tooLargeNamespaced(profile, old); len(errs) > 0 {
		return Result{Errors: errs}, nil
	}
	spec, err := p.parentOf(ctx, profile)
	if err != nil || spec == nil {
		return Result{}, err
	}
	parent := ParentProfile[Config]{Spec: spec, Config: new(Config)}
	if config, err := p.Leniently(spec.ProviderConfig); err == nil {
		parent.Config = config
	}
	result := p.resultForNamespaced(&profile.Spec, parent)
	if old != nil {
		result = introduced(p.resultForNamespaced(&old.Spec, parent), result)
	}
	return result, nil
}

// parentOf returns nil if the parent is for another cloud, or does not exist, which Gardener itself rejects.
func (p CloudProfiles[Config]) parentOf(ctx context.Context, profile *gardencorev1beta1.NamespacedCloudProfile) (*gardencorev1beta1.CloudProfileSpec, error) {
	reference := profile.Spec.Parent
	if reference.Kind != v1beta1constants.CloudProfileReferenceKindCloudProfile {
		return nil, nil
	}
	parent, err := p.Garden.ParentSpec(ctx, reference.Name)
	if err != nil || parent == nil || parent.Type != p.Type {
		return nil, err
	}
	return parent, nil
}

func tooLargeNamespaced(profile, old *gardencorev1beta1.NamespacedCloudProfile) field.ErrorList {
	var before *runtime.RawExtension
	if old != nil {
		before = old.Spec.ProviderConfig
	}
	return TooLarge(profile.Spec.ProviderConfig, before, MaxProjectProfileConfig, profileConfigPath())
}

// sameNamespaced compares the fields that resultForNamespaced evaluates.
func sameNamespaced(a, b *gardencorev1beta1.NamespacedCloudProfileSpec) bool {
	return a.Parent == b.Parent && equality.Semantic.DeepEqual(a.ProviderConfig, b.ProviderConfig) &&
		equality.Semantic.DeepEqual(a.MachineImages, b.MachineImages)
}

func (p CloudProfiles[Config]) resultForNamespaced(spec *gardencorev1beta1.NamespacedCloudProfileSpec, parent ParentProfile[Config]) Result {
	path := profileConfigPath()
	config, errs := new(Config), field.ErrorList(nil)
	if !isAbsent(spec.ProviderConfig) {
		if config, errs = p.read(spec.ProviderConfig, path); config == nil {
			return Result{Errors: errs}
		}
	}
	return Result{Errors: append(errs, p.ValidateNamespaced(config, spec, parent, path)...)}
}

// setNamespacedCapabilityFlavors is setCapabilityFlavors of CloudProfiles. The capabilities are those of the parent; so are the flavors of versions that it
// has.
func (p CloudProfiles[Config]) setNamespacedCapabilityFlavors(ctx context.Context, profile, old *gardencorev1beta1.NamespacedCloudProfile) error {
	if isAbsent(profile.Spec.ProviderConfig) || old != nil && sameNamespaced(&profile.Spec, &old.Spec) {
		return nil
	}
	if len(tooLargeNamespaced(profile, old)) > 0 { // rejected by validation
		return nil
	}
	before := profileImages{}
	if old != nil {
		before = p.images(old.Spec.ProviderConfig, old.Spec.MachineImages)
	}
	changes := p.images(profile.Spec.ProviderConfig, profile.Spec.MachineImages).changesSince(before)
	if len(changes) == 0 {
		return nil
	}
	parent, err := p.parentOf(ctx, profile)
	if err != nil {
		return fmt.Errorf("%w: try again", err)
	}
	if parent == nil || len(parent.MachineCapabilities) == 0 {
		return nil
	}
	for _, change := range changes {
		if !hasImage(parent, change.image, change.version.Version) {
			change.apply()
		}
	}
	return nil
}

func hasImage(spec *gardencorev1beta1.CloudProfileSpec, name, version string) bool {
	return slices.ContainsFunc(spec.MachineImages, func(image gardencorev1beta1.MachineImage) bool {
		return image.Name == name && slices.ContainsFunc(image.Versions, func(known gardencorev1beta1.MachineImageVersion) bool { return known.Version == version })
	})
}

// mergeIntoStatus adds the own machine images to those of the parent, which Gardener has put into the status with the rest of the parent's
// spec. It does so once Gardener has observed the current spec; until then the status belongs to an older one.
//
// What cannot be decoded is left unchanged: Gardener could never write a status that is rejected, and validation has
// reported the spec.
func (p CloudProfiles[Config]) mergeIntoStatus(ctx context.Context, profile *gardencorev1beta1.NamespacedCloudProfile) {
	status := &profile.Status.CloudProfileSpec
	if status.Type != p.Type || profile.Generation != profile.Status.ObservedGeneration ||
		isAbsent(profile.Spec.ProviderConfig) || isAbsent(status.ProviderConfig) {
		return
	}
	merged, err := p.Merge(status.ProviderConfig, profile.Spec.ProviderConfig)
	if err != nil {
		logf.FromContext(ctx).Error(err, "The status of a NamespacedCloudProfile lacks its machine images", "namespace", profile.Namespace, "name", profile.Name)
		return
	}
	status.ProviderConfig = merged
}
