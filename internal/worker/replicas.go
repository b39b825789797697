package worker

import (
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
)

// replicaInput is the input of replicasOf besides the pool and the existing deployment.
type replicaInput struct {
	// hibernated is true if the shoot must have no machines.
	hibernated bool
	// restored are the saved replicas of a MachineDeployment of a migrated shoot.
	restored *int32
}

// replicasOf returns the desired number of machines of a MachineDeployment: none in hibernation; at first the restored ones or
// the minimum; later the number that the cluster-autoscaler has set, within the limits.
//
// Without an autoscaler, the limits are the same number. A shoot that wakes up has no machines, and the minimum raises that.
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
