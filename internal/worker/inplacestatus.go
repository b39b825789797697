package worker

import (
	"maps"

	"github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
)

// inPlaceHashes returns what status.inPlaceUpdates.workerPoolToHashMap must say once the machines have been waited for, and
// whether it says something else: the hash of every pool that is updated in place. A pool whose users choose the moment keeps its
// hash until the last of its machines is updated: gardenlet takes the new one for done.
func inPlaceHashes(
	w *extensionsv1alpha1.Worker, shoot *gardencorev1beta1.Shoot, now observed,
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
		if updatePending(p, now) {
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

// manualUpdatesPending says whether machines wait for a user who chooses the moment of their update.
func manualUpdatesPending(w *extensionsv1alpha1.Worker, now observed) bool {
	for i := range w.Spec.Pools {
		if updatePending(&w.Spec.Pools[i], now) {
			return true
		}
	}
	return false
}

func updatePending(p *extensionsv1alpha1.WorkerPool, now observed) bool {
	if !helper.IsUpdateStrategyManualInPlace(p.UpdateStrategy) {
		return false
	}
	for i := range now.deployments {
		d := &now.deployments[i]
		if d.Labels[v1beta1constants.LabelWorkerPool] == p.Name && hasOutdatedMachines(d, now.sets) {
			return true
		}
	}
	return false
}

// hasOutdatedMachines asks the MachineSets too: the status of a MachineDeployment lags behind a change of its class.
func hasOutdatedMachines(d *machinev1alpha1.MachineDeployment, sets []machinev1alpha1.MachineSet) bool {
	if d.Status.UpdatedReplicas < d.Status.Replicas {
		return true
	}
	for i := range sets {
		set := &sets[i]
		outdated := set.Spec.Template.Spec.Class.Name != d.Spec.Template.Spec.Class.Name
		if outdated && set.Status.Replicas > 0 && isSetOf(set, d.Name) {
			return true
		}
	}
	return false
}
