package managedresource

import (
	"fmt"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/gardener/gardener/pkg/utils/kubernetes/health"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
)

var healthNow = contracttest.ManagedResourceTime()

func TestFindProblems(t *testing.T) {
	const (
		isApplied, isHealthy = resourcesv1alpha1.ResourcesApplied, resourcesv1alpha1.ResourcesHealthy
		progresses           = resourcesv1alpha1.ResourcesProgressing
		yes, no              = gardencorev1beta1.ConditionTrue, gardencorev1beta1.ConditionFalse
		progressing, unknown = gardencorev1beta1.ConditionProgressing, gardencorev1beta1.ConditionUnknown
		pending, failed      = resourcesv1alpha1.ConditionDeletionPending, resourcesv1alpha1.ConditionDeletionFailed
	)
	blocked := []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorCleanupClusterResources}
	outdated := contracttest.ManagedResource("r")
	outdated.Generation++
	deleted := contracttest.ManagedResource("r", contracttest.ManagedResourceState{Kind: isHealthy, Status: no, Reason: pending, Message: "The resources are currently being deleted."})
	deleted.DeletionTimestamp = new(metav1.NewTime(healthNow))
	for sentence, test := range map[string]struct {
		resource *resourcesv1alpha1.ManagedResource
		want     string
		codes    []gardencorev1beta1.ErrorCode
		within   bool
		// stricter than Gardener's own check of applied and healthy objects.
		stricter bool
	}{
		"all is well":            {resource: contracttest.ManagedResource("r")},
		"nothing was said yet":   {resource: contracttest.ManagedResource("r", contracttest.ManagedResourceState{Kind: isApplied}, contracttest.ManagedResourceState{Kind: isHealthy}), want: `ManagedResource "r" has not been applied yet.`},
		"a new version is there": {resource: outdated, want: `ManagedResource "r" is still being applied.`},
		"it is being deleted":    {resource: deleted, want: `ManagedResource "r" is being deleted.`},
		"it is being applied": {
			resource: contracttest.ManagedResource("r", contracttest.ManagedResourceState{Kind: isApplied, Status: progressing, Reason: resourcesv1alpha1.ConditionApplyProgressing, Message: "Under way."}),
			want:     `ManagedResource "r" is still being applied.`,
		},
		"an object is refused": {
			resource: contracttest.ManagedResource("r", contracttest.ManagedResourceState{Kind: isApplied, Status: no, Reason: resourcesv1alpha1.ConditionApplyFailed, Message: "Service is invalid.\n"}),
			want:     `ManagedResource "r" could not be applied: Service is invalid.`,
		},
		"a Secret is missing": {
			resource: contracttest.ManagedResource("r", contracttest.ManagedResourceState{Kind: isApplied, Status: no, Reason: "CannotReadSecret", Message: "not found"}),
			want:     `ManagedResource "r" could not be applied: not found.`,
		},
		"a deletion has failed": {
			resource: contracttest.ManagedResource("r", contracttest.ManagedResourceState{Kind: isApplied, Status: no, Reason: failed, Message: "forbidden"}),
			want:     `Objects of ManagedResource "r" are not deleted yet: forbidden.`, codes: blocked,
		},
		"a deletion takes its time": {
			resource: contracttest.ManagedResource("r", contracttest.ManagedResourceState{Kind: isApplied, Status: progressing, Reason: pending, Message: "X still exists", Since: time.Minute}),
			want:     `Objects of ManagedResource "r" are not deleted yet: X still exists.`,
		},
		"a deletion is blocked": {
			resource: contracttest.ManagedResource("r", contracttest.ManagedResourceState{Kind: isApplied, Status: progressing, Reason: pending, Message: "X still exists", Since: 61 * time.Second}),
			want:     `Objects of ManagedResource "r" are not deleted yet: X still exists.`, codes: blocked,
		},
		"its health is to be checked anew": {
			resource: contracttest.ManagedResource("r", contracttest.ManagedResourceState{Kind: isHealthy, Status: unknown, Reason: resourcesv1alpha1.ConditionChecksPending}),
			want:     `The health of ManagedResource "r" has not been checked yet.`,
		},
		"a component is down": {
			resource: contracttest.ManagedResource("r", contracttest.ManagedResourceState{Kind: isHealthy, Status: no, Reason: "DaemonSetUnhealthy", Message: "too few pods"}),
			want:     `ManagedResource "r" is not healthy: too few pods.`, within: true,
		},
		"pods are being replaced": {resource: contracttest.ManagedResource("r", contracttest.ManagedResourceState{Kind: progresses, Status: yes, Message: "still at it", Since: 59 * time.Minute})},
		"pods are being replaced for ever": {
			resource: contracttest.ManagedResource("r", contracttest.ManagedResourceState{Kind: progresses, Status: yes, Message: "still at it", Since: time.Hour}),
			want:     `The rollout of ManagedResource "r" takes more than an hour: still at it.`, within: true, stricter: true,
		},
		"nobody can tell for an hour whether pods are being replaced": {
			resource: contracttest.ManagedResource("r", contracttest.ManagedResourceState{Kind: progresses, Status: unknown, Message: "pending", Since: time.Hour}),
			want:     `The rollout of ManagedResource "r" takes more than an hour: pending.`, within: true, stricter: true,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			problems := FindProblems(map[string]*resourcesv1alpha1.ManagedResource{"r": test.resource}, healthNow, "r")
			watched := test.resource.DeepCopy()
			Watches(nil, "r")[0].Strip(watched)
			inMemory := FindProblems(map[string]*resourcesv1alpha1.ManagedResource{"r": watched}, healthNow, "r")
			require.Len(t, inMemory, len(problems), "what is watched is enough")
			for i := range problems {
				assert.Equal(t, problems[i].Sentence(), inMemory[i].Sentence())
			}
			if !test.stricter {
				assert.Equal(t, health.CheckManagedResource(test.resource) == nil, len(problems) == 0, "Gardener's own check disagrees")
			}
			if test.want == "" {
				assert.Empty(t, problems)
				return
			}
			require.Len(t, problems, 1)
			assert.Equal(t, test.want, problems[0].Sentence())
			assert.Equal(t, test.codes, problems[0].Codes)
			assert.Equal(t, test.within, problems[0].Applied)
		})
	}
}

