package machinestatus

import (
	"fmt"
	"time"

	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func testStart() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 700_000_000, time.UTC) }

// zone is the desired and observed state of a pool in one zone. It begins with three machines that have all joined.
type zone struct {
	wanted   Wanted
	have     machinev1alpha1.MachineDeployment
	sets     []machinev1alpha1.MachineSet
	machines []machinev1alpha1.Machine
}

func newZone(pool string) *zone {
	name := "one-" + pool + "-z1"
	z := &zone{wanted: Wanted{Name: name, Pool: pool, Class: name + "-new"}}
	z.have.Name, z.have.Generation = name, 2
	z.have.Spec.Replicas = 3
	z.have.Spec.Template.Spec.Class.Name = name + "-new"
	z.have.Status = machinev1alpha1.MachineDeploymentStatus{
		ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 3, ReadyReplicas: 3, AvailableReplicas: 3,
		Conditions: []machinev1alpha1.MachineDeploymentCondition{
			{Type: machinev1alpha1.MachineDeploymentAvailable, Status: machinev1alpha1.ConditionTrue},
			{Type: machinev1alpha1.MachineDeploymentProgressing, Status: machinev1alpha1.ConditionTrue},
		},
	}
	z.addSet("new", 3)
	return z
}

// addSet adds a set with some machines that are nodes.
func (z *zone) addSet(suffix string, machines int) {
	set := machinev1alpha1.MachineSet{ObjectMeta: metav1.ObjectMeta{
		Name:            z.have.Name + "-set-" + suffix,
		OwnerReferences: []metav1.OwnerReference{{Kind: "MachineDeployment", Name: z.have.Name}},
	}}
	set.Spec.Template.Spec.Class.Name = z.have.Name + "-" + suffix
	set.Status.Replicas, set.Status.AvailableReplicas = int32(machines), int32(machines)
	z.sets = append(z.sets, set)
	for n := range machines {
		machine := machinev1alpha1.Machine{ObjectMeta: metav1.ObjectMeta{
			Name:            fmt.Sprintf("%s-%s-%d", z.have.Name, suffix, n+1),
			OwnerReferences: []metav1.OwnerReference{{Kind: "MachineSet", Name: set.Name}},
		}}
		machine.Status.CurrentStatus.Phase = machinev1alpha1.MachineRunning
		z.machines = append(z.machines, machine)
	}
}

// withRollingUpdate replaces one of three machines, with one machine more than wanted meanwhile.
func (z *zone) withRollingUpdate() *zone {
	z.sets, z.machines = nil, nil
	z.addSet("old", 3)
	z.addSet("new", 1)
	z.have.Status.Replicas, z.have.Status.UpdatedReplicas = 4, 1
	return z
}

// withFailure makes the last machine fail after the start of the reconciliation.
func (z *zone) withFailure(after time.Duration, code, message string) *zone {
	machine := &z.machines[len(z.machines)-1]
	machine.Status.CurrentStatus.Phase = machinev1alpha1.MachineCrashLoopBackOff
	machine.Status.LastOperation = machinev1alpha1.LastOperation{
		Description:    fmt.Sprintf("Cloud provider message - machine codes error: code = [%s] message = [%s]", code, message),
		ErrorCode:      code,
		State:          machinev1alpha1.MachineStateFailed,
		Type:           machinev1alpha1.MachineOperationCreate,
		LastUpdateTime: metav1.NewTime(testStart().Add(after).Truncate(time.Second)),
	}
	z.have.Status.FailedMachines = append(z.have.Status.FailedMachines, &machinev1alpha1.MachineSummary{Name: machine.Name})
	z.have.Status.AvailableReplicas--
	z.have.Status.UnavailableReplicas++
	z.have.Status.Conditions[0].Status = machinev1alpha1.ConditionFalse
	return z
}

func (z *zone) with(edit func(*zone)) *zone {
	edit(z)
	return z
}

func (z *zone) withInPlaceUpdate(orchestration machinev1alpha1.OrchestrationType) *zone {
	z.withRollingUpdate()
	z.machines = z.machines[1:]
	z.sets[0].Status.Replicas = 2
	z.have.Status.Replicas = 3
	z.have.Spec.Strategy = machinev1alpha1.MachineDeploymentStrategy{
		Type:          machinev1alpha1.InPlaceUpdateMachineDeploymentStrategyType,
		InPlaceUpdate: &machinev1alpha1.InPlaceUpdateMachineDeployment{OrchestrationType: orchestration},
	}
	for n := range 2 {
		z.machines[n].Status.Conditions = []corev1.NodeCondition{
			{Type: machinev1alpha1.NodeInPlaceUpdate, Reason: machinev1alpha1.CandidateForUpdate},
		}
	}
	return z
}

// observedAfter combines zones, some time after the start of the reconciliation.
func observedAfter(after time.Duration, zones ...*zone) ([]Wanted, Observed) {
	now := Observed{At: testStart().Add(after)}
	var wanted []Wanted
	for _, z := range zones {
		wanted = append(wanted, z.wanted)
		if z.have.Name != "" {
			now.Deployments = append(now.Deployments, z.have)
		}
		now.Sets = append(now.Sets, z.sets...)
		now.Machines = append(now.Machines, z.machines...)
	}
	return wanted, now
}
