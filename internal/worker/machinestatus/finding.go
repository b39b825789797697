package machinestatus

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/utils/kubernetes/health"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/truncate"
)

const (
	// joinGrace is the time in which machines must become nodes, and machine-controller-manager recover from a failure.
	joinGrace = 5 * time.Minute
	// problemsInMessage is the maximum number of problems in a condition's message.
	problemsInMessage = 2
)

// FindingOf evaluates deployments of machines. recorded are the deployments of the last reconciliation.
func FindingOf(recorded []extensionsv1alpha1.MachineDeployment, found []machinev1alpha1.MachineDeployment) contract.Finding {
	var problems []problem
	for _, name := range Missing(recorded, found) {
		problems = append(problems, problem{message: "MachineDeployment " + name + " does not exist"})
	}
	machines := false
	for i := range found {
		d := &found[i]
		machines = machines || d.Spec.Replicas > 0 || d.Status.Replicas > 0
		if t := problemOf(d); d.DeletionTimestamp.IsZero() && t.message != "" {
			problems = append(problems, t)
		}
	}
	switch {
	case len(problems) > 0:
		return unhealthyFinding(problems)
	case !machines:
		return contract.Finding{Healthy: true, Message: "No machines are wanted, and none exist."}
	default:
		return contract.Finding{Healthy: true, Message: "All machines are healthy nodes."}
	}
}

// Missing returns the names of recorded deployments that were not found.
func Missing(recorded []extensionsv1alpha1.MachineDeployment, found []machinev1alpha1.MachineDeployment) []string {
	var names []string
	for _, wanted := range recorded {
		if !slices.ContainsFunc(found, func(d machinev1alpha1.MachineDeployment) bool { return d.Name == wanted.Name }) {
			names = append(names, wanted.Name)
		}
	}
	return names
}

// Strip removes from a deployment what FindingOf does not read.
func Strip(d *machinev1alpha1.MachineDeployment) {
	pool, inPool := d.Labels[v1beta1constants.LabelWorkerPool]
	d.Annotations, d.Labels, d.OwnerReferences, d.Finalizers = nil, nil, nil, nil
	if inPool {
		d.Labels = map[string]string{v1beta1constants.LabelWorkerPool: pool}
	}
	d.Spec = machinev1alpha1.MachineDeploymentSpec{Replicas: d.Spec.Replicas, Strategy: d.Spec.Strategy}
	conditions := make([]machinev1alpha1.MachineDeploymentCondition, 0, len(d.Status.Conditions))
	for _, c := range d.Status.Conditions {
		if isGood(c) {
			c = machinev1alpha1.MachineDeploymentCondition{Type: c.Type, Status: c.Status}
		}
		conditions = append(conditions, c)
	}
	d.Status.Conditions = conditions
}

// isGood reports whether nobody reads the text of a condition.
func isGood(c machinev1alpha1.MachineDeploymentCondition) bool {
	return c.Status == machinev1alpha1.ConditionTrue &&
		(c.Type == machinev1alpha1.MachineDeploymentAvailable || c.Type == machinev1alpha1.MachineDeploymentProgressing)
}

// problem is a problem of a deployment of machines.
type problem struct {
	message string
	// kind is the error kind of failed machines, from the machine driver's code.
	kind  cloud.Kind
	grace time.Duration
}

func unhealthyFinding(problems []problem) contract.Finding {
	var words []string
	var errs []error
	grace := problems[0].grace
	for n, t := range problems {
		if n < problemsInMessage {
			words = append(words, t.message)
		}
		errs = append(errs, cloud.Errorf(t.kind, "%s", t.message))
		grace = min(grace, t.grace)
	}
	if more := len(problems) - problemsInMessage; more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return contract.Finding{Message: strings.Join(words, "; ") + ".", Codes: contract.Codes(errors.Join(errs...)), Grace: grace}
}

// problemOf returns the problem of a deployment; none while machines are replaced or updated as intended.
func problemOf(d *machinev1alpha1.MachineDeployment) problem {
	status := d.Status
	if d.Spec.Replicas == 0 && status.Replicas == 0 {
		// While a shoot is hibernated, machine-controller-manager does not run, and observes no change.
		return problem{}
	}
	pool := "pool " + d.Name
	if name := d.Labels[v1beta1constants.LabelWorkerPool]; name != "" {
		pool = "pool " + name
	}
	if failures := failuresInSummaries(status.FailedMachines); len(failures) > 0 {
		return failureProblem(pool, failures)
	}
	healthErr := health.CheckMachineDeployment(d)
	// machine-controller-manager's condition accepts unavailable machines up to maxUnavailable, which is right only while machines are
	// replaced.
	mayBeUnavailable := healthErr == nil && status.UpdatedReplicas < status.Replicas
	switch {
	case status.ObservedGeneration < d.Generation:
		return problem{message: pool + ": machine-controller-manager has not observed the last change yet", grace: joinGrace}
	case status.AvailableReplicas+status.PreservedFailedReplicas < d.Spec.Replicas && !mayBeUnavailable:
		// Numbers would change with every machine that joins.
		return problem{message: pool + ": some machines are not ready nodes", grace: joinGrace}
	case healthErr != nil:
		return problem{message: pool + ": " + truncate.Line(healthErr.Error(), truncate.MaxExternal), grace: joinGrace}
	default:
		return problem{}
	}
}

// failureProblem describes the worst failure. One that needs the user is a problem at once.
func failureProblem(pool string, failures []failure) problem {
	for _, f := range failures {
		if f.needsUser() {
			return problem{message: pool + ": " + failuresClause([]failure{f}), kind: f.kind}
		}
	}
	return problem{message: pool + ": " + failuresClause(failures[:1]), kind: failures[0].kind, grace: joinGrace}
}

// failuresInSummaries returns the failures in the status of a deployment.
func failuresInSummaries(summaries []*machinev1alpha1.MachineSummary) []failure {
	machines := make([]machinev1alpha1.Machine, 0, len(summaries))
	for _, summary := range summaries {
		machine := machinev1alpha1.Machine{}
		machine.Name = summary.Name
		machine.Status.LastOperation = summary.LastOperation
		machines = append(machines, machine)
	}
	return failuresOf(machines)
}
