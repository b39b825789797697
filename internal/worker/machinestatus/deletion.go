package machinestatus

import (
	"fmt"
	"strings"
	"time"

	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"

	"github.com/trellis-garden/trellis/internal/truncate"
)

// namesInReason is how many machines a reason names.
const namesInReason = 3

// DeletionReason names the machines and their owners that still exist, and why they are not deleted.
func DeletionReason(rest Observed, since time.Time) (reason string, err error) {
	failures := failuresOf(rest.Machines)
	if err := terminalError(failures, since, rest.At, len(failures) < len(rest.Machines)); err != nil {
		return "", err
	}
	switch count := len(rest.Machines); {
	case len(failures) > 0:
		return fmt.Sprintf("%d %s being deleted; %s", count, plural(count, "machine is", "machines are"), failuresClause(failures)), nil
	case count > 0:
		return fmt.Sprintf("%d %s being deleted%s", count, plural(count, "machine is", "machines are"), lastOperationClause(rest.Machines)), nil
	case len(rest.Sets)+len(rest.Deployments) > 0:
		return "machine-controller-manager has not released the machine sets and deployments yet", nil
	default:
		return "", nil
	}
}

// lastOperationClause describes the first machine with a description of its last operation.
func lastOperationClause(machines []machinev1alpha1.Machine) string {
	for i := range machines {
		if what := machines[i].Status.LastOperation.Description; what != "" {
			return fmt.Sprintf("; machine %s: %s", machines[i].Name, truncate.Line(what, maxFailureLength))
		}
	}
	return ""
}

// MachinesClause names the first machines and the number of further ones: "machine a is", "machines a, b, c and 4 more are".
func MachinesClause(machines []machinev1alpha1.Machine) string {
	names := make([]string, 0, len(machines))
	for i := range machines {
		names = append(names, machines[i].Name)
	}
	more := len(names) - namesInReason
	clause := strings.Join(names[:min(len(names), namesInReason)], ", ")
	if more > 0 {
		clause += fmt.Sprintf(" and %d more", more)
	}
	return plural(len(names), "machine ", "machines ") + clause
}
