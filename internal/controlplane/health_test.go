package controlplane

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
)

var healthNow = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// state is a condition of a ManagedResource as gardener-resource-manager sets it.
type state struct {
	kind    gardencorev1beta1.ConditionType
	status  gardencorev1beta1.ConditionStatus
	reason  string
	message string
	since   time.Duration
}

// resourceIn returns a ManagedResource that is well but for the given states.
func resourceIn(name string, states ...state) *resourcesv1alpha1.ManagedResource {
	resource := &resourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--test--one", Name: name, Generation: 3}}
	resource.Spec.SecretRefs = []corev1.LocalObjectReference{{Name: "manifests"}}
	resource.Status.ObservedGeneration = 3
	all := map[gardencorev1beta1.ConditionType]state{
		resourcesv1alpha1.ResourcesApplied:     {status: gardencorev1beta1.ConditionTrue, reason: resourcesv1alpha1.ConditionApplySucceeded},
		resourcesv1alpha1.ResourcesHealthy:     {status: gardencorev1beta1.ConditionTrue, reason: "ResourcesHealthy"},
		resourcesv1alpha1.ResourcesProgressing: {status: gardencorev1beta1.ConditionFalse, reason: "ResourcesRolledOut"},
	}
	for _, s := range states {
		all[s.kind] = s
	}
	for kind, s := range all {
		if s.status == "" {
			continue
		}
		resource.Status.Conditions = append(resource.Status.Conditions, gardencorev1beta1.Condition{
			Type: kind, Status: s.status, Reason: s.reason, Message: s.message,
			LastTransitionTime: metav1.NewTime(healthNow.Add(-s.since)), LastUpdateTime: metav1.NewTime(healthNow),
		})
	}
	return resource
}

func TestAilments(t *testing.T) {
	const (
		isApplied, isHealthy = resourcesv1alpha1.ResourcesApplied, resourcesv1alpha1.ResourcesHealthy
		progresses           = resourcesv1alpha1.ResourcesProgressing
		yes, no              = gardencorev1beta1.ConditionTrue, gardencorev1beta1.ConditionFalse
		progressing, unknown = gardencorev1beta1.ConditionProgressing, gardencorev1beta1.ConditionUnknown
		pending, failed      = resourcesv1alpha1.ConditionDeletionPending, resourcesv1alpha1.ConditionDeletionFailed
	)
	blocked := []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorCleanupClusterResources}
	outdated := resourceIn("r")
	outdated.Generation++
	deleted := resourceIn("r", state{kind: isHealthy, status: no, reason: pending, message: "The resources are currently being deleted."})
	deleted.DeletionTimestamp = new(metav1.NewTime(healthNow))
	for sentence, test := range map[string]struct {
		resource *resourcesv1alpha1.ManagedResource
		want     string
		codes    []gardencorev1beta1.ErrorCode
		within   bool
		// stricter than Gardener's own check of whether it is applied and healthy.
		stricter bool
	}{
		"all is well":            {resource: resourceIn("r")},
		"nothing was said yet":   {resource: resourceIn("r", state{kind: isApplied}, state{kind: isHealthy}), want: `ManagedResource "r" has not been applied yet.`},
		"a new version is there": {resource: outdated, want: `ManagedResource "r" is still being applied.`},
		"it is being deleted":    {resource: deleted, want: `ManagedResource "r" is being deleted.`},
		"it is being applied": {
			resource: resourceIn("r", state{kind: isApplied, status: progressing, reason: resourcesv1alpha1.ConditionApplyProgressing, message: "Under way."}),
			want:     `ManagedResource "r" is still being applied.`,
		},
		"an object is refused": {
			resource: resourceIn("r", state{kind: isApplied, status: no, reason: resourcesv1alpha1.ConditionApplyFailed, message: "Service is invalid.\n"}),
			want:     `ManagedResource "r" could not be applied: Service is invalid.`,
		},
		"a Secret is missing": {
			resource: resourceIn("r", state{kind: isApplied, status: no, reason: "CannotReadSecret", message: "not found"}),
			want:     `ManagedResource "r" could not be applied: not found.`,
		},
		"a deletion has failed": {
			resource: resourceIn("r", state{kind: isApplied, status: no, reason: failed, message: "forbidden"}),
			want:     `Objects of ManagedResource "r" are not deleted yet: forbidden.`, codes: blocked,
		},
		"a deletion takes its time": {
			resource: resourceIn("r", state{kind: isApplied, status: progressing, reason: pending, message: "X still exists", since: time.Minute}),
			want:     `Objects of ManagedResource "r" are not deleted yet: X still exists.`,
		},
		"a deletion is blocked": {
			resource: resourceIn("r", state{kind: isApplied, status: progressing, reason: pending, message: "X still exists", since: 61 * time.Second}),
			want:     `Objects of ManagedResource "r" are not deleted yet: X still exists.`, codes: blocked,
		},
		"its health is to be checked anew": {
			resource: resourceIn("r", state{kind: isHealthy, status: unknown, reason: resourcesv1alpha1.ConditionChecksPending}),
			want:     `The health of ManagedResource "r" has not been checked yet.`,
		},
		"a component is down": {
			resource: resourceIn("r", state{kind: isHealthy, status: no, reason: "DaemonSetUnhealthy", message: "too few pods"}),
			want:     `ManagedResource "r" is not healthy: too few pods.`, within: true,
		},
		"pods are being replaced": {resource: resourceIn("r", state{kind: progresses, status: yes, message: "still at it", since: 59 * time.Minute})},
		"pods are being replaced for ever": {
			resource: resourceIn("r", state{kind: progresses, status: yes, message: "still at it", since: time.Hour}),
			want:     `The rollout of ManagedResource "r" takes more than an hour: still at it.`, within: true, stricter: true,
		},
		"nobody can tell for an hour whether pods are being replaced": {
			resource: resourceIn("r", state{kind: progresses, status: unknown, message: "pending", since: time.Hour}),
			want:     `The rollout of ManagedResource "r" takes more than an hour: pending.`, within: true, stricter: true,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			ailments := ailmentsOf(map[string]*resourcesv1alpha1.ManagedResource{"r": test.resource}, healthNow, "r")
			if !test.stricter {
				assert.Equal(t, health.CheckManagedResource(test.resource) == nil, len(ailments) == 0, "Gardener's own check disagrees")
			}
			if test.want == "" {
				assert.Empty(t, ailments)
				return
			}
			require.Len(t, ailments, 1)
			assert.Equal(t, test.want, ailments[0].sentence())
			assert.Equal(t, test.codes, ailments[0].codes)
			assert.Equal(t, test.within, ailments[0].within)
		})
	}
}

