package inspect

import (
	"cmp"
	"slices"

	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"

	"github.com/trellis-garden/trellis/internal/truncate"
	"github.com/trellis-garden/trellis/internal/worker/drivererror"
)

// labelDeployment is the label with the name of the MachineDeployment, on its machines.
const labelDeployment = "name"

func machineDeploymentsOf(all []machinev1alpha1.MachineDeployment) []MachineDeployment {
	var deployments []MachineDeployment
	for i := range all {
		status := all[i].Status
		deployments = append(deployments, MachineDeployment{
			Name: all[i].Name, Wanted: all[i].Spec.Replicas, Exist: status.Replicas, Ready: status.ReadyReplicas, Updated: status.UpdatedReplicas,
		})
	}
	slices.SortFunc(deployments, func(a, b MachineDeployment) int { return cmp.Compare(a.Name, b.Name) })
	return deployments
}

// failedMachinesOf selects the machines whose last operation or health failed.
func failedMachinesOf(all []machinev1alpha1.Machine) []Machine {
	var failed []Machine
	for i := range all {
		machine := &all[i]
		if !hasFailed(machine) {
			continue
		}
		last := machine.Status.LastOperation
		code, message := drivererror.Parse(last.Description, truncate.MaxStatus)
		failed = append(failed, Machine{
			Name: machine.Name, Deployment: machine.Labels[labelDeployment], Phase: text(string(machine.Status.CurrentStatus.Phase)),
			Operation: text(string(last.Type)), Code: text(cmp.Or(last.ErrorCode, code)), Message: message, At: last.LastUpdateTime.UTC(),
		})
	}
	slices.SortFunc(failed, func(a, b Machine) int { return cmp.Compare(a.Name, b.Name) })
	return failed
}

// hasFailed reports whether a machine failed. Once it is being deleted, its failed creation is irrelevant.
func hasFailed(machine *machinev1alpha1.Machine) bool {
	last, phase := machine.Status.LastOperation, machine.Status.CurrentStatus.Phase
	isDeleted := machine.DeletionTimestamp != nil
	switch {
	case last.State == machinev1alpha1.MachineStateFailed:
		return !isDeleted || last.Type != machinev1alpha1.MachineOperationCreate
	case isDeleted:
		return false
	default:
		return phase == machinev1alpha1.MachineFailed || phase == machinev1alpha1.MachineUnknown || phase == machinev1alpha1.MachineCrashLoopBackOff
	}
}
