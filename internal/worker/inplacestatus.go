package worker

import (
	"maps"

	"github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"

	"github.com/trellis-garden/trellis/internal/worker/machinestatus"
)

// inPlaceHashes returns the required value of status.inPlaceUpdates.workerPoolToHashMap after the machines are ready, and whether the
// present value differs: the hash of every pool that is updated in place. A pool with manual updates keeps its hash until the last of its
// machines is updated: gardenlet interprets the new hash as completed.
func inPlaceHashes(
	w *extensionsv1alpha1.Worker, shoot *gardencorev1beta1.Shoot, now machinestatus.Observed,
) (hashes map[string]string, changed bool, err error) {
	var recorded map[string]string
	if w.Status.InPlaceUpdates != nil {
		recorded = w.Status.InPlaceUpdates.WorkerPoolToHashMap
	}
	hashes = map[string]string{}
	for i := range w.Spec.Pools {
		p := &w.Spec.Pools[i]
		if !helper.IsUpdateStrategyInPlace(p.UpdateStrategy) {
			continue
		}
		if machinestatus.UpdatePending(p, now) {
			if old, ok := recorded[p.Name]; ok {
				hashes[p.Name] = old
			}
			continue
		}
		if hashes[p.Name], err = inPlaceHash(p, shoot); err != nil {
			return nil, false, err
		}
	}
	return hashes, !maps.Equal(hashes, recorded), nil
}

// manualUpdatesPending reports whether machines wait for a manual update.
func manualUpdatesPending(w *extensionsv1alpha1.Worker, now machinestatus.Observed) bool {
	for i := range w.Spec.Pools {
		if machinestatus.UpdatePending(&w.Spec.Pools[i], now) {
			return true
		}
	}
	return false
}