func TestFindings(t *testing.T) {
	const failed, applied = resourcesv1alpha1.ConditionDeletionFailed, resourcesv1alpha1.ResourcesApplied
	found := map[string]*resourcesv1alpha1.ManagedResource{
		"a": resourceIn("a"),
		"b": resourceIn("b", state{kind: applied, status: gardencorev1beta1.ConditionFalse, reason: failed, message: "forbidden"}),
		"c": resourceIn("c", state{kind: applied, status: gardencorev1beta1.ConditionFalse, reason: failed, message: "stuck"}),
	}
	well := findingOf(ailmentsOf(found, healthNow, "a"), []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorInfraQuotaExceeded})
	assert.True(t, well.Healthy)
	assert.Empty(t, well.Codes, "an error of the ControlPlane does not make its components unhealthy")

	sick := findingOf(ailmentsOf(found, healthNow, "a", "b", "c", "d"), []gardencorev1beta1.ErrorCode{
		gardencorev1beta1.ErrorInfraQuotaExceeded, gardencorev1beta1.ErrorCleanupClusterResources,
	})
	assert.False(t, sick.Healthy)
	assert.Equal(t, time.Minute, sick.Grace)
	assert.Equal(t, `Objects of ManagedResource "b" are not deleted yet: forbidden. `+
		`Objects of ManagedResource "c" are not deleted yet: stuck. ManagedResource "d" does not exist.`, sick.Message)
	assert.Equal(t, []gardencorev1beta1.ErrorCode{
		gardencorev1beta1.ErrorCleanupClusterResources, gardencorev1beta1.ErrorInfraQuotaExceeded,
	}, sick.Codes, "each once, in one order")
}

func TestSentencesAreSentences(t *testing.T) {
	for what, want := range map[string]string{
		"x is down":     "X is down.",
		"X is down. \n": "X is down.",
	} {
		assert.Equal(t, want, fmt.Sprint((&ailment{what: what}).sentence()))
	}
}
