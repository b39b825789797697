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
		"too many machines are none to wait for": {[]*zone{newZone("cpu").with(func(z *zone) { z.have.Spec.Replicas = 2 })}, ""},
		"what a user wants to look at is not waited for": {[]*zone{newZone("cpu").with(func(z *zone) {
			z.withFailure(0, "Internal", "broken")
			z.have.Status.FailedMachines, z.have.Status.PreservedFailedReplicas = nil, 1
			z.have.Status.Conditions[0].Status = machinev1alpha1.ConditionTrue
			z.machines[2].Status.CurrentStatus = machinev1alpha1.CurrentStatus{
				Phase: machinev1alpha1.MachineFailed, PreserveExpiryTime: new(metav1.NewTime(testStart().Add(time.Hour))),
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
				z.have.Name, z.wanted.Name = "one-cpu-z2", "one-cpu-z2"
				z.sets[0].OwnerReferences[0].Name = "one-cpu-z2"
			})},
			"pool cpu: 4 of 6 machines joined",
		},
		"the numbers are those before it was scaled": {
			[]*zone{newZone("cpu").with(func(z *zone) { z.have.Spec.Replicas = 5 })}, "pool cpu: 3 of 5 machines joined",
		},
		"a machine fails, and may come yet": {
			[]*zone{newZone("cpu").withFailure(time.Second, "Unavailable", "the cloud has gone [for lunch]")},
			"pool cpu: 2 of 3 machines joined; machine one-cpu-z1-new-3: the cloud has gone [for lunch]",
		},
		"several do": {
			[]*zone{newZone("cpu").withFailure(0, "Internal", "x").with(func(z *zone) {
				z.machines[0], z.machines[2] = z.machines[2], z.machines[0]
				z.withFailure(0, "Internal", "y")
			})},
			"pool cpu: 1 of 3 machines joined; machine one-cpu-z1-new-1: y; 1 more machine fails",
		},
		"there is no room while another machine is on its way": {
			[]*zone{newZone("cpu").withFailure(time.Second, "ResourceExhausted", "quota exceeded for cores"), joining("gpu")},
			"pool cpu: 2 of 3 machines joined; machine one-cpu-z1-new-3: quota exceeded for cores; pool gpu: 1 of 3 machines joined",
		},
		"a user may have mended what is wrong since": {
			[]*zone{newZone("cpu").withFailure(-time.Hour, "Unauthenticated", "wrong password")},
			"pool cpu: 2 of 3 machines joined; machine one-cpu-z1-new-3: wrong password",
		},
		"machines are replaced": {[]*zone{newZone("cpu").withRollingUpdate()}, "pool cpu: 1 of 3 machines replaced"},
		"the old ones leave": {
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
		"a user has selected one": {
			[]*zone{newZone("cpu").withInPlaceUpdate(machinev1alpha1.OrchestrationTypeManual).with(func(z *zone) {
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
		"they lack a role": {
			time.Minute,
			[]*zone{newZone("cpu").withFailure(time.Second, "PermissionDenied", "no member of the project")},
			cloud.Unauthorized, "machine one-cpu-z1-new-3: no member of the project",
		},
		"the input is wrong, even though others join": {
			time.Minute,
			[]*zone{newZone("cpu").withFailure(time.Second, "InvalidArgument", "there is no flavor x"), newZone("gpu").withRollingUpdate()},
			cloud.Configuration, "machine one-cpu-z1-new-3: there is no flavor x",
		},
		"there is no room and nothing else happens": {
			time.Minute,
			[]*zone{newZone("cpu").withFailure(time.Second, "ResourceExhausted", "quota exceeded for cores"), newZone("gpu")},
			cloud.Depleted, "machine one-cpu-z1-new-3: quota exceeded for cores",
		},
		"what is as old has been tried again by now": {
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
		"three are left":                         {newZone("cpu"), "3 machines are still awake"},
		"one is left":                            {newZone("cpu").with(func(z *zone) { z.have.Status.Replicas, z.machines = 1, z.machines[:1] }), "1 machine is still awake"},
		"the numbers say less than the machines": {newZone("cpu").with(func(z *zone) { z.have.Status.Replicas = 0 }), "3 machines are still awake"},
		"they have just been moved here": {
			newZone("cpu").with(func(z *zone) {
				z.have.Status.Replicas = 0
				for n := range z.machines {
					z.machines[n].OwnerReferences, z.machines[n].Labels = nil, map[string]string{"name": z.have.Name}
				}
			}),
			"3 machines are still awake",
		},
		"none is left":                         {newZone("cpu").with(gone), ""},
		"nobody looks at deployments any more": {newZone("cpu").with(gone).with(stale), ""},
		"there never was one":                  {newZone("cpu").with(gone).with(func(z *zone) { z.have.Name = "" }), ""},
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
