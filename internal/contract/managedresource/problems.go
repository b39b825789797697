package managedresource

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract"
)

const (
	// ProblemGrace is how long a problem is Progressing before it is a failure: pods start, leaders change. gardenlet has
	// the same threshold for these conditions.
	ProblemGrace = time.Minute
	// rolloutLimit is how long pods may be replaced while everything is healthy. It is gardenlet's default.
	rolloutLimit = time.Hour
)

// Watches selects the named ManagedResources for a health check: what Read returns of them, with these annotations. A watch of all would include the
// others of each shoot, which take ten times the memory.
func Watches(annotations []string, names ...string) []contract.Watch {
	healthy := goodConditions()
	strip := func(name string) func(client.Object) {
		return func(object client.Object) {
			resource, ok := object.(*resourcesv1alpha1.ManagedResource)
			if !ok {
				return
			}
			if resource.Name == name {
				resource.Name = name // one text for all
			}
			resource.Annotations = selectKeys(resource.Annotations, annotations)
			resource.Labels, resource.OwnerReferences, resource.Finalizers = nil, nil, nil
			resource.Spec = resourcesv1alpha1.ManagedResourceSpec{}
			resource.Status = resourcesv1alpha1.ManagedResourceStatus{
				Conditions: compact(resource.Status.Conditions, healthy), ObservedGeneration: resource.Status.ObservedGeneration,
			}
		}
	}
	var watches []contract.Watch
	for _, name := range names {
		watches = append(watches, contract.Watch{Object: &resourcesv1alpha1.ManagedResource{}, Name: name, Strip: strip(name)})
	}
	return watches
}

// selectKeys returns the entries with some keys, nil if there are none.
func selectKeys(entries map[string]string, keys []string) map[string]string {
	var selected map[string]string
	for _, key := range keys {
		if value, found := entries[key]; found {
			if selected == nil {
				selected = map[string]string{}
			}
			selected[key] = value
		}
	}
	return selected
}

// goodConditions returns the conditions of a ManagedResource without problems.
func goodConditions() []gardencorev1beta1.Condition {
	return []gardencorev1beta1.Condition{
		{Type: resourcesv1alpha1.ResourcesApplied, Status: gardencorev1beta1.ConditionTrue},
		{Type: resourcesv1alpha1.ResourcesHealthy, Status: gardencorev1beta1.ConditionTrue},
		{Type: resourcesv1alpha1.ResourcesProgressing, Status: gardencorev1beta1.ConditionFalse},
	}
}

// compact returns the conditions that problems are found in, without the texts and the time of those that are as they should be. If all are, it is the
// slice good, which is never changed: most ManagedResources have no problem.
func compact(conditions, good []gardencorev1beta1.Condition) []gardencorev1beta1.Condition {
	compacted := make([]gardencorev1beta1.Condition, 0, len(good))
	asGood := 0
	for _, expected := range good {
		switch found := v1beta1helper.GetCondition(conditions, expected.Type); {
		case found == nil:
		case found.Status == expected.Status:
			compacted = append(compacted, expected)
			asGood++
		default:
			compacted = append(compacted, *found)
		}
	}
	if asGood == len(good) {
		return good
	}
	return compacted
}

// Read returns those of the named ManagedResources that exist, by name.
func Read(
	ctx context.Context, reader client.Reader, namespace string, names ...string,
) (map[string]*resourcesv1alpha1.ManagedResource, error) {
	found := map[string]*resourcesv1alpha1.ManagedResource{}
	for _, name := range names {
		resource := &resourcesv1alpha1.ManagedResource{}
		err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, resource)
		switch {
		case err == nil:
			found[name] = resource
		case !apierrors.IsNotFound(err):
			return nil, fmt.Errorf("reading ManagedResource %s: %w", name, err)
		}
	}
	return found, nil
}

// FindingOf combines problems into one finding. codes are added to those of the problems if it is unhealthy.
func FindingOf(problems []Problem, codes []gardencorev1beta1.ErrorCode) contract.Finding {
	if len(problems) == 0 {
		return contract.Finding{Healthy: true}
	}
	finding := contract.Finding{Grace: ProblemGrace}
	var sentences []string
	for _, a := range problems {
		sentences = append(sentences, a.Sentence())
		finding.Codes = append(finding.Codes, a.Codes...)
	}
	finding.Message = strings.Join(sentences, " ")
	finding.Codes = append(finding.Codes, codes...)
	slices.Sort(finding.Codes)
	finding.Codes = slices.Compact(finding.Codes)
	return finding
}

