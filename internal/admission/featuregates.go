package admission

import (
	"maps"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/utils/validation/features"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/ratcheting"
)

// featureGates validates the feature gates of the cloud-controller-manager. It returns those of a ControlPlaneConfig, and none if it cannot be decoded,
// which is reported elsewhere.
type featureGates func(controlPlaneConfig *runtime.RawExtension) map[string]bool

// validate rejects feature gates that the shoot's Kubernetes version does not have, or has locked, as Gardener does for its own components. A gate that
// the old version already rejects does not block an upgrade: the controller ignores it. A gate that only the new version rejects must be removed first.
func (f featureGates) validate(shoot, old *gardencorev1beta1.Shoot) field.ErrorList {
	version, gates := shoot.Spec.Kubernetes.Version, f(shoot.Spec.Provider.ControlPlaneConfig)
	if old == nil {
		return featureGateErrors(gates, version)
	}
	sameConfig := equality.Semantic.DeepEqual(shoot.Spec.Provider.ControlPlaneConfig, old.Spec.Provider.ControlPlaneConfig)
	if sameConfig && version == old.Spec.Kubernetes.Version {
		return nil
	}
	// Both are validated against the new version, since the error texts contain it.
	refused := maps.Clone(f(old.Spec.Provider.ControlPlaneConfig))
	maps.DeleteFunc(refused, func(name string, value bool) bool {
		return len(featureGateErrors(map[string]bool{name: value}, old.Spec.Kubernetes.Version)) == 0
	})
	return ratcheting.Introduced(featureGateErrors(refused, version), featureGateErrors(gates, version))
}

func featureGateErrors(gates map[string]bool, version string) field.ErrorList {
	path := providerPath().Child("controlPlaneConfig", "cloudControllerManager", "featureGates")
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		errs = append(errs, features.ValidateFeatureGates(map[string]bool{name: gates[name]}, version, path)...)
	}
	return errs
}
