package machinestatus

import (
	"testing"
	"time"

	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/internal/cloud"
)

func TestCheckProgress(t *testing.T) {
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
		"too many machines are not waited for": {[]*zone{newZone("cpu").with(func(z *zone) { z.have.Spec.Replicas = 2 })}, ""},
		"a preserved machine is not waited for": {[]*zone{newZone("cpu").with(func(z *zone) {
			z.withFailure(0, "Internal", "broken")
			z.have.Status.FailedMachines, z.have.Status.PreservedFailedReplicas = nil, 1
			z.have.Status.Conditions[0].Status = machinev1alpha1.ConditionTrue
			z.machines[2].Status.CurrentStatus = machinev1alpha1.CurrentStatus{
				Phase: machinev1alpha1.MachineFailed, PreserveExpiryTime: new(metav1.NewTime(testStart().Add(time.Hour))),
			}
		})}, ""},
		"a set without an owner is found by its label": {[]*zone{newZone("cpu").with(func(z *zone) {
			z.sets[0].OwnerReferences, z.sets[0].Labels = nil, map[string]string{"name": z.have.Name}
		})}, ""},

		"there is no deployment yet": {
			[]*zone{newZone("cpu").with(func(z *zone) { z.have.Name = "" })},
			"pool cpu: machine-controller-manager has not observed the change yet",
		},
		"the deployment is not observed": {
			[]*zone{newZone("cpu").with(func(z *zone) { z.have.Generation++ })},
			"pool cpu: machine-controller-manager has not observed the change yet",
		},
		"the deployment has another class": {
			[]*zone{newZone("cpu").with(func(z *zone) { z.have.Spec.Template.Spec.Class.Name = "old" })},
			"pool cpu: machine-controller-manager has not observed the change yet",
		},
		"there is no set of the class": {
			[]*zone{newZone("cpu").with(func(z *zone) { z.sets[0].Spec.Template.Spec.Class.Name = "old" })},
			"pool cpu: machine-controller-manager has not observed the change yet",
		},
		"machines join": {[]*zone{joining("cpu")}, "pool cpu: 1 of 3 machines joined"},
		"machines join in two zones": {
			[]*zone{joining("cpu"), newZone("cpu").with(func(z *zone) {
				z.have.Name, z.wanted.Name = "one-cpu-z2", "one-cpu-z2"
				z.sets[0].OwnerReferences[0].Name = "one-cpu-z2"
			})},
			"pool cpu: 4 of 6 machines joined",
		},
		"the status is older than the scaling": {
			[]*zone{newZone("cpu").with(func(z *zone) { z.have.Spec.Replicas = 5 })}, "pool cpu: 3 of 5 machines joined",
		},
		"a machine has a transient failure": {
			[]*zone{newZone("cpu").withFailure(time.Second, "Unavailable", "the cloud [nova] is unavailable")},
			"pool cpu: 2 of 3 machines joined; machine one-cpu-z1-new-3: the cloud [nova] is unavailable",
		},
		"several machines fail": {
			[]*zone{newZone("cpu").withFailure(0, "Internal", "x").with(func(z *zone) {
				z.machines[0], z.machines[2] = z.machines[2], z.machines[0]
				z.withFailure(0, "Internal", "y")
			})},
			"pool cpu: 1 of 3 machines joined; machine one-cpu-z1-new-1: y; 1 more machine fails",
		},
		"no capacity while another machine joins": {
			[]*zone{newZone("cpu").withFailure(time.Second, "ResourceExhausted", "quota exceeded for cores"), joining("gpu")},
			"pool cpu: 2 of 3 machines joined; machine one-cpu-z1-new-3: quota exceeded for cores; pool gpu: 1 of 3 machines joined",
		},
		"a failure is older than the reconciliation": {
			[]*zone{newZone("cpu").withFailure(-time.Hour, "Unauthenticated", "wrong password")},
			"pool cpu: 2 of 3 machines joined; machine one-cpu-z1-new-3: wrong password",
		},
		"machines are replaced": {[]*zone{newZone("cpu").withRollingUpdate()}, "pool cpu: 1 of 3 machines replaced"},
		"old machines are removed": {
			[]*zone{newZone("cpu").with(func(z *zone) {
				z.addSet("old", 1)
				z.have.Status.Replicas = 4
			})},
			"pool cpu: 1 old machine is being drained and removed",
		},
		"machines are updated in place": {
			[]*zone{newZone("cpu").withInPlaceUpdate(machinev1alpha1.OrchestrationTypeAuto)}, "pool cpu: 1 of 3 machines updated in place",
		},
		"machines wait for a user to select them": {[]*zone{newZone("cpu").withInPlaceUpdate(machinev1alpha1.OrchestrationTypeManual)}, ""},
		"a user has selected a machine": {
			[]*zone{newZone("cpu").withInPlaceUpdate(machinev1alpha1.OrchestrationTypeManual).with(func(z *zone) {
				z.machines[0].Status.Conditions[0].Reason = machinev1alpha1.SelectedForUpdate
			})},
			"pool cpu: 1 selected machine is being updated in place",
		},
		"the deployment is frozen": {
			[]*zone{newZone("cpu").with(func(z *zone) {
				z.have.Status.Conditions = append(z.have.Status.Conditions, machinev1alpha1.MachineDeploymentCondition{
					Type: machinev1alpha1.MachineDeploymentFrozen, Status: machinev1alpha1.ConditionTrue, Reason: "Overshoot", Message: "Too many machines.",
				})
			})},
			"pool cpu: Too many machines (Overshoot)",
		},
		"the list of failed machines is outdated": {
			[]*zone{newZone("cpu").with(func(z *zone) {
				z.have.Status.FailedMachines = []*machinev1alpha1.MachineSummary{{Name: "gone"}}
			})},
			"pool cpu: 3 of 3 machines joined, machine-controller-manager is catching up",
		},
		"two of many pools are named": {
			[]*zone{newZone("a"), joining("b"), joining("c"), joining("d"), joining("e")},
			"pool b: 1 of 3 machines joined; pool c: 1 of 3 machines joined; and 2 more pools",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			wanted, now := observedAfter(time.Minute, test.zones...)
			reason, err := CheckProgress(wanted, now, testStart(), false)
			require.NoError(t, err)
			assert.Equal(t, test.want, reason)
		})
	}
}