// Problem is a problem of one ManagedResource.
type Problem struct {
	// Resource is nil if the ManagedResource does not exist.
	Resource *resourcesv1alpha1.ManagedResource
	// Description is a clause.
	Description string
	// Codes are Gardener's codes.
	Codes []gardencorev1beta1.ErrorCode
	// Applied is true if everything is applied and the problem is in the state of the objects.
	Applied bool
}

// Sentence is for users.
func (a *Problem) Sentence() string {
	clause := a.Clause()
	return strings.ToUpper(clause[:1]) + clause[1:] + "."
}

// Clause omits the full stop of a message at its end.
func (a *Problem) Clause() string { return strings.TrimRight(strings.TrimSpace(a.Description), ".") }

// FindProblems returns the problems of the named ManagedResources, in their order.
func FindProblems(found map[string]*resourcesv1alpha1.ManagedResource, now time.Time, names ...string) []Problem {
	var problems []Problem
	for _, name := range names {
		resource := found[name]
		if resource == nil {
			problems = append(problems, Problem{Description: fmt.Sprintf("ManagedResource %q does not exist", name)})
			continue
		}
		for _, check := range []func(*resourcesv1alpha1.ManagedResource, time.Time) *Problem{notApplied, notHealthy, notRolledOut} {
			if a := check(resource, now); a != nil {
				a.Resource = resource
				problems = append(problems, *a)
				break
			}
		}
	}
	return problems
}

// notApplied returns the problem that prevents the objects of a ManagedResource from being applied.
func notApplied(resource *resourcesv1alpha1.ManagedResource, now time.Time) *Problem {
	condition := v1beta1helper.GetCondition(resource.Status.Conditions, resourcesv1alpha1.ResourcesApplied)
	switch {
	case condition == nil:
		return &Problem{Description: fmt.Sprintf("ManagedResource %q has not been applied yet", resource.Name)}
	case condition.Status != gardencorev1beta1.ConditionTrue && isAboutDeletion(condition):
		return &Problem{
			Description: fmt.Sprintf("objects of ManagedResource %q are not deleted yet: %s", resource.Name, condition.Message),
			Codes:       deletionCodes(condition, now),
		}
	case !resource.DeletionTimestamp.IsZero():
		return &Problem{Description: fmt.Sprintf("ManagedResource %q is being deleted", resource.Name)}
	case condition.Status == gardencorev1beta1.ConditionFalse:
		return &Problem{Description: fmt.Sprintf("ManagedResource %q could not be applied: %s", resource.Name, condition.Message)}
	case condition.Status != gardencorev1beta1.ConditionTrue || resource.Status.ObservedGeneration != resource.Generation:
		return &Problem{Description: fmt.Sprintf("ManagedResource %q is still being applied", resource.Name)}
	default:
		return nil
	}
}

func isAboutDeletion(condition *gardencorev1beta1.Condition) bool {
	return condition.Reason == resourcesv1alpha1.ConditionDeletionFailed || condition.Reason == resourcesv1alpha1.ConditionDeletionPending
}

// deletionCodes distinguish a blocked deletion from a slow one.
func deletionCodes(condition *gardencorev1beta1.Condition, now time.Time) []gardencorev1beta1.ErrorCode {
	if condition.Reason == resourcesv1alpha1.ConditionDeletionPending && now.Sub(condition.LastTransitionTime.Time) <= ProblemGrace {
		return nil
	}
	return []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorCleanupClusterResources}
}

// notHealthy returns the problem of unhealthy objects of a ManagedResource.
func notHealthy(resource *resourcesv1alpha1.ManagedResource, _ time.Time) *Problem {
	condition := v1beta1helper.GetCondition(resource.Status.Conditions, resourcesv1alpha1.ResourcesHealthy)
	switch {
	case condition == nil || condition.Status == gardencorev1beta1.ConditionUnknown:
		return &Problem{Description: fmt.Sprintf("the health of ManagedResource %q has not been checked yet", resource.Name)}
	case condition.Status != gardencorev1beta1.ConditionTrue:
		return &Problem{Description: fmt.Sprintf("ManagedResource %q is not healthy: %s", resource.Name, condition.Message), Applied: true}
	default:
		return nil
	}
}

// notRolledOut returns the problem of a rollout that takes too long.
func notRolledOut(resource *resourcesv1alpha1.ManagedResource, now time.Time) *Problem {
	condition := v1beta1helper.GetCondition(resource.Status.Conditions, resourcesv1alpha1.ResourcesProgressing)
	if condition == nil || condition.Status == gardencorev1beta1.ConditionFalse || now.Sub(condition.LastTransitionTime.Time) < rolloutLimit {
		return nil
	}
	return &Problem{Description: fmt.Sprintf("the rollout of ManagedResource %q takes more than an hour: %s", resource.Name, condition.Message), Applied: true}
}
