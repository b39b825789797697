package machinestatus

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gardener/gardener/pkg/utils/kubernetes/health"
)

// poolsInReason is the maximum number of pools in a reason.
const poolsInReason = 2

// CheckProgress evaluates the progress of the wanted machines. It returns an empty reason if there is nothing to wait for, else a clause
// for users such as "pool cpu: 2 of 3 machines joined", or an error if waiting cannot succeed.
//
// now was read after the last change; since is the time at which the reconciliation began to change objects. If hibernated is true, the
// shoot must have no machines: then machine-controller-manager may not run any more, and its reports are ignored.
func CheckProgress(wanted []Wanted, now Observed, since time.Time, hibernated bool) (reason string, err error) {
	statuses := deploymentStatusesOf(wanted, now)
	var failures []failure
	for _, s := range statuses {
		failures = append(failures, failuresOf(s.machines)...)
	}
	if err := terminalError(failures, since, now.At, slices.ContainsFunc(statuses, deploymentStatus.inProgress)); err != nil {
		return "", err
	}
	if hibernated {
		return hibernationReason(statuses), nil
	}
	return poolsReason(statuses), nil
}

func hibernationReason(statuses []deploymentStatus) string {
	running := 0
	for _, s := range statuses {
		replicas := 0
		if s.have != nil {
			replicas = int(s.have.Status.Replicas)
		}
		running += max(replicas, len(s.machines))
	}
	switch running {
	case 0:
		return ""
	case 1:
		return "1 machine still exists"
	default:
		return fmt.Sprintf("%d machines still exist", running)
	}
}

// poolsReason describes the first pools that are not done, in their order.
func poolsReason(statuses []deploymentStatus) string {
	var clauses []string
	waiting := 0
	for len(statuses) > 0 {
		pool := statuses[0].wanted.Pool
		var zones []deploymentStatus
		zones, statuses = partition(statuses, func(s deploymentStatus) bool { return s.wanted.Pool == pool })
		if !slices.ContainsFunc(zones, func(s deploymentStatus) bool { return !s.done() }) {
			continue
		}
		waiting++
		if waiting <= poolsInReason {
			clauses = append(clauses, "pool "+pool+": "+poolClause(zones))
		}
	}
	if more := waiting - poolsInReason; more > 0 {
		clauses = append(clauses, fmt.Sprintf("and %d more %s", more, plural(more, "pool")))
	}
	return strings.Join(clauses, "; ")
}

// poolClause describes the progress of the zones of one pool, of which at least one is not done.
func poolClause(zones []deploymentStatus) string {
	if slices.ContainsFunc(zones, func(s deploymentStatus) bool { return !s.isObserved() }) {
		return "machine-controller-manager has not observed the change yet"
	}
	var pool poolNumbers
	var failures []failure
	for _, s := range zones {
		pool.add(s)
		failures = append(failures, failuresOf(s.machines)...)
	}
	clause := pool.clause()
	if len(failures) > 0 {
		clause += "; " + failuresClause(failures)
	}
	return clause
}

// poolNumbers are sums over the zones of a pool.
type poolNumbers struct {
	// joined are the wanted machines that are nodes, fresh those of them with the wanted class.
	wanted, joined, updated int32
	// old are machines that must still be replaced or updated, without those that wait for a user. selected are those that a user has
	// selected for update.
	old, selected int32
	inPlace       bool
	// healthErr is an error that machine-controller-manager itself reports.
	healthErr error
}

func (n *poolNumbers) add(s deploymentStatus) {
	status, wanted := s.have.Status, s.have.Spec.Replicas
	n.wanted += wanted
	n.joined += min(status.AvailableReplicas, wanted)
	n.updated += min(s.latest.Status.AvailableReplicas, wanted)
	n.inPlace = n.inPlace || isInPlace(s.have)
	if isManual(s.have) {
		n.selected += s.selected()
	} else {
		n.old += max(status.Replicas-status.UpdatedReplicas, 0)
	}
	if n.healthErr == nil {
		n.healthErr = health.CheckMachineDeployment(s.have)
	}
}

func (n *poolNumbers) clause() string {
	switch {
	case n.selected > 0:
		return fmt.Sprintf("%d selected %s being updated in place", n.selected, plural(int(n.selected), "machine is", "machines are"))
	case n.old > 0 && n.inPlace:
		return fmt.Sprintf("%d of %d machines updated in place", n.updated, n.wanted)
	case n.old > 0 && n.updated < n.wanted:
		return fmt.Sprintf("%d of %d machines replaced", n.updated, n.wanted)
	case n.joined < n.wanted:
		return fmt.Sprintf("%d of %d machines joined", n.joined, n.wanted)
	case n.old > 0:
		return fmt.Sprintf("%d old %s being drained and removed", n.old, plural(int(n.old), "machine is", "machines are"))
	case n.healthErr != nil:
		return n.healthErr.Error()
	default:
		return fmt.Sprintf("%d of %d machines joined, machine-controller-manager is catching up", n.joined, n.wanted)
	}
}
