package workertest

import (
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"
)

func isRunning(machine *machinev1alpha1.Machine) bool {
	return machine.DeletionTimestamp == nil && machine.Status.CurrentStatus.Phase == machinev1alpha1.MachineRunning
}

func (t *settleRound) updateDeploymentStatus(d *machinev1alpha1.MachineDeployment) {
	if d.DeletionTimestamp != nil || t.stalled {
		return
	}
	status := machinev1alpha1.MachineDeploymentStatus{ObservedGeneration: d.Generation}
	for _, set := range t.setsOf(d) {
		for _, machine := range t.machinesOf(set) {
			status.Replicas++
			if set.Spec.Template.Spec.Class.Name == d.Spec.Template.Spec.Class.Name {
				status.UpdatedReplicas++
			}
			if isRunning(machine) {
				status.AvailableReplicas++
				status.ReadyReplicas++
			}
			if last := machine.Status.LastOperation; last.State == machinev1alpha1.MachineStateFailed {
				status.FailedMachines = append(status.FailedMachines, &machinev1alpha1.MachineSummary{Name: machine.Name, LastOperation: last})
			}
		}
	}
	status.UnavailableReplicas = max(d.Spec.Replicas-status.AvailableReplicas, 0)
	available := machinev1alpha1.ConditionTrue
	if status.UnavailableReplicas > 0 {
		available = machinev1alpha1.ConditionFalse
	}
	status.Conditions = []machinev1alpha1.MachineDeploymentCondition{{Type: machinev1alpha1.MachineDeploymentAvailable, Status: available}}
	if !equality.Semantic.DeepEqual(d.Status, status) {
		d.Status = status
		t.updateStatus(d)
	}
}

func (t *settleRound) updateSetStatus(set *machinev1alpha1.MachineSet) {
	if set.DeletionTimestamp != nil {
		return
	}
	machines := t.machinesOf(set)
	status := machinev1alpha1.MachineSetStatus{Replicas: int32(len(machines)), ObservedGeneration: set.Generation}
	for _, machine := range machines {
		if isRunning(machine) {
			status.AvailableReplicas++
		}
	}
	if !equality.Semantic.DeepEqual(set.Status, status) {
		set.Status = status
		t.updateStatus(set)
	}
}