func TestWatches(t *testing.T) {
	watches := Watches([]string{"kept"}, "one", "two")
	require.Len(t, watches, 2)
	assert.Equal(t, []string{"one", "two"}, []string{watches[0].Name, watches[1].Name})
	resource := contracttest.ManagedResource("one")
	resource.Annotations, resource.Labels = map[string]string{"kept": "a", "other": "b"}, map[string]string{"c": "d"}
	resource.Spec.SecretRefs = []corev1.LocalObjectReference{{Name: "content"}}
	resource.Status.Resources = []resourcesv1alpha1.ObjectReference{{}}
	want := &resourcesv1alpha1.ManagedResource{ObjectMeta: *resource.ObjectMeta.DeepCopy()}
	want.Annotations, want.Labels = map[string]string{"kept": "a"}, nil
	want.Status.ObservedGeneration = resource.Status.ObservedGeneration
	want.Status.Conditions = []gardencorev1beta1.Condition{
		{Type: resourcesv1alpha1.ResourcesApplied, Status: gardencorev1beta1.ConditionTrue},
		{Type: resourcesv1alpha1.ResourcesHealthy, Status: gardencorev1beta1.ConditionTrue},
		{Type: resourcesv1alpha1.ResourcesProgressing, Status: gardencorev1beta1.ConditionFalse},
	}

	watches[1].Strip(resource)
	assert.Equal(t, want, resource)
}

func TestFindingOf(t *testing.T) {
	const failed, applied = resourcesv1alpha1.ConditionDeletionFailed, resourcesv1alpha1.ResourcesApplied
	found := map[string]*resourcesv1alpha1.ManagedResource{
		"a": contracttest.ManagedResource("a"),
		"b": contracttest.ManagedResource("b", contracttest.ManagedResourceState{Kind: applied, Status: gardencorev1beta1.ConditionFalse, Reason: failed, Message: "forbidden"}),
		"c": contracttest.ManagedResource("c", contracttest.ManagedResourceState{Kind: applied, Status: gardencorev1beta1.ConditionFalse, Reason: failed, Message: "stuck"}),
	}
	healthy := FindingOf(FindProblems(found, healthNow, "a"), []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorInfraQuotaExceeded})
	assert.True(t, healthy.Healthy)
	assert.Empty(t, healthy.Codes, "an error of the ControlPlane does not make its components unhealthy")

	unhealthy := FindingOf(FindProblems(found, healthNow, "a", "b", "c", "d"), []gardencorev1beta1.ErrorCode{
		gardencorev1beta1.ErrorInfraQuotaExceeded, gardencorev1beta1.ErrorCleanupClusterResources,
	})
	assert.False(t, unhealthy.Healthy)
	assert.Equal(t, time.Minute, unhealthy.Grace)
	assert.Equal(t, `Objects of ManagedResource "b" are not deleted yet: forbidden. `+
		`Objects of ManagedResource "c" are not deleted yet: stuck. ManagedResource "d" does not exist.`, unhealthy.Message)
	assert.Equal(t, []gardencorev1beta1.ErrorCode{
		gardencorev1beta1.ErrorCleanupClusterResources, gardencorev1beta1.ErrorInfraQuotaExceeded,
	}, unhealthy.Codes, "each once, in one order")
}

func TestProblem_Sentence(t *testing.T) {
	for description, want := range map[string]string{
		"x is down":     "X is down.",
		"X is down. \n": "X is down.",
	} {
		assert.Equal(t, want, fmt.Sprint((&Problem{Description: description}).Sentence()))
	}
}
