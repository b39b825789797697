package worker

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gardener/gardener/pkg/utils/kubernetes/health"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
)

// poolsInReason is how many pools a reason tells of.
const poolsInReason = 2

// labelSetOwner names the MachineDeployment on sets of machines that have no owner yet, as after a move to another seed.
const labelSetOwner = "name"

// examine says how far the wanted machines have come: an empty reason when there is nothing to wait for, else a clause for
// users such as "pool cpu: 2 of 3 machines joined", or an error when waiting does not help.
//
// now is what there is, read after the last change; since is when the pass began to change things. asleep says that the shoot is
// to have no machines: then machine-controller-manager may be gone already, and what it says of itself does not count.
func examine(wanted []deployment, now observed, since time.Time, asleep bool) (reason string, err error) {
	standings := standingsOf(wanted, now)
	var failures []failure
	for _, s := range standings {
		failures = append(failures, failuresOf(s.machines)...)
	}
	if err := hopeless(failures, since, now.at, slices.ContainsFunc(standings, standing.moves)); err != nil {
		return "", err
	}
	if asleep {
		return awakeReason(standings), nil
	}
	return poolsReason(standings), nil
}

func awakeReason(standings []standing) string {
	awake := 0
	for _, s := range standings {
		replicas := 0
		if s.have != nil {
			replicas = int(s.have.Status.Replicas)
		}
		awake += max(replicas, len(s.machines))
	}
	switch awake {
	case 0:
		return ""
	case 1:
		return "1 machine is still awake"
	default:
		return fmt.Sprintf("%d machines are still awake", awake)
	}
}

