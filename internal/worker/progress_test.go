package worker

import (
	"fmt"
	"testing"
	"time"

	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/internal/cloud"
)

func begun() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 700_000_000, time.UTC) }

// zone is what is wanted and seen of a pool in one zone. It begins with three machines that have all joined.
type zone struct {
	wanted   deployment
	have     machinev1alpha1.MachineDeployment
	sets     []machinev1alpha1.MachineSet
	machines []machinev1alpha1.Machine
}

func newZone(pool string) *zone {
	name := "one-" + pool + "-z1"
	z := &zone{wanted: deployment{
		pool:   pool,
		class:  &machinev1alpha1.MachineClass{ObjectMeta: metav1.ObjectMeta{Name: name + "-new"}},
		object: &machinev1alpha1.MachineDeployment{ObjectMeta: metav1.ObjectMeta{Name: name}},
	}}
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

// rolls has one of three machines replaced, with one more than wanted for the time.
func (z *zone) rolls() *zone {
	z.sets, z.machines = nil, nil
	z.addSet("old", 3)
	z.addSet("new", 1)
	z.have.Status.Replicas, z.have.Status.UpdatedReplicas = 4, 1
	return z
}

// lacks has the last machine fail, at a time since the pass began.
func (z *zone) lacks(after time.Duration, code, message string) *zone {
	machine := &z.machines[len(z.machines)-1]
	machine.Status.CurrentStatus.Phase = machinev1alpha1.MachineCrashLoopBackOff
	machine.Status.LastOperation = machinev1alpha1.LastOperation{
		Description:    fmt.Sprintf("Cloud provider message - machine codes error: code = [%s] message = [%s]", code, message),
		ErrorCode:      code,
		State:          machinev1alpha1.MachineStateFailed,
		Type:           machinev1alpha1.MachineOperationCreate,
		LastUpdateTime: metav1.NewTime(begun().Add(after).Truncate(time.Second)),
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

func (z *zone) updatesInPlace(orchestration machinev1alpha1.OrchestrationType) *zone {
	z.rolls()
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

// seen puts zones together, some time after the pass began.
func seen(after time.Duration, zones ...*zone) ([]deployment, observed) {
	now := observed{at: begun().Add(after)}
	var wanted []deployment
	for _, z := range zones {
		wanted = append(wanted, z.wanted)
		if z.have.Name != "" {
			now.deployments = append(now.deployments, z.have)
		}
		now.sets = append(now.sets, z.sets...)
		now.machines = append(now.machines, z.machines...)
	}
	return wanted, now
}

func TestAReasonSaysHowFarTheMachinesOfPoolsHaveCome(t *testing.T) {
	joining := func(pool string) *zone {
		return newZone(pool).with(func(z *zone) {
			z.have.Status.AvailableReplicas, z.have.Status.UnavailableReplicas = 1, 2
			z.machines[2].Status.CurrentStatus.Phase = machinev1alpha1.MachinePending
		})
	}
	for sentence, test := range map[string]struct {
		zones []*zone
		want  string
	}{
		"all have joined":    {[]*zone{newZone("cpu"), newZone("gpu")}, ""},
		"there are no pools": {nil, ""},
		"a pool without machines": {[]*zone{newZone("cpu").with(func(z *zone) {
			z.have.Spec.Replicas, z.machines = 0, nil
			z.have.Status.Replicas, z.have.Status.UpdatedReplicas, z.have.Status.AvailableReplicas = 0, 0, 0
		})}, ""},
		"too many machines are none to wait for": {[]*zone{newZone("cpu").with(func(z *zone) { z.have.Spec.Replicas = 2 })}, ""},
		"what a user wants to look at is not waited for": {[]*zone{newZone("cpu").with(func(z *zone) {
			z.lacks(0, "Internal", "broken")
			z.have.Status.FailedMachines, z.have.Status.PreservedFailedReplicas = nil, 1
			z.have.Status.Conditions[0].Status = machinev1alpha1.ConditionTrue
			z.machines[2].Status.CurrentStatus = machinev1alpha1.CurrentStatus{
				Phase: machinev1alpha1.MachineFailed, PreserveExpiryTime: new(metav1.NewTime(begun().Add(time.Hour))),
			}
		})}, ""},
		"a set that has no owner yet goes by its label": {[]*zone{newZone("cpu").with(func(z *zone) {
			z.sets[0].OwnerReferences, z.sets[0].Labels = nil, map[string]string{"name": z.have.Name}
		})}, ""},

		"there is no deployment yet": {
			[]*zone{newZone("cpu").with(func(z *zone) { z.have.Name = "" })},
			"pool cpu: machine-controller-manager has yet to take up the change",
		},
		"it has not been looked at": {
			[]*zone{newZone("cpu").with(func(z *zone) { z.have.Generation++ })},
			"pool cpu: machine-controller-manager has yet to take up the change",
		},
		"it is an old one": {
			[]*zone{newZone("cpu").with(func(z *zone) { z.have.Spec.Template.Spec.Class.Name = "old" })},
			"pool cpu: machine-controller-manager has yet to take up the change",
		},
		"there is no set of the right class": {
			[]*zone{newZone("cpu").with(func(z *zone) { z.sets[0].Spec.Template.Spec.Class.Name = "old" })},
			"pool cpu: machine-controller-manager has yet to take up the change",
		},
		"machines join": {[]*zone{joining("cpu")}, "pool cpu: 1 of 3 machines joined"},
		"machines join in two zones": {
			[]*zone{joining("cpu"), newZone("cpu").with(func(z *zone) {
				z.have.Name, z.wanted.object.Name = "one-cpu-z2", "one-cpu-z2"
				z.sets[0].OwnerReferences[0].Name = "one-cpu-z2"
			})},
			"pool cpu: 4 of 6 machines joined",
		},
		"the numbers are those before it was scaled": {
			[]*zone{newZone("cpu").with(func(z *zone) { z.have.Spec.Replicas = 5 })}, "pool cpu: 3 of 5 machines joined",
		},
		"a machine fails, and may come yet": {
			[]*zone{newZone("cpu").lacks(time.Second, "Unavailable", "the cloud has gone [for lunch]")},
			"pool cpu: 2 of 3 machines joined; machine one-cpu-z1-new-3: the cloud has gone [for lunch]",
		},
		"several do": {
			[]*zone{newZone("cpu").lacks(0, "Internal", "x").with(func(z *zone) {
				z.machines[0], z.machines[2] = z.machines[2], z.machines[0]
				z.lacks(0, "Internal", "y")
			})},
			"pool cpu: 1 of 3 machines joined; machine one-cpu-z1-new-1: y; 1 more machine fails",
		},
		"there is no room while another machine is on its way": {
			[]*zone{newZone("cpu").lacks(time.Second, "ResourceExhausted", "quota exceeded for cores"), joining("gpu")},
			"pool cpu: 2 of 3 machines joined; machine one-cpu-z1-new-3: quota exceeded for cores; pool gpu: 1 of 3 machines joined",
		},
		"a user may have mended what is wrong since": {
			[]*zone{newZone("cpu").lacks(-time.Hour, "Unauthenticated", "wrong password")},
			"pool cpu: 2 of 3 machines joined; machine one-cpu-z1-new-3: wrong password",
		},
		"machines are replaced": {[]*zone{newZone("cpu").rolls()}, "pool cpu: 1 of 3 machines replaced"},
		"the old ones leave": {
			[]*zone{newZone("cpu").with(func(z *zone) {
				z.addSet("old", 1)
				z.have.Status.Replicas = 4
			})},
			"pool cpu: 1 old machine is being drained and removed",
		},
		"machines are updated in place": {
			[]*zone{newZone("cpu").updatesInPlace(machinev1alpha1.OrchestrationTypeAuto)}, "pool cpu: 1 of 3 machines updated in place",
		},
		"machines wait for a user to select them": {[]*zone{newZone("cpu").updatesInPlace(machinev1alpha1.OrchestrationTypeManual)}, ""},
		"a user has selected one": {
			[]*zone{newZone("cpu").updatesInPlace(machinev1alpha1.OrchestrationTypeManual).with(func(z *zone) {
				z.machines[0].Status.Conditions[0].Reason = machinev1alpha1.SelectedForUpdate
			})},
			"pool cpu: 1 selected machine is being updated in place",
		},
		"machine-controller-manager holds back": {
			[]*zone{newZone("cpu").with(func(z *zone) {
				z.have.Status.Conditions = append(z.have.Status.Conditions, machinev1alpha1.MachineDeploymentCondition{
					Type: machinev1alpha1.MachineDeploymentFrozen, Status: machinev1alpha1.ConditionTrue, Reason: "Overshoot", Message: "Too many machines.",
				})
			})},
			"pool cpu: Too many machines (Overshoot)",
		},
		"its summary lags behind": {
			[]*zone{newZone("cpu").with(func(z *zone) {
				z.have.Status.FailedMachines = []*machinev1alpha1.MachineSummary{{Name: "gone"}}
			})},
			"pool cpu: 3 of 3 machines joined, machine-controller-manager is catching up",
		},
		"of many pools some are told": {
			[]*zone{newZone("a"), joining("b"), joining("c"), joining("d"), joining("e")},
			"pool b: 1 of 3 machines joined; pool c: 1 of 3 machines joined; and 2 more pools",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			wanted, now := seen(time.Minute, test.zones...)
			reason, err := examine(wanted, now, begun(), false)
			require.NoError(t, err)
			assert.Equal(t, test.want, reason)
		})
	}
}

func TestAPassEndsWhenWaitingDoesNotHelp(t *testing.T) {
	for sentence, test := range map[string]struct {
		after time.Duration
		zones []*zone
		kind  cloud.Kind
		want  string
	}{
		"the credentials are refused": {
			time.Minute, []*zone{newZone("cpu").lacks(0, "Unauthenticated", "wrong password")},
			cloud.Unauthenticated, "machine one-cpu-z1-new-3: wrong password",
		},
		"they lack a role": {
			time.Minute, []*zone{newZone("cpu").lacks(time.Second, "PermissionDenied", "no member of the project")},
			cloud.Unauthorized, "machine one-cpu-z1-new-3: no member of the project",
		},
		"the input is wrong, even though others join": {
			time.Minute, []*zone{newZone("cpu").lacks(time.Second, "InvalidArgument", "there is no flavor x"), newZone("gpu").rolls()},
			cloud.Configuration, "machine one-cpu-z1-new-3: there is no flavor x",
		},
		"there is no room and nothing else happens": {
			time.Minute, []*zone{newZone("cpu").lacks(time.Second, "ResourceExhausted", "quota exceeded for cores"), newZone("gpu")},
			cloud.Depleted, "machine one-cpu-z1-new-3: quota exceeded for cores",
		},
		"what is as old has been tried again by now": {
			4 * time.Minute, []*zone{newZone("cpu").lacks(-time.Hour, "Unauthenticated", "wrong password")},
			cloud.Unauthenticated, "machine one-cpu-z1-new-3: wrong password",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			wanted, now := seen(test.after, test.zones...)
			reason, err := examine(wanted, now, begun(), false)
			assert.Empty(t, reason)
			require.EqualError(t, err, test.want)
			assert.Equal(t, test.kind, cloud.KindOf(err))
		})
	}
}

func TestASleepingShootWaitsForItsMachinesToBeGone(t *testing.T) {
	gone := func(z *zone) { z.sets, z.machines, z.have.Status.Replicas, z.have.Spec.Replicas = nil, nil, 0, 0 }
	stale := func(z *zone) { z.have.Generation++ }
	for sentence, test := range map[string]struct {
		zone *zone
		want string
	}{
		"three are left":                         {newZone("cpu"), "3 machines are still awake"},
		"one is left":                            {newZone("cpu").with(func(z *zone) { z.have.Status.Replicas, z.machines = 1, z.machines[:1] }), "1 machine is still awake"},
		"the numbers say less than the machines": {newZone("cpu").with(func(z *zone) { z.have.Status.Replicas = 0 }), "3 machines are still awake"},
		"none is left":                           {newZone("cpu").with(gone), ""},
		"nobody looks at deployments any more":   {newZone("cpu").with(gone).with(stale), ""},
		"there never was one":                    {newZone("cpu").with(gone).with(func(z *zone) { z.have.Name = "" }), ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			wanted, now := seen(time.Minute, test.zone)
			reason, err := examine(wanted, now, begun(), true)
			require.NoError(t, err)
			assert.Equal(t, test.want, reason)
		})
	}
	wanted, now := seen(time.Minute, newZone("cpu").lacks(0, "Unauthenticated", "wrong password"))
	_, err := examine(wanted, now, begun(), true)
	require.EqualError(t, err, "machine one-cpu-z1-new-3: wrong password")
}
