package openstack

import (
	"maps"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/utils/validation/features"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/apis/ratcheting"
)

// validateFeatureGates rejects feature gates of the cloud-controller-manager that the shoot's Kubernetes version does not have, or has locked, as
// Gardener does for its own components. A gate that the old version already rejects does not block an upgrade: the controller ignores it. A gate that
// only the new version rejects must be removed first.
func validateFeatureGates(shoot, old *gardencorev1beta1.Shoot) field.ErrorList {
	version := shoot.Spec.Kubernetes.Version
	if old == nil {
		return featureGateErrors(featureGates(shoot), version)
	}
	sameConfig := equality.Semantic.DeepEqual(shoot.Spec.Provider.ControlPlaneConfig, old.Spec.Provider.ControlPlaneConfig)
	if sameConfig && version == old.Spec.Kubernetes.Version {
		return nil
	}
	// Both are validated against the new version, since the error texts contain it.
	refused := featureGates(old)
	maps.DeleteFunc(refused, func(name string, value bool) bool {
		return len(featureGateErrors(map[string]bool{name: value}, old.Spec.Kubernetes.Version)) == 0
	})
	return ratcheting.Introduced(featureGateErrors(refused, version), featureGateErrors(featureGates(shoot), version))
}

// featureGates returns none if the configuration cannot be decoded: that is reported elsewhere.
func featureGates(shoot *gardencorev1beta1.Shoot) map[string]bool {
	config, err := openstackv1alpha1.DecodeStoredControlPlaneConfig(shoot.Spec.Provider.ControlPlaneConfig)
	if err != nil || config.CloudControllerManager == nil {
		return nil
	}
	return config.CloudControllerManager.FeatureGates
}

func featureGateErrors(gates map[string]bool, version string) field.ErrorList {
	path := field.NewPath("spec", "provider", "controlPlaneConfig", "cloudControllerManager", "featureGates")
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		errs = append(errs, features.ValidateFeatureGates(map[string]bool{name: gates[name]}, version, path)...)
	}
	return errs
}
