package worker

import (
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
)

// replicaInput is what decides about replicas besides the pool and what there is.
type replicaInput struct {
	// hibernated is true when the shoot is to have no machines.
	hibernated bool
	// restored are the replicas that a MachineDeployment had where the shoot comes from, if it does.
	restored *int32
}

// replicasOf returns how many machines a MachineDeployment shall have: none in hibernation, at first those that it brings along or
// the minimum, later what the cluster-autoscaler has made of it, within the limits.
//
// The limits do the rest. Without an autoscaler they are the same number. A shoot that wakes up has no machines, and the minimum
// lifts it.
func replicasOf(wanted deployment, existing *machinev1alpha1.MachineDeployment, input replicaInput) int32 {
	switch {
	case input.hibernated:
		return 0
	case existing == nil && input.restored != nil:
		return *input.restored
	case existing == nil:
		return wanted.minimum
	default:
		return max(wanted.minimum, min(wanted.maximum, existing.Spec.Replicas))
	}
}
