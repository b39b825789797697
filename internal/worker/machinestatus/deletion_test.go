package machinestatus

import (
	"testing"
	"time"

	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/internal/cloud"
)

func TestDeletionReason(t *testing.T) {
	now := time.Now()
	machine := func(name, code, what string) machinev1alpha1.Machine {
		m := machinev1alpha1.Machine{ObjectMeta: metav1.ObjectMeta{Name: name}}
		m.Status.LastOperation = machinev1alpha1.LastOperation{Description: what, LastUpdateTime: metav1.NewTime(now)}
		if code != "" {
			m.Status.LastOperation.State, m.Status.LastOperation.ErrorCode = machinev1alpha1.MachineStateFailed, code
		}
		return m
	}
	for sentence, test := range map[string]struct {
		rest   Observed
		reason string
		kind   cloud.Kind
	}{
		"no objects": {},
		"machines without a description": {
			rest: Observed{Machines: []machinev1alpha1.Machine{machine("a", "", ""), machine("b", "", "")}}, reason: "2 machines are being deleted",
		},
		"machine that is being drained": {
			rest: Observed{Machines: []machinev1alpha1.Machine{machine("a", "", "Drain in progress")}}, reason: "1 machine is being deleted; machine a: Drain in progress",
		},
		"transient failure": {
			rest:   Observed{Machines: []machinev1alpha1.Machine{machine("a", "Unavailable", "the cloud is unavailable")}},
			reason: "1 machine is being deleted; machine a: the cloud is unavailable",
		},
		"failure that needs the user": {
			rest: Observed{Machines: []machinev1alpha1.Machine{machine("a", "PermissionDenied", "access denied")}}, kind: cloud.Unauthorized,
		},
		"sets without machines": {
			rest: Observed{Sets: make([]machinev1alpha1.MachineSet, 1)}, reason: "machine-controller-manager has not released the machine sets and deployments yet",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			test.rest.At = now
			reason, err := DeletionReason(test.rest, now)
			assert.Equal(t, test.reason, reason)
			assert.Equal(t, test.kind, cloud.KindOf(err))
		})
	}
}
