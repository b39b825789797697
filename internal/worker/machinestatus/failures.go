package machinestatus

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/truncate"
)

const (
	// failureGracePeriod is how long a failure that is older than the pass may stand before it counts: machine-controller-manager tries to create
	// machines again after three minutes, and until then it shows what the user may have mended.
	failureGracePeriod = 4 * time.Minute
	// deletionFailureGracePeriod is the same for deletions, which it tries again after ten minutes. gardenlet waits for as long, and is to be told before.
	deletionFailureGracePeriod = 9 * time.Minute
	// maxFailureLength is how many bytes of a driver's words are repeated.
	maxFailureLength = 300
)

// failure is what machine-controller-manager has failed to do with one machine. It tries again by itself.
type failure struct {
	machine string
	kind    cloud.Kind
	// message is what went wrong, in the words of the machine driver.
	message string
	// at is when it was told first: a failure that repeats itself keeps its time for half an hour.
	at time.Time
	// deletion is true when it was to be deleted.
	deletion bool
}

// gracePeriod is how long the failure may stand before it counts, when it is older than the pass.
func (f failure) gracePeriod() time.Duration {
	if f.deletion {
		return deletionFailureGracePeriod
	}
	return failureGracePeriod
}

// failuresOf returns the machines' failures, ordered by machine. A failed machine that a user wants to look at is none of them.
func failuresOf(machines []machinev1alpha1.Machine) []failure {
	var failures []failure
	for i := range machines {
		machine := &machines[i]
		if !hasFailed(machine) || isPreserved(machine) {
			continue
		}
		operation := machine.Status.LastOperation
		code, what := parseDriverError(operation.Description)
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

// hasFailed reports whether the last thing that was done to a machine failed. What a machine failed to become is of no interest once
// it is to go.
func hasFailed(machine *machinev1alpha1.Machine) bool {
	operation := machine.Status.LastOperation
	isPast := machine.DeletionTimestamp != nil && operation.Type == machinev1alpha1.MachineOperationCreate
	return operation.State == machinev1alpha1.MachineStateFailed && !isPast
}

// isPreserved reports whether a failed machine is kept for somebody to look at.
func isPreserved(machine *machinev1alpha1.Machine) bool {
	status := machine.Status.CurrentStatus
	return status.Phase == machinev1alpha1.MachineFailed && !status.PreserveExpiryTime.IsZero()
}

// needsUser reports whether trying again is certainly in vain until a user has changed something.
func (f failure) needsUser() bool {
	return f.kind == cloud.Unauthenticated || f.kind == cloud.Unauthorized || f.kind == cloud.Configuration
}

// kindOf is the one table from the codes of machine drivers, by machine-controller-manager's names for them, to error kinds.
func kindOf(code string) cloud.Kind {
	switch code {
	case "Unauthenticated":
		return cloud.Unauthenticated
	case "PermissionDenied":
		return cloud.Unauthorized
	case "InvalidArgument", "OutOfRange":
		return cloud.Configuration
	case "NotFound":
		// It may be a thing that the class names as well as a machine that has vanished while it was made.
		return cloud.NotFound
	case "ResourceExhausted":
		// It stands for a quota as well as for a cloud without room, and nothing but the text tells which. The kind is the one with which
		// a shoot goes on trying: room may come, and a quota may be raised, without anybody telling the shoot.
		return cloud.Depleted
	case "Unavailable", "DeadlineExceeded", "Aborted", "Canceled":
		return cloud.Unavailable
	default:
		return cloud.Unknown
	}
}

// terminalError returns an error when failures keep the machines from coming, or from going, so that waiting does not help. since is when the
// pass began to change things. othersInProgress says that some machines are still on their way.
//
// gardenlet takes any error for the end of its wait, and some codes turn the shoot to Failed, while machine-controller-manager
// goes on trying. Therefore what may pass by itself is only told in the reason. What a user must mend ends the pass. A lack of room or
// quota does once nothing else happens: machines that go may make room.
func terminalError(failures []failure, since, now time.Time, othersInProgress bool) error {
	var final []failure
	for _, f := range failures {
		// Times in objects are whole seconds.
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

// failuresClause tells of the first failure, and how many more there are.
func failuresClause(failures []failure) string {
	clause := fmt.Sprintf("machine %s: %s", failures[0].machine, failures[0].message)
	if more := len(failures) - 1; more > 0 {
		clause += fmt.Sprintf("; %d more %s", more, plural(more, "machine fails", "machines fail"))
	}
	return clause
}

// parseDriverError takes the code and the message out of the envelope in which machine-controller-manager carries a driver's error:
// "... code = [X] message = [Y] ...", a format that it reads itself. Without one, there is no code and the text is the message.
func parseDriverError(description string) (code, message string) {
	_, rest, hasCode := strings.Cut(description, "machine codes error: code = [")
	code, rest, hasEnd := strings.Cut(rest, "] message = [")
	if !hasCode || !hasEnd {
		return "", truncate.Line(strings.TrimPrefix(description, "Cloud provider message - "), maxFailureLength)
	}
	open := 1
	for i, r := range rest {
		switch r {
		case '[':
			open++
		case ']':
			open--
		}
		if open == 0 {
			return code, truncate.Line(rest[:i], maxFailureLength)
		}
	}
	return code, truncate.Line(rest, maxFailureLength)
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

// partition splits a list in those that are meant and the others, and keeps their order.
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
