package machinestatus

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/worker/drivererror"
)

const (
	// failureGracePeriod is the age from which a failure counts that is older than the reconciliation: machine-controller-manager retries a
	// creation after three minutes, and until then it reports a failure whose cause the user may have removed.
	failureGracePeriod = 4 * time.Minute
	// deletionFailureGracePeriod is the same for deletions, which are retried after ten minutes. gardenlet's timeout is as long, so the error
	// must come before.
	deletionFailureGracePeriod = 9 * time.Minute
	// maxFailureLength is the maximum length in bytes of a driver's message.
	maxFailureLength = 300
)

// failure is the failed creation or deletion of a machine. machine-controller-manager retries it.
type failure struct {
	machine string
	kind    cloud.Kind
	// message is the machine driver's message.
	message string
	// at is the time of the first report: machine-controller-manager keeps it for half an hour while the failure repeats.
	at time.Time
	// deletion is true if the deletion failed.
	deletion bool
}

// gracePeriod is the age from which the failure counts, if it is older than the reconciliation.
func (f failure) gracePeriod() time.Duration {
	if f.deletion {
		return deletionFailureGracePeriod
	}
	return failureGracePeriod
}

// failuresOf returns the machines' failures, sorted by machine, without machines that are preserved for examination.
func failuresOf(machines []machinev1alpha1.Machine) []failure {
	var failures []failure
	for i := range machines {
		machine := &machines[i]
		if !hasFailed(machine) || isPreserved(machine) {
			continue
		}
		operation := machine.Status.LastOperation
		code, what := drivererror.Parse(operation.Description, maxFailureLength)
		if operation.ErrorCode != "" {
			code = operation.ErrorCode
		}
		failures = append(failures, failure{
			machine: machine.Name, kind: kindOf(code), message: what, at: operation.LastUpdateTime.Time,
			deletion: operation.Type == machinev1alpha1.MachineOperationDelete,
		})
	}
	slices.SortFunc(failures, func(a, b failure) int { return strings.Compare(a.machine, b.machine) })
	return failures
}

// hasFailed reports whether the last operation on a machine failed. Once a machine is being deleted, its failed creation is irrelevant.
func hasFailed(machine *machinev1alpha1.Machine) bool {
	operation := machine.Status.LastOperation
	isPast := machine.DeletionTimestamp != nil && operation.Type == machinev1alpha1.MachineOperationCreate
	return operation.State == machinev1alpha1.MachineStateFailed && !isPast
}

// isPreserved reports whether a failed machine is kept for examination.
func isPreserved(machine *machinev1alpha1.Machine) bool {
	status := machine.Status.CurrentStatus
	return status.Phase == machinev1alpha1.MachineFailed && !status.PreserveExpiryTime.IsZero()
}

// needsUser reports whether retrying cannot succeed until a user has changed something.
func (f failure) needsUser() bool {
	return f.kind == cloud.Unauthenticated || f.kind == cloud.Unauthorized || f.kind == cloud.Configuration
}

// kindOf maps the codes of machine drivers, by machine-controller-manager's names, to error kinds.
func kindOf(code string) cloud.Kind {
	switch code {
	case "Unauthenticated":
		return cloud.Unauthenticated
	case "PermissionDenied":
		return cloud.Unauthorized
	case "InvalidArgument", "OutOfRange":
		return cloud.Configuration
	case "NotFound":
		// A resource that the class refers to, or a machine that has vanished during its creation.
		return cloud.NotFound
	case "ResourceExhausted":
		// The code stands for an exceeded quota and for a cloud without capacity; only the text distinguishes them. With this kind, Gardener
		// retries the shoot: capacity may be freed and quotas raised without a change of the shoot.
		return cloud.Depleted
	case "Unavailable", "DeadlineExceeded", "Aborted", "Canceled":
		return cloud.Unavailable
	default:
		return cloud.Unknown
	}
}

// terminalError returns an error if waiting cannot help, because failures prevent the creation or deletion of machines. since is when the
// reconciliation began to change objects. othersInProgress says that other machines are still being created or deleted.
//
// gardenlet stops waiting at any error, and some codes set the shoot to Failed, while machine-controller-manager continues to retry.
// Therefore failures that may be transient are only reported in the reason. Failures that need the user end the reconciliation. A lack of
// capacity or quota does so once no other machine is in progress, since deleted machines free capacity.
func terminalError(failures []failure, since, now time.Time, othersInProgress bool) error {
	var final []failure
	for _, f := range failures {
		// Times in objects have a resolution of a second.
		isFresh := !f.at.Before(since.Truncate(time.Second))
		if !isFresh && now.Sub(since) < f.gracePeriod() {
			continue
		}
		if f.needsUser() || f.kind == cloud.Depleted && !othersInProgress {
			final = append(final, f)
		}
	}
	var errs []error
	for len(final) > 0 {
		kind := final[0].kind
		var same []failure
		same, final = partition(final, func(f failure) bool { return f.kind == kind })
		errs = append(errs, cloud.Errorf(kind, "%s", failuresClause(same)))
	}
	return errors.Join(errs...)
}

// failuresClause describes the first failure and the number of further ones.
func failuresClause(failures []failure) string {
	clause := fmt.Sprintf("machine %s: %s", failures[0].machine, failures[0].message)
	if more := len(failures) - 1; more > 0 {
		clause += fmt.Sprintf("; %d more %s", more, plural(more, "machine fails", "machines fail"))
	}
	return clause
}

// plural returns the first form for one, else the second; without a second, the first with an s.
func plural(count int, forms ...string) string {
	switch {
	case count == 1:
		return forms[0]
	case len(forms) == 1:
		return forms[0] + "s"
	default:
		return forms[1]
	}
}

// partition splits a list into the elements that match and the others, in their order.
func partition[T any](list []T, matches func(T) bool) (matching, others []T) {
	for _, item := range list {
		if matches(item) {
			matching = append(matching, item)
		} else {
			others = append(others, item)
		}
	}
	return matching, others
}
