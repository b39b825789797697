package worker

import (
	"fmt"
	"slices"
	"time"

	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
)

const (
	// finalizerManager is what machine-controller-manager puts on the MachineDeployments that it takes care of.
	finalizerManager = "machine.sapcloud.io/machine-controller-manager"
	// stuckAfter is how old a MachineDeployment must be for machine-controller-manager to have made its set of machines.
	stuckAfter = 2 * time.Minute
)

// stuckReason says in a clause what machine-controller-manager ought to have done long ago, empty for nothing: a MachineDeployment that it
// has taken into its care has no set of the right class. It is asked when a wait was in vain; a new pod helps then.
func stuckReason(now observed) string {
	for _, deployment := range now.deployments {
		isYoung := now.at.Sub(deployment.CreationTimestamp.Time) < stuckAfter
		if isYoung || !slices.Contains(deployment.Finalizers, finalizerManager) {
			continue
		}
		hasSet := slices.ContainsFunc(now.sets, func(set machinev1alpha1.MachineSet) bool {
			return isSetOf(&set, deployment.Name) && set.Spec.Template.Spec.Class.Name == deployment.Spec.Template.Spec.Class.Name
		})
		if !hasSet {
			return fmt.Sprintf("MachineDeployment %s has no set of machines of class %s", deployment.Name, deployment.Spec.Template.Spec.Class.Name)
		}
	}
	return ""
}
