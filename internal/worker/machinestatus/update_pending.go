package machinestatus

import (
	"github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
)

// UpdatePending reports whether machines of the pool wait for a manual update.
func UpdatePending(p *extensionsv1alpha1.WorkerPool, now Observed) bool {
	if !helper.IsUpdateStrategyManualInPlace(p.UpdateStrategy) {
		return false
	}
	for i := range now.Deployments {
		d := &now.Deployments[i]
		if d.Labels[v1beta1constants.LabelWorkerPool] == p.Name && hasOutdatedMachines(d, now.Sets) {
			return true
		}
	}
	return false
}

// hasOutdatedMachines also reads the MachineSets: the status of a MachineDeployment is updated later than its class.
func hasOutdatedMachines(d *machinev1alpha1.MachineDeployment, sets []machinev1alpha1.MachineSet) bool {
	if d.Status.UpdatedReplicas < d.Status.Replicas {
		return true
	}
	for i := range sets {
		set := &sets[i]
		outdated := set.Spec.Template.Spec.Class.Name != d.Spec.Template.Spec.Class.Name
		if outdated && set.Status.Replicas > 0 && IsSetOf(set, d.Name) {
			return true
		}
	}
	return false
}