// poolsReason tells of the first pools that are not done, in their order.
func poolsReason(standings []standing) string {
	var clauses []string
	waiting := 0
	for len(standings) > 0 {
		pool := standings[0].wanted.pool
		var zones []standing
		zones, standings = partition(standings, func(s standing) bool { return s.wanted.pool == pool })
		if !slices.ContainsFunc(zones, func(s standing) bool { return !s.done() }) {
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

// poolClause says how far the zones of one pool have come, of which at least one is not done.
func poolClause(zones []standing) string {
	var desired, joined, old, fresh, selected, updating int32
	inPlace := false
	var failures []failure
	var ailment error
	for _, s := range zones {
		if !s.takenUp() {
			return "machine-controller-manager has yet to take up the change"
		}
		status := s.have.Status
		desired += s.have.Spec.Replicas
		joined += min(status.AvailableReplicas, s.have.Spec.Replicas)
		fresh += min(s.latest.Status.AvailableReplicas, s.have.Spec.Replicas)
		inPlace = inPlace || isInPlace(s.have)
		if isManual(s.have) {
			selected += s.selected()
		} else {
			old += max(status.Replicas-status.UpdatedReplicas, 0)
			updating += s.have.Spec.Replicas
		}
		failures = append(failures, failuresOf(s.machines)...)
		if ailment == nil && !s.done() {
			ailment = health.CheckMachineDeployment(s.have)
		}
	}
	var clause string
	switch {
	case selected > 0:
		clause = fmt.Sprintf("%d selected %s being updated in place", selected, plural(int(selected), "machine is", "machines are"))
	case old > 0 && inPlace:
		clause = fmt.Sprintf("%d of %d machines updated in place", max(updating-old, 0), updating)
	case old > 0 && fresh < desired:
		clause = fmt.Sprintf("%d of %d machines replaced", fresh, desired)
	case joined < desired:
		clause = fmt.Sprintf("%d of %d machines joined", joined, desired)
	case old > 0:
		clause = fmt.Sprintf("%d old %s being drained and removed", old, plural(int(old), "machine is", "machines are"))
	case ailment != nil:
		clause = ailment.Error()
	default:
		clause = fmt.Sprintf("%d of %d machines joined, machine-controller-manager is catching up", joined, desired)
	}
	if len(failures) > 0 {
		clause += "; " + failuresClause(failures)
	}
	return clause
}

// standing is how far the machines of one wanted deployment have come.
type standing struct {
	wanted deployment
	// have is nil while there is no such MachineDeployment.
	have *machinev1alpha1.MachineDeployment
	// latest is the set of the wanted class, nil while there is none; old are the others.
	latest *machinev1alpha1.MachineSet
	old    []machinev1alpha1.MachineSet
	// machines are those of all sets.
	machines []machinev1alpha1.Machine
}

func standingsOf(wanted []deployment, now observed) []standing {
	standings := make([]standing, 0, len(wanted))
	for _, w := range wanted {
		s := standing{wanted: w}
		if i := slices.IndexFunc(now.deployments, func(d machinev1alpha1.MachineDeployment) bool { return d.Name == w.name() }); i >= 0 {
			s.have = &now.deployments[i]
		}
		for i := range now.sets {
			set := &now.sets[i]
			if !isSetOf(set, w.name()) {
				continue
			}
			if s.latest == nil && set.Spec.Template.Spec.Class.Name == w.class.Name {
				s.latest = set
			} else {
				s.old = append(s.old, *set)
			}
			for _, machine := range now.machines {
				if isMachineOf(&machine, set.Name) {
					s.machines = append(s.machines, machine)
				}
			}
		}
		standings = append(standings, s)
	}
	return standings
}

// takenUp reports whether machine-controller-manager has seen what is wanted.
func (s standing) takenUp() bool {
	return s.have != nil && s.latest != nil &&
		s.have.Status.ObservedGeneration >= s.have.Generation && s.have.Spec.Template.Spec.Class.Name == s.wanted.class.Name
}

// done goes by the conditions of Gardener's library, for each deployment by itself. What it adds is that the number of machines that is
// wanted now has been reached: for a moment after scaling, machine-controller-manager reports the new generation with the old numbers.
func (s standing) done() bool {
	if !s.takenUp() || health.CheckMachineDeployment(s.have) != nil || len(s.have.Status.FailedMachines) > 0 {
		return false
	}
	status := s.have.Status
	waitsForUser := int32(0)
	if isManual(s.have) {
		if s.selected() > 0 {
			return false
		}
		// The deployment's own numbers lag behind those of its sets.
		for _, set := range s.old {
			waitsForUser += set.Status.Replicas
		}
	}
	return status.UpdatedReplicas+waitsForUser == status.Replicas &&
		status.UnavailableReplicas <= status.PreservedFailedReplicas &&
		status.AvailableReplicas+status.PreservedFailedReplicas >= s.have.Spec.Replicas
}

// selected counts the machines that a user has chosen to be updated and that are not yet.
func (s standing) selected() int32 {
	count := int32(0)
	for _, set := range s.old {
		for _, machine := range s.machines {
			if !isMachineOf(&machine, set.Name) {
				continue
			}
			for _, condition := range machine.Status.Conditions {
				if condition.Type == machinev1alpha1.NodeInPlaceUpdate && condition.Reason != machinev1alpha1.CandidateForUpdate {
					count++
				}
			}
		}
	}
	return count
}

// moves reports whether something of the deployment is on its way: a machine that has not failed, or one that is yet to be made.
func (s standing) moves() bool {
	if s.have == nil || len(s.machines) < int(s.have.Spec.Replicas) {
		return true
	}
	return slices.ContainsFunc(s.machines, func(machine machinev1alpha1.Machine) bool {
		return !hasFailed(&machine) && !isPreserved(&machine) && !hasJoined(&machine)
	})
}

func hasJoined(machine *machinev1alpha1.Machine) bool {
	phase := machine.Status.CurrentStatus.Phase
	return machine.DeletionTimestamp == nil && (phase == machinev1alpha1.MachineRunning || phase == machinev1alpha1.MachineAvailable)
}

// isSetOf reports whether a set belongs to a deployment: by its owner, or where a set has none, by its label.
func isSetOf(set *machinev1alpha1.MachineSet, name string) bool {
	if len(set.OwnerReferences) == 0 {
		return set.Labels[labelSetOwner] == name
	}
	for _, owner := range set.OwnerReferences {
		if owner.Kind == "MachineDeployment" && owner.Name == name {
			return true
		}
	}
	return false
}

func isMachineOf(machine *machinev1alpha1.Machine, set string) bool {
	for _, owner := range machine.OwnerReferences {
		if owner.Kind == "MachineSet" && owner.Name == set {
			return true
		}
	}
	return false
}

func isInPlace(deployment *machinev1alpha1.MachineDeployment) bool {
	return deployment.Spec.Strategy.Type == machinev1alpha1.InPlaceUpdateMachineDeploymentStrategyType
}

// isManual reports whether users choose the machines that are updated, and when.
func isManual(deployment *machinev1alpha1.MachineDeployment) bool {
	update := deployment.Spec.Strategy.InPlaceUpdate
	return isInPlace(deployment) && update != nil && update.OrchestrationType == machinev1alpha1.OrchestrationTypeManual
}
