package machinestatus

import (
	"fmt"
	"testing"
	"time"

	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestWithoutNodes(t *testing.T) {
	now := time.Date(2026, time.June, 1, 12, 0, 0, 0, time.UTC)
	ago := func(age time.Duration) metav1.Time { return metav1.NewTime(now.Add(-age)) }
	timeouts := &machinev1alpha1.MachineConfiguration{
		MachineCreationTimeout: &metav1.Duration{Duration: time.Hour}, MachineHealthTimeout: &metav1.Duration{Duration: time.Hour},
		MachineDrainTimeout: &metav1.Duration{Duration: time.Hour},
	}
	// machine is an old machine in a phase, with a node, whose phase has changed a while ago.
	machine := func(phase machinev1alpha1.MachinePhase, since time.Duration, changes ...func(*machinev1alpha1.Machine)) machinev1alpha1.Machine {
		m := machinev1alpha1.Machine{ObjectMeta: metav1.ObjectMeta{
			Name: "m", CreationTimestamp: ago(since), Labels: map[string]string{machinev1alpha1.NodeLabelKey: "node"},
		}}
		m.Status.CurrentStatus = machinev1alpha1.CurrentStatus{Phase: phase, LastUpdateTime: ago(since)}
		for _, change := range changes {
			change(&m)
		}
		return m
	}
	withTimeouts := func(m *machinev1alpha1.Machine) { m.Spec.MachineConfiguration = timeouts }
	withoutNode := func(m *machinev1alpha1.Machine) { m.Labels = nil }
	preserved := func(m *machinev1alpha1.Machine) { m.Status.CurrentStatus.PreserveExpiryTime = new(ago(-time.Hour)) }
	failed := func(m *machinev1alpha1.Machine) {
		m.Status.LastOperation = machinev1alpha1.LastOperation{
			State: machinev1alpha1.MachineStateFailed, ErrorCode: "ResourceExhausted", Type: machinev1alpha1.MachineOperationCreate,
			Description: "Cloud provider message - machine codes error: code = [ResourceExhausted] message = [no host]",
		}
	}
	deleting := func(age time.Duration) func(*machinev1alpha1.Machine) {
		return func(m *machinev1alpha1.Machine) { m.DeletionTimestamp = new(ago(age)) }
	}
	const (
		noNode   = "has not become a node in its creation timeout: see its Machine for the cause"
		unknown  = "has an unhealthy node for longer than its health timeout: see the conditions of the Node"
		deletion = "is not deleted in its drain timeout: a disruption budget or the cloud may block it"
		isFailed = "has failed, and is replaced by machine-controller-manager"
	)
	for sentence, tc := range map[string]struct {
		machine machinev1alpha1.Machine
		problem string
	}{
		"running":                             {machine: machine(machinev1alpha1.MachineRunning, time.Hour)},
		"running without the name of a node":  {machine: machine(machinev1alpha1.MachineRunning, time.Hour, withoutNode), problem: noNode},
		"pending for 20 minutes":              {machine: machine(machinev1alpha1.MachinePending, 20*time.Minute)},
		"pending for longer":                  {machine: machine(machinev1alpha1.MachinePending, 21*time.Minute), problem: noNode},
		"new for longer":                      {machine: machine("", 21*time.Minute, withoutNode), problem: noNode},
		"pending in its own timeout":          {machine: machine(machinev1alpha1.MachinePending, 59*time.Minute, withTimeouts)},
		"pending for longer than its timeout": {machine: machine(machinev1alpha1.MachinePending, 61*time.Minute, withTimeouts), problem: noNode},
		"failing creation":                    {machine: machine(machinev1alpha1.MachineCrashLoopBackOff, 5*time.Minute, failed)},
		"failing creation for longer":         {machine: machine(machinev1alpha1.MachineCrashLoopBackOff, time.Hour, failed), problem: noNode + " (machine m: no host)"},
		"failed":                              {machine: machine(machinev1alpha1.MachineFailed, time.Minute), problem: isFailed},
		"failed in an update in place":        {machine: machine(machinev1alpha1.MachineInPlaceUpdateFailed, time.Minute), problem: isFailed},
		"failed and preserved":                {machine: machine(machinev1alpha1.MachineFailed, time.Hour, preserved)},
		"updated in place":                    {machine: machine(machinev1alpha1.MachineInPlaceUpdating, time.Hour)},
		"unknown for 10 minutes":              {machine: machine(machinev1alpha1.MachineUnknown, 10*time.Minute)},
		"unknown for longer":                  {machine: machine(machinev1alpha1.MachineUnknown, 11*time.Minute), problem: unknown},
		"unknown in its own timeout":          {machine: machine(machinev1alpha1.MachineUnknown, 59*time.Minute, withTimeouts)},
		"unknown for longer than its timeout": {machine: machine(machinev1alpha1.MachineUnknown, 61*time.Minute, withTimeouts), problem: unknown},
		"being deleted":                       {machine: machine(machinev1alpha1.MachineTerminating, 9*time.Hour, deleting(2*time.Hour))},
		"being deleted for long":              {machine: machine(machinev1alpha1.MachineTerminating, 9*time.Hour, deleting(3*time.Hour)), problem: deletion},
		"being deleted in its own timeout":    {machine: machine(machinev1alpha1.MachineTerminating, 9*time.Hour, withTimeouts, deleting(79*time.Minute))},
		"being deleted beyond its timeout":    {machine: machine(machinev1alpha1.MachineTerminating, 9*time.Hour, withTimeouts, deleting(81*time.Minute)), problem: deletion},
		"failed, being deleted":               {machine: machine(machinev1alpha1.MachineFailed, 9*time.Hour, deleting(time.Minute))},
	} {
		t.Run(sentence, func(t *testing.T) {
			var want []string
			if tc.problem != "" {
				want = []string{"machine m " + tc.problem}
			}
			assert.Equal(t, want, WithoutNodes([]machinev1alpha1.Machine{tc.machine}, now))
		})
	}

	t.Run("many machines", func(t *testing.T) {
		machines := []machinev1alpha1.Machine{machine(machinev1alpha1.MachineFailed, time.Minute)}
		for n := 5; n > 0; n-- {
			pending := machine(machinev1alpha1.MachinePending, time.Hour)
			pending.Name = fmt.Sprint("p", n)
			machines = append(machines, pending)
		}
		assert.Equal(t, []string{
			"machines p1, p2, p3 and 2 more have not become nodes in their creation timeout: see their Machines for the cause", "machine m " + isFailed,
		}, WithoutNodes(machines, now))
	})
}
