package worker

import (
	"slices"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"

	"github.com/trellis-garden/trellis/internal/contract"
)

// CacheTransform reduces Workers that are kept in memory to what is read there. The binary and the suites use it.
func CacheTransform(in any) (any, error) {
	return contract.CacheTransform(func(object *extensionsv1alpha1.Worker) {
		object.Spec = extensionsv1alpha1.WorkerSpec{DefaultSpec: contract.StripSpec(object.Spec.DefaultSpec), Pools: manualPools(object.Spec.Pools)}
		// The deployments are read by the health check.
		object.Status = extensionsv1alpha1.WorkerStatus{
			DefaultStatus: object.Status.DefaultStatus, MachineDeployments: slices.Clip(object.Status.MachineDeployments),
		}
		object.Status.ProviderStatus, object.Status.State = nil, nil
	})(in)
}

// manualPools returns of all pools what decides whether a Worker needs a follow-up.
func manualPools(pools []extensionsv1alpha1.WorkerPool) []extensionsv1alpha1.WorkerPool {
	var manual []extensionsv1alpha1.WorkerPool
	for i := range pools {
		if v1beta1helper.IsUpdateStrategyManualInPlace(pools[i].UpdateStrategy) {
			manual = append(manual, extensionsv1alpha1.WorkerPool{Name: pools[i].Name, UpdateStrategy: pools[i].UpdateStrategy})
		}
	}
	return manual
}
