package contracttest

import (
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ManagedResourceTime is the time of the last update of this package's ManagedResources.
func ManagedResourceTime() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// ManagedResourceState is a condition of a ManagedResource as gardener-resource-manager sets it. Without a status, the condition is
// absent.
type ManagedResourceState struct {
	Kind            gardencorev1beta1.ConditionType
	Status          gardencorev1beta1.ConditionStatus
	Reason, Message string
	// Since is the duration since the transition.
	Since time.Duration
}

// ManagedResource returns a ManagedResource that is healthy except for the given states.
func ManagedResource(name string, states ...ManagedResourceState) *resourcesv1alpha1.ManagedResource {
	resource := &resourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--test--one", Name: name, Generation: 3}}
	resource.Spec.SecretRefs = []corev1.LocalObjectReference{{Name: "manifests"}}
	resource.Status.ObservedGeneration = 3
	all := map[gardencorev1beta1.ConditionType]ManagedResourceState{
		resourcesv1alpha1.ResourcesApplied:     {Status: gardencorev1beta1.ConditionTrue, Reason: resourcesv1alpha1.ConditionApplySucceeded},
		resourcesv1alpha1.ResourcesHealthy:     {Status: gardencorev1beta1.ConditionTrue, Reason: "ResourcesHealthy"},
		resourcesv1alpha1.ResourcesProgressing: {Status: gardencorev1beta1.ConditionFalse, Reason: "ResourcesRolledOut"},
	}
	for _, state := range states {
		all[state.Kind] = state
	}
	for kind, state := range all {
		if state.Status == "" {
			continue
		}
		resource.Status.Conditions = append(resource.Status.Conditions, gardencorev1beta1.Condition{
			Type: kind, Status: state.Status, Reason: state.Reason, Message: state.Message,
			LastTransitionTime: metav1.NewTime(ManagedResourceTime().Add(-state.Since)), LastUpdateTime: metav1.NewTime(ManagedResourceTime()),
		})
	}
	return resource
}
