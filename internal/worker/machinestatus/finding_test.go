package machinestatus

import (
	"strings"
	"testing"
	"time"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/truncate"
)

// withFailureSummary adds the failed machine to the deployment's status.
func (z *zone) withFailureSummary() *zone {
	for _, summary := range z.have.Status.FailedMachines {
		summary.LastOperation = z.machines[len(z.machines)-1].Status.LastOperation
	}
	z.have.Labels = map[string]string{"worker.gardener.cloud/pool": z.wanted.Pool}
	return z
}

func TestFindingOf(t *testing.T) {
	const healthy = "All machines are healthy nodes."
	unavailable := func(z *zone) {
		z.have.Status.AvailableReplicas, z.have.Status.UnavailableReplicas = 1, 2
		z.have.Status.Conditions[0].Status = machinev1alpha1.ConditionFalse
	}
	for sentence, test := range map[string]struct {
		zones   []*zone
		missing string
		want    contract.Finding
		codes   []string
	}{
		"all machines are healthy": {zones: []*zone{newZone("cpu"), newZone("gpu")}, want: contract.Finding{Healthy: true, Message: healthy}},
		"machines are replaced":    {zones: []*zone{newZone("cpu").withRollingUpdate()}, want: contract.Finding{Healthy: true, Message: healthy}},
		"there are no pools":       {want: contract.Finding{Healthy: true, Message: "No machines are wanted, and none exist."}},
		"a deployment is missing":  {missing: "one-cpu-z1", want: contract.Finding{Message: "MachineDeployment one-cpu-z1 does not exist."}},
		"the shoot is hibernated and machine-controller-manager is stopped": {
			zones: []*zone{newZone("cpu").with(func(z *zone) { z.have.Generation++; z.have.Spec.Replicas, z.have.Status.Replicas = 0, 0 })},
			want:  contract.Finding{Healthy: true, Message: "No machines are wanted, and none exist."},
		},
		"the shoot is being hibernated": {
			zones: []*zone{newZone("cpu").with(func(z *zone) { z.have.Spec.Replicas = 0 })}, want: contract.Finding{Healthy: true, Message: healthy},
		},
		"a pool is being deleted": {
			zones: []*zone{newZone("cpu").with(unavailable).with(func(z *zone) { z.have.DeletionTimestamp = new(metav1.Now()) })},
			want:  contract.Finding{Healthy: true, Message: healthy},
		},
		"machines join": {
			zones: []*zone{newZone("cpu").with(unavailable).withFailureSummary()},
			want:  contract.Finding{Message: "pool cpu: some machines are not ready nodes.", Grace: 5 * time.Minute},
		},
		"a node is not ready and machine-controller-manager reports no problem": {
			zones: []*zone{newZone("cpu").withFailureSummary().with(func(z *zone) { z.have.Status.AvailableReplicas-- })},
			want:  contract.Finding{Message: "pool cpu: some machines are not ready nodes.", Grace: 5 * time.Minute},
		},
		"machines are replaced and fewer are available": {
			zones: []*zone{newZone("cpu").withRollingUpdate().with(func(z *zone) { z.have.Status.AvailableReplicas-- })},
			want:  contract.Finding{Healthy: true, Message: healthy},
		},
		"a change is not observed": {
			zones: []*zone{newZone("cpu").with(func(z *zone) { z.have.Generation++ })},
			want:  contract.Finding{Message: "pool one-cpu-z1: machine-controller-manager has not observed the last change yet.", Grace: 5 * time.Minute},
		},
		"the deployment does not progress": {
			zones: []*zone{newZone("cpu").withFailureSummary().with(func(z *zone) {
				z.have.Status.Conditions[1].Status = machinev1alpha1.ConditionFalse
				z.have.Status.Conditions[1].Reason, z.have.Status.Conditions[1].Message = "Deadline", "It takes too long."
			})},
			want: contract.Finding{Message: "pool cpu: It takes too long (Deadline).", Grace: 5 * time.Minute},
		},
		"a machine has a transient failure": {
			zones: []*zone{newZone("cpu").withFailure(0, "ResourceExhausted", "quota exceeded for cores").withFailureSummary(), newZone("gpu").with(unavailable)},
			want: contract.Finding{
				Message: "pool cpu: machine one-cpu-z1-new-3: quota exceeded for cores; " +
					"pool one-gpu-z1: some machines are not ready nodes.",
				Grace: 5 * time.Minute,
			},
			codes: []string{"ERR_INFRA_RESOURCES_DEPLETED"},
		},
		"a machine has a failure that needs the user": {
			zones: []*zone{newZone("cpu").withFailure(0, "Unauthenticated", "wrong password").withFailureSummary()},
			want:  contract.Finding{Message: "pool cpu: machine one-cpu-z1-new-3: wrong password."},
			codes: []string{"ERR_INFRA_UNAUTHENTICATED"},
		},
		"many problems": {
			zones: []*zone{newZone("a").with(unavailable).withFailureSummary(), newZone("b").with(unavailable).withFailureSummary(), newZone("c").with(unavailable), newZone("d").with(unavailable)},
			want: contract.Finding{
				Message: "pool a: some machines are not ready nodes; pool b: some machines are not ready nodes; and 2 more.",
				Grace:   5 * time.Minute,
			},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, now := observedAfter(time.Minute, test.zones...)
			var recorded []extensionsv1alpha1.MachineDeployment
			if test.missing != "" {
				recorded = append(recorded, extensionsv1alpha1.MachineDeployment{Name: test.missing})
			}
			for _, deployment := range now.Deployments {
				recorded = append(recorded, extensionsv1alpha1.MachineDeployment{Name: deployment.Name})
			}
			got := FindingOf(recorded, now.Deployments)
			for i := range now.Deployments {
				Strip(&now.Deployments[i])
			}
			assert.Equal(t, got, FindingOf(recorded, now.Deployments), "what is watched is enough")
			assert.ElementsMatch(t, test.codes, texts(got.Codes))
			got.Codes = nil
			assert.Equal(t, test.want, got)
		})
	}
}

func TestProblemOf_SanitizedMessage(t *testing.T) {
	z := newZone("cpu")
	z.have.Status.Conditions[0].Status = machinev1alpha1.ConditionFalse
	z.have.Status.Conditions[0].Message = "\x1b[31m" + strings.Repeat("no room ", 600_000)
	got := problemOf(&z.have).message
	assert.Less(t, len(got), truncate.MaxExternal+100)
	assert.Contains(t, got, "[31mno room")
	assert.NotContains(t, got, "\x1b")
}
