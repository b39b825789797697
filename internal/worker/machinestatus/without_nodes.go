package machinestatus

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// defaultCreationTimeout, defaultHealthTimeout and defaultDrainTimeout are those of machine-controller-manager as gardenlet runs it.
	defaultCreationTimeout = 20 * time.Minute
	defaultHealthTimeout   = 10 * time.Minute
	defaultDrainTimeout    = 2 * time.Hour
	// deletionTime is how long a machine may exist after it was drained.
	deletionTime = 20 * time.Minute
)

// WithoutNodes returns a clause for each sort of machines that have no healthy node for longer than their settings permit, or are not deleted in time. It
// omits machines that are preserved for examination.
func WithoutNodes(machines []machinev1alpha1.Machine, now time.Time) []string {
	bySort := map[nodeProblem][]machinev1alpha1.Machine{}
	for _, machine := range machines {
		if problem := nodeProblemOf(&machine, now); problem != noProblem {
			bySort[problem] = append(bySort[problem], machine)
		}
	}
	var clauses []string
	for problem := noProblem + 1; problem < lastProblem; problem++ {
		affected := bySort[problem]
		if len(affected) == 0 {
			continue
		}
		slices.SortFunc(affected, func(a, b machinev1alpha1.Machine) int { return cmp.Compare(a.Name, b.Name) })
		clause := MachinesClause(affected) + " " + plural(len(affected), problem.clauses()...)
		if failures := failuresOf(affected); len(failures) > 0 {
			clause += fmt.Sprintf(" (%s)", failuresClause(failures[:1]))
		}
		clauses = append(clauses, clause)
	}
	return clauses
}

// nodeProblem is a sort of problem of a machine.
type nodeProblem int

const (
	noProblem nodeProblem = iota
	problemNoNode
	problemFailed
	problemUnknown
	problemDeletion
	lastProblem
)

// clauses complete "machine a ..." and "machines a, b ...".
func (p nodeProblem) clauses() []string {
	switch p {
	case problemNoNode:
		return []string{
			"has not become a node in its creation timeout: see its Machine for the cause", "have not become nodes in their creation timeout: see their Machines for the cause",
		}
	case problemFailed:
		return []string{"has failed, and is replaced by machine-controller-manager", "have failed, and are replaced by machine-controller-manager"}
	case problemUnknown:
		return []string{
			"has an unhealthy node for longer than its health timeout: see the conditions of the Node",
			"have unhealthy nodes for longer than their health timeout: see the conditions of the Nodes",
		}
	default:
		return []string{
			"is not deleted in its drain timeout: a disruption budget or the cloud may block it",
			"are not deleted in their drain timeout: disruption budgets or the cloud may block it",
		}
	}
}

func nodeProblemOf(machine *machinev1alpha1.Machine, now time.Time) nodeProblem {
	config := machine.Spec.MachineConfiguration
	if config == nil {
		config = &machinev1alpha1.MachineConfiguration{}
	}
	status := machine.Status.CurrentStatus
	isOlder := func(since metav1.Time, limit time.Duration) bool { return now.Sub(since.Time) > limit }
	switch {
	case machine.DeletionTimestamp != nil:
		if isOlder(*machine.DeletionTimestamp, timeoutOf(config.MachineDrainTimeout, defaultDrainTimeout)+deletionTime) {
			return problemDeletion
		}
	case isPreserved(machine):
	case status.Phase == machinev1alpha1.MachineFailed, status.Phase == machinev1alpha1.MachineInPlaceUpdateFailed:
		return problemFailed
	case status.Phase == machinev1alpha1.MachineUnknown:
		if isOlder(status.LastUpdateTime, timeoutOf(config.MachineHealthTimeout, defaultHealthTimeout)) {
			return problemUnknown
		}
	case hasNoNode(machine) && isOlder(machine.CreationTimestamp, timeoutOf(config.MachineCreationTimeout, defaultCreationTimeout)):
		return problemNoNode
	}
	return noProblem
}

// hasNoNode reports whether a machine has no node yet: machine-controller-manager labels it with the node's name when it creates the server, and sets the
// phase when the node has joined.
func hasNoNode(machine *machinev1alpha1.Machine) bool {
	switch machine.Status.CurrentStatus.Phase {
	case "", machinev1alpha1.MachinePending, machinev1alpha1.MachineAvailable, machinev1alpha1.MachineCrashLoopBackOff:
		return true
	default:
		return machine.Labels[machinev1alpha1.NodeLabelKey] == ""
	}
}

func timeoutOf(setting *metav1.Duration, fallback time.Duration) time.Duration {
	if setting == nil {
		return fallback
	}
	return setting.Duration
}
