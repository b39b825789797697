package machinestatus

import (
	"slices"

	"github.com/gardener/gardener/pkg/utils/kubernetes/health"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
)

// deploymentStatus is the progress of the machines of one wanted deployment.
type deploymentStatus struct {
	wanted Wanted
	// have is nil if there is no such MachineDeployment.
	have *machinev1alpha1.MachineDeployment
	// latest is the set of the wanted class, nil if there is none; old are the others.
	latest *machinev1alpha1.MachineSet
	old    []machinev1alpha1.MachineSet
	// machines are those of all sets, and those without a set, as after a migration.
	machines []machinev1alpha1.Machine
}

func deploymentStatusesOf(wanted []Wanted, now Observed) []deploymentStatus {
	statuses := make([]deploymentStatus, 0, len(wanted))
	for _, w := range wanted {
		s := deploymentStatus{wanted: w}
		if i := slices.IndexFunc(now.Deployments, func(d machinev1alpha1.MachineDeployment) bool { return d.Name == w.Name }); i >= 0 {
			s.have = &now.Deployments[i]
		}
		var sets []string
		for i := range now.Sets {
			set := &now.Sets[i]
			if !IsSetOf(set, w.Name) {
				continue
			}
			sets = append(sets, set.Name)
			if s.latest == nil && set.Spec.Template.Spec.Class.Name == w.Class {
				s.latest = set
			} else {
				s.old = append(s.old, *set)
			}
		}
		for _, machine := range now.Machines {
			isOrphan := len(machine.OwnerReferences) == 0 && machine.Labels[LabelName] == w.Name
			if isOrphan || slices.ContainsFunc(sets, func(set string) bool { return IsMachineOf(&machine, set) }) {
				s.machines = append(s.machines, machine)
			}
		}
		statuses = append(statuses, s)
	}
	return statuses
}

// isObserved reports whether machine-controller-manager has observed the present generation.
func (s deploymentStatus) isObserved() bool {
	return s.have != nil && s.latest != nil &&
		s.have.Status.ObservedGeneration >= s.have.Generation && s.have.Spec.Template.Spec.Class.Name == s.wanted.Class
}

// done uses the conditions of Gardener's library, for each deployment on its own. In addition, the wanted number of machines must be
// reached: for a moment after scaling, machine-controller-manager reports the new generation with the old numbers.
func (s deploymentStatus) done() bool {
	if !s.isObserved() || health.CheckMachineDeployment(s.have) != nil || len(s.have.Status.FailedMachines) > 0 {
		return false
	}
	status := s.have.Status
	waitsForUser := int32(0)
	if isManual(s.have) {
		if s.selected() > 0 {
			return false
		}
		// The deployment's own numbers are updated after those of its sets.
		for _, set := range s.old {
			waitsForUser += set.Status.Replicas
		}
	}
	return status.UpdatedReplicas+waitsForUser == status.Replicas &&
		status.UnavailableReplicas <= status.PreservedFailedReplicas &&
		status.AvailableReplicas+status.PreservedFailedReplicas >= s.have.Spec.Replicas
}

// selected counts the machines that a user has selected for update and that are not updated yet.
func (s deploymentStatus) selected() int32 {
	count := int32(0)
	for _, set := range s.old {
		for _, machine := range s.machines {
			if !IsMachineOf(&machine, set.Name) {
				continue
			}
			for _, condition := range machine.Status.Conditions {
				if condition.Type == machinev1alpha1.NodeInPlaceUpdate && condition.Reason != machinev1alpha1.CandidateForUpdate {
					count++
				}
			}
		}
	}
	return count
}

// inProgress reports whether a machine of the deployment is being created or deleted: one that has not failed or does not exist yet.
func (s deploymentStatus) inProgress() bool {
	if s.have == nil || len(s.machines) < int(s.have.Spec.Replicas) {
		return true
	}
	return slices.ContainsFunc(s.machines, func(machine machinev1alpha1.Machine) bool {
		return !hasFailed(&machine) && !isPreserved(&machine) && !hasJoined(&machine)
	})
}

func hasJoined(machine *machinev1alpha1.Machine) bool {
	phase := machine.Status.CurrentStatus.Phase
	return machine.DeletionTimestamp == nil && (phase == machinev1alpha1.MachineRunning || phase == machinev1alpha1.MachineAvailable)
}

// IsSetOf reports whether a set belongs to a deployment: by its owner, or by its label if a set has none.
func IsSetOf(set *machinev1alpha1.MachineSet, name string) bool {
	if len(set.OwnerReferences) == 0 {
		return set.Labels[LabelName] == name
	}
	for _, owner := range set.OwnerReferences {
		if owner.Kind == "MachineDeployment" && owner.Name == name {
			return true
		}
	}
	return false
}

// IsMachineOf reports whether a machine belongs to a set.
func IsMachineOf(machine *machinev1alpha1.Machine, set string) bool {
	for _, owner := range machine.OwnerReferences {
		if owner.Kind == "MachineSet" && owner.Name == set {
			return true
		}
	}
	return false
}

func isInPlace(deployment *machinev1alpha1.MachineDeployment) bool {
	return deployment.Spec.Strategy.Type == machinev1alpha1.InPlaceUpdateMachineDeploymentStrategyType
}

// isManual reports whether users start the update of machines.
func isManual(deployment *machinev1alpha1.MachineDeployment) bool {
	update := deployment.Spec.Strategy.InPlaceUpdate
	return isInPlace(deployment) && update != nil && update.OrchestrationType == machinev1alpha1.OrchestrationTypeManual
}
