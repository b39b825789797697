package openstack

import (
	"maps"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/utils/validation/features"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/apis/tightening"
)

// validateFeatureGates refuses feature gates of the cloud-controller-manager that Kubernetes of the shoot's version does not have, or has locked, as
// Gardener does for its own components. A shoot that had them keeps them, unless its version changes.
func validateFeatureGates(shoot, old *gardencorev1beta1.Shoot) field.ErrorList {
	if old == nil {
		return featureGateErrors(shoot)
	}
	sameConfig := equality.Semantic.DeepEqual(shoot.Spec.Provider.ControlPlaneConfig, old.Spec.Provider.ControlPlaneConfig)
	if sameConfig && shoot.Spec.Kubernetes.Version == old.Spec.Kubernetes.Version {
		return nil
	}
	return tightening.Introduced(featureGateErrors(old), featureGateErrors(shoot))
}

// featureGateErrors finds nothing in a configuration that cannot be read: that is told elsewhere.
func featureGateErrors(shoot *gardencorev1beta1.Shoot) field.ErrorList {
	config, err := openstackv1alpha1.DecodeStoredControlPlaneConfig(shoot.Spec.Provider.ControlPlaneConfig)
	if err != nil || config.CloudControllerManager == nil {
		return nil
	}
	path := field.NewPath("spec", "provider", "controlPlaneConfig", "cloudControllerManager", "featureGates")
	var errs field.ErrorList
	gates := config.CloudControllerManager.FeatureGates
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		errs = append(errs, features.ValidateFeatureGates(map[string]bool{name: gates[name]}, shoot.Spec.Kubernetes.Version, path)...)
	}
	return errs
}
