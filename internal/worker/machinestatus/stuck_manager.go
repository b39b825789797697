package machinestatus

import (
	"fmt"
	"slices"
	"time"

	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
)

const (
	// FinalizerManager is machine-controller-manager's finalizer on the MachineDeployments that it reconciles.
	FinalizerManager = "machine.sapcloud.io/machine-controller-manager"
	// stuckAfter is the age of a MachineDeployment by which machine-controller-manager must have created its machine set.
	stuckAfter = 2 * time.Minute
)

// StuckReason returns a clause if machine-controller-manager is stuck, else an empty text: a MachineDeployment with its finalizer has no
// set of the right class. It is called after a wait without success; a new pod helps then.
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
