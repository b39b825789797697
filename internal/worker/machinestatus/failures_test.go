package machinestatus

import (
	"strings"
	"testing"
	"time"

	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/worker/drivererror"
)

func TestFailuresOf(t *testing.T) {
	for sentence, test := range map[string]struct {
		code, description string
		kind              cloud.Kind
		want              string
	}{
		"creation": {
			"ResourceExhausted", "Cloud provider message - machine codes error: code = [ResourceExhausted] message = [Quota exceeded for cores]",
			cloud.Depleted, "Quota exceeded for cores",
		},
		"message with brackets and line breaks": {
			"Unavailable", "Cloud provider message - machine codes error: code = [Unavailable] message = [calling [nova]:\n  timed out]",
			cloud.Unavailable, "calling [nova]: timed out",
		},
		"deletion without an error code": {
			"", "VM deletion failed due to - machine codes error: code = [Unauthenticated] message = [wrong password]. Aborting operation. Initiate VM deletion",
			cloud.Unauthenticated, "wrong password",
		},
		"initialization": {
			"Internal", "Provider error: machine codes error: code = [Internal] message = [no port]. Initialize VM Instance",
			cloud.Unknown, "no port",
		},
		"machine that vanished during its creation": {
			"NotFound", "machine codes error: code = [NotFound] message = [no server]", cloud.NotFound, "no server",
		},
		"node that did not join": {
			"", "Machine m failed to join the cluster in 20m0s minutes.", cloud.Unknown, "Machine m failed to join the cluster in 20m0s minutes.",
		},
		"error in another format": {"Unknown", "Cloud provider message - broken", cloud.Unknown, "broken"},
		"truncated error": {
			"Aborted", "machine codes error: code = [Aborted] message = [it [goes", cloud.Unavailable, "it [goes",
		},
		"unknown code": {"Code(99)", "odd", cloud.Unknown, "odd"},
		"long message": {
			"InvalidArgument", strings.Repeat("ä", 400), cloud.Configuration, strings.Repeat("ä", 148) + " ...",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			machine := machinev1alpha1.Machine{ObjectMeta: metav1.ObjectMeta{Name: "m"}}
			machine.Status.LastOperation = machinev1alpha1.LastOperation{
				State: machinev1alpha1.MachineStateFailed, ErrorCode: test.code, Description: test.description,
			}
			assert.Equal(t, []failure{{machine: "m", kind: test.kind, message: test.want}}, failuresOf([]machinev1alpha1.Machine{machine}))
			machine.DeletionTimestamp = new(metav1.Now())
			assert.Len(t, failuresOf([]machinev1alpha1.Machine{machine}), 1)
			machine.Status.LastOperation.Type = machinev1alpha1.MachineOperationCreate
			assert.Empty(t, failuresOf([]machinev1alpha1.Machine{machine}), "a failed creation of a machine that is being deleted is ignored")
			machine.DeletionTimestamp = nil
			machine.Status.LastOperation.State = machinev1alpha1.MachineStateProcessing
			assert.Empty(t, failuresOf([]machinev1alpha1.Machine{machine}))
		})
	}
}

func TestKindOf(t *testing.T) {
	kinds := map[codes.Code]cloud.Kind{
		codes.Unauthenticated:   cloud.Unauthenticated,
		codes.PermissionDenied:  cloud.Unauthorized,
		codes.InvalidArgument:   cloud.Configuration,
		codes.OutOfRange:        cloud.Configuration,
		codes.NotFound:          cloud.NotFound,
		codes.ResourceExhausted: cloud.Depleted,
		codes.Unavailable:       cloud.Unavailable,
		codes.DeadlineExceeded:  cloud.Unavailable,
		codes.Aborted:           cloud.Unavailable,
		codes.Canceled:          cloud.Unavailable,
	}
	for code := codes.OK; code <= codes.Uninitialized; code++ {
		got, words := drivererror.Parse("before: "+status.Error(code, "some [odd] words").Error()+". after", maxFailureLength)
		assert.Equal(t, code.String(), got)
		assert.Equal(t, "some [odd] words", words)
		assert.Equal(t, kinds[code], kindOf(got), got)
	}
}

func TestTerminalError_Codes(t *testing.T) {
	now := testStart().Add(time.Minute)
	err := terminalError([]failure{
		{machine: "a", kind: cloud.Unauthenticated, message: "x", at: now},
		{machine: "b", kind: cloud.Depleted, message: "y", at: now},
		{machine: "c", kind: cloud.Unauthenticated, message: "x", at: now},
		{machine: "d", kind: cloud.Unavailable, message: "z", at: now},
	}, testStart(), now, false)
	require.EqualError(t, err, "machine a: x; 1 more machine fails\nmachine b: y")
	assert.Equal(t, []string{"ERR_INFRA_UNAUTHENTICATED", "ERR_INFRA_RESOURCES_DEPLETED"}, texts(contract.Codes(err)))
}

func texts[T ~string](values []T) []string {
	out := make([]string, 0, len(values))
	for _, value := range values {
		out = append(out, string(value))
	}
	return out
}

func TestStuckReason(t *testing.T) {
	for sentence, test := range map[string]struct {
		edit func(*zone)
		want string
	}{
		"set of the class":          {func(*zone) {}, ""},
		"no set":                    {func(z *zone) { z.sets = nil }, "MachineDeployment one-cpu-z1 has no set of machines of class one-cpu-z1-new"},
		"set of another class":      {func(z *zone) { z.sets[0].Spec.Template.Spec.Class.Name = "old" }, "MachineDeployment one-cpu-z1 has no set of machines of class one-cpu-z1-new"},
		"set of another deployment": {func(z *zone) { z.sets[0].OwnerReferences[0].Name = "other" }, "MachineDeployment one-cpu-z1 has no set of machines of class one-cpu-z1-new"},
		"young deployment": {func(z *zone) {
			z.sets, z.have.CreationTimestamp = nil, metav1.NewTime(testStart())
		}, ""},
		"no finalizer": {func(z *zone) { z.sets, z.have.Finalizers = nil, nil }, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			z := newZone("cpu")
			z.have.CreationTimestamp = metav1.NewTime(testStart().Add(-time.Hour))
			z.have.Finalizers = []string{"machine.sapcloud.io/machine-controller-manager"}
			_, now := observedAfter(time.Minute, z.with(test.edit))
			assert.Equal(t, test.want, StuckReason(now))
		})
	}
}

func TestTerminalError_GracePeriod(t *testing.T) {
	old := testStart().Add(-time.Minute)
	for sentence, test := range map[string]struct {
		failure failure
		timeout time.Duration
	}{
		"creation that needs the user": {failure{kind: cloud.Unauthenticated, at: old}, 4 * time.Minute},
		"creation without capacity":    {failure{kind: cloud.Depleted, at: old}, 4 * time.Minute},
		"deletion":                     {failure{kind: cloud.Unauthenticated, at: old, deletion: true}, 9 * time.Minute},
	} {
		t.Run(sentence, func(t *testing.T) {
			failures := []failure{test.failure}
			require.NoError(t, terminalError(failures, testStart(), testStart().Add(test.timeout-time.Second), false))
			require.Error(t, terminalError(failures, testStart(), testStart().Add(test.timeout), false))
		})
	}
}
