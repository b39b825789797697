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

// validateFeatureGates refuses feature gates of the cloud-controller-manager that Kubernetes of the shoot's version does not have, or has locked, as
// Gardener does for its own components. A gate that the shoot's version refuses already keeps no version from following: the controller leaves it out. One
// that the next version is the first to refuse has to go before.
func validateFeatureGates(shoot, old *gardencorev1beta1.Shoot) field.ErrorList {
	version := shoot.Spec.Kubernetes.Version
	if old == nil {
		return featureGateErrors(featureGates(shoot), version)
	}
	sameConfig := equality.Semantic.DeepEqual(shoot.Spec.Provider.ControlPlaneConfig, old.Spec.Provider.ControlPlaneConfig)
	if sameConfig && version == old.Spec.Kubernetes.Version {
		return nil
	}
	// Both are judged by the new version: the words of an error name it.
	refused := featureGates(old)
	maps.DeleteFunc(refused, func(name string, value bool) bool {
		return len(featureGateErrors(map[string]bool{name: value}, old.Spec.Kubernetes.Version)) == 0
	})
	return ratcheting.Introduced(featureGateErrors(refused, version), featureGateErrors(featureGates(shoot), version))
}

// featureGates finds none in a configuration that cannot be read: that is told elsewhere.
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
