package network

import (
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"

	"github.com/trellis-garden/trellis/internal/contract"
)

// CacheTransform reduces Networks that are kept in memory to what is read there. The binary and the suites use it.
func CacheTransform(in any) (any, error) {
	return contract.CacheTransform(func(object *extensionsv1alpha1.Network) {
		object.Spec = extensionsv1alpha1.NetworkSpec{DefaultSpec: contract.StripSpec(object.Spec.DefaultSpec)}
		object.Status = extensionsv1alpha1.NetworkStatus{DefaultStatus: object.Status.DefaultStatus}
		object.Status.ProviderStatus = nil
		// The state of a Network that is being changed in stages is read by its follow-up and by its health check.
		if !isBetweenStages(object) {
			object.Status.State = nil
		}
	})(in)
}
