package infrastructure

import (
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"

	"github.com/trellis-garden/trellis/internal/contract"
)

// CacheTransform reduces Infrastructures that are kept in memory to what is read there. The binary and the suites use it.
func CacheTransform(in any) (any, error) {
	return contract.CacheTransform(func(object *extensionsv1alpha1.Infrastructure) {
		object.Spec = extensionsv1alpha1.InfrastructureSpec{DefaultSpec: contract.StripSpec(object.Spec.DefaultSpec)}
		object.Status = extensionsv1alpha1.InfrastructureStatus{DefaultStatus: object.Status.DefaultStatus}
		object.Status.ProviderStatus, object.Status.State = nil, nil
	})(in)
}