func TestCheckProgress_TerminalError(t *testing.T) {
	for sentence, test := range map[string]struct {
		after time.Duration
		zones []*zone
		kind  cloud.Kind
		want  string
	}{
		"the credentials are refused": {
			time.Minute,
			[]*zone{newZone("cpu").withFailure(0, "Unauthenticated", "wrong password")},
			cloud.Unauthenticated, "machine one-cpu-z1-new-3: wrong password",
		},
		"the credentials lack a role": {
			time.Minute,
			[]*zone{newZone("cpu").withFailure(time.Second, "PermissionDenied", "no member of the project")},
			cloud.Unauthorized, "machine one-cpu-z1-new-3: no member of the project",
		},
		"the input is invalid while other machines join": {
			time.Minute,
			[]*zone{newZone("cpu").withFailure(time.Second, "InvalidArgument", "there is no flavor x"), newZone("gpu").withRollingUpdate()},
			cloud.Configuration, "machine one-cpu-z1-new-3: there is no flavor x",
		},
		"no capacity and no other machine in progress": {
			time.Minute,
			[]*zone{newZone("cpu").withFailure(time.Second, "ResourceExhausted", "quota exceeded for cores"), newZone("gpu")},
			cloud.Depleted, "machine one-cpu-z1-new-3: quota exceeded for cores",
		},
		"an old failure was retried": {
			4 * time.Minute,
			[]*zone{newZone("cpu").withFailure(-time.Hour, "Unauthenticated", "wrong password")},
			cloud.Unauthenticated, "machine one-cpu-z1-new-3: wrong password",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			wanted, now := observedAfter(test.after, test.zones...)
			reason, err := CheckProgress(wanted, now, testStart(), false)
			assert.Empty(t, reason)
			require.EqualError(t, err, test.want)
			assert.Equal(t, test.kind, cloud.KindOf(err))
		})
	}
}

func TestCheckProgress_Hibernated(t *testing.T) {
	gone := func(z *zone) { z.sets, z.machines, z.have.Status.Replicas, z.have.Spec.Replicas = nil, nil, 0, 0 }
	stale := func(z *zone) { z.have.Generation++ }
	for sentence, test := range map[string]struct {
		zone *zone
		want string
	}{
		"three machines are left":                           {newZone("cpu"), "3 machines still exist"},
		"one machine is left":                               {newZone("cpu").with(func(z *zone) { z.have.Status.Replicas, z.machines = 1, z.machines[:1] }), "1 machine still exists"},
		"the status has fewer replicas than machines exist": {newZone("cpu").with(func(z *zone) { z.have.Status.Replicas = 0 }), "3 machines still exist"},
		"restored machines have no owners": {
			newZone("cpu").with(func(z *zone) {
				z.have.Status.Replicas = 0
				for n := range z.machines {
					z.machines[n].OwnerReferences, z.machines[n].Labels = nil, map[string]string{"name": z.have.Name}
				}
			}),
			"3 machines still exist",
		},
		"no machine is left":             {newZone("cpu").with(gone), ""},
		"the deployment is not observed": {newZone("cpu").with(gone).with(stale), ""},
		"there is no deployment":         {newZone("cpu").with(gone).with(func(z *zone) { z.have.Name = "" }), ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			wanted, now := observedAfter(time.Minute, test.zone)
			reason, err := CheckProgress(wanted, now, testStart(), true)
			require.NoError(t, err)
			assert.Equal(t, test.want, reason)
		})
	}
	wanted, now := observedAfter(time.Minute, newZone("cpu").withFailure(0, "Unauthenticated", "wrong password"))
	_, err := CheckProgress(wanted, now, testStart(), true)
	require.EqualError(t, err, "machine one-cpu-z1-new-3: wrong password")
}
