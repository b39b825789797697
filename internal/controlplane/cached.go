package controlplane

import (
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"

	"github.com/trellis-garden/trellis/internal/contract"
)

// CacheTransform reduces ControlPlanes that are kept in memory to what is read there. The binary and the suites use it.
func CacheTransform(in any) (any, error) {
	return contract.CacheTransform(func(object *extensionsv1alpha1.ControlPlane) {
		object.Spec = extensionsv1alpha1.ControlPlaneSpec{DefaultSpec: contract.StripSpec(object.Spec.DefaultSpec)}
		object.Status.State = nil
		// The provider status of a ControlPlane that is being hibernated is read by its follow-up and by its health check.
		if !isHibernating(object) {
			object.Status.ProviderStatus = nil
		}
	})(in)
}
