package inspect

import (
	"cmp"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
)

// prefixOfManagedResources begins the names of the ManagedResources of a kind, of Trellis and of other extensions. It is empty for a kind without any.
func prefixOfManagedResources(kind string) string {
	var word string
	switch kind {
	case extensionsv1alpha1.ControlPlaneResource:
		word = "controlplane"
	case extensionsv1alpha1.NetworkResource:
		word = "networking"
	case extensionsv1alpha1.WorkerResource:
		word = "worker"
	default:
		return ""
	}
	return "extension-" + word + "-"
}

// managedResourcesOf selects the ManagedResources of a kind. It returns nil for a kind without any.
func managedResourcesOf(kind string, all []resourcesv1alpha1.ManagedResource) *ManagedResources {
	prefix := prefixOfManagedResources(kind)
	if prefix == "" {
		return nil
	}
	selected := &ManagedResources{}
	for i := range all {
		if !strings.HasPrefix(all[i].Name, prefix) {
			continue
		}
		selected.Total++
		if problem := problemOf(&all[i]); problem != nil {
			problem.Name = all[i].Name
			selected.Problems = append(selected.Problems, *problem)
		}
	}
	if selected.Total == 0 {
		return nil
	}
	slices.SortFunc(selected.Problems, func(a, b ManagedResourceProblem) int {
		return cmp.Or(cmp.Compare(rank(a.State), rank(b.State)), cmp.Compare(a.Name, b.Name))
	})
	return selected
}

// problemOf returns what is wrong with a ManagedResource, without its name, or nil.
func problemOf(resource *resourcesv1alpha1.ManagedResource) *ManagedResourceProblem {
	applied := conditionOf(resource, resourcesv1alpha1.ResourcesApplied)
	healthy := conditionOf(resource, resourcesv1alpha1.ResourcesHealthy)
	progressing := conditionOf(resource, resourcesv1alpha1.ResourcesProgressing)
	switch {
	case applied.Status == gardencorev1beta1.ConditionFalse:
		return problem(StateUnhealthy, "is not applied", applied)
	case !resource.DeletionTimestamp.IsZero():
		return problem(StateProgressing, "is being deleted", applied)
	case applied.Status != gardencorev1beta1.ConditionTrue || resource.Status.ObservedGeneration != resource.Generation:
		return problem(StateProgressing, "is not applied yet", applied)
	case healthy.Status == gardencorev1beta1.ConditionFalse:
		return problem(StateUnhealthy, "is not healthy", healthy)
	case healthy.Status != gardencorev1beta1.ConditionTrue:
		return problem(StateProgressing, "is not known to be healthy yet", healthy)
	case progressing.Status == gardencorev1beta1.ConditionTrue:
		return problem(StateProgressing, "is rolled out", progressing)
	default:
		return nil
	}
}

func problem(state State, clause string, condition gardencorev1beta1.Condition) *ManagedResourceProblem {
	return &ManagedResourceProblem{State: state, Problem: clause, Message: text(condition.Message), Since: timeOf(&condition.LastTransitionTime)}
}

// conditionOf returns the zero condition if there is none.
func conditionOf(resource *resourcesv1alpha1.ManagedResource, conditionType gardencorev1beta1.ConditionType) gardencorev1beta1.Condition {
	for _, condition := range resource.Status.Conditions {
		if condition.Type == conditionType {
			return condition
		}
	}
	return gardencorev1beta1.Condition{}
}
