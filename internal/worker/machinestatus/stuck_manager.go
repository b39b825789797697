package machinestatus

import (
	"fmt"
	"slices"
	"time"

	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
)

const (
	// FinalizerManager is what machine-controller-manager puts on the MachineDeployments that it takes care of.
	FinalizerManager = "machine.sapcloud.io/machine-controller-manager"
	// stuckAfter is how old a MachineDeployment must be for machine-controller-manager to have made its set of machines.
	stuckAfter = 2 * time.Minute
)

// StuckReason says in a clause what machine-controller-manager ought to have done long ago, empty for nothing: a MachineDeployment that it
// has taken into its care has no set of the right class. It is asked when a wait was in vain; a new pod helps then.
func StuckReason(now Observed) string {
	for _, deployment := range now.Deployments {
		isYoung := now.At.Sub(deployment.CreationTimestamp.Time) < stuckAfter
		if isYoung || !slices.Contains(deployment.Finalizers, FinalizerManager) {
			continue
		}
		hasSet := slices.ContainsFunc(now.Sets, func(set machinev1alpha1.MachineSet) bool {
			return IsSetOf(&set, deployment.Name) && set.Spec.Template.Spec.Class.Name == deployment.Spec.Template.Spec.Class.Name
		})
		if !hasSet {
			return fmt.Sprintf("MachineDeployment %s has no set of machines of class %s", deployment.Name, deployment.Spec.Template.Spec.Class.Name)
		}
	}
	return ""
}
