package contracttest

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// readObjects reads the manifests of a ManagedResource. A missing Secret is an error of the ManagedResource only if it still
// refers to it: otherwise the error is a conflict.
func (m *ResourceManager) readObjects(ctx context.Context, resource *resourcesv1alpha1.ManagedResource) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for _, ref := range resource.Spec.SecretRefs {
		secret := &corev1.Secret{}
		if err := m.client.Get(ctx, client.ObjectKey{Namespace: m.namespace, Name: ref.Name}, secret); err != nil {
			return nil, m.missingSecretError(ctx, resource, ref.Name, err)
		}
		for _, file := range slices.Sorted(maps.Keys(secret.Data)) {
			object, err := decode(secret.Data[file])
			if err != nil {
				return nil, fmt.Errorf("ManagedResource %s: Secret %s: file %s: %w", resource.Name, ref.Name, file, err)
			}
			objects = append(objects, object)
		}
	}
	return objects, nil
}

// decode decodes JSON or YAML.
func decode(manifest []byte) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	if !bytes.HasPrefix(manifest, []byte("{")) {
		converted, err := yaml.ToJSON(manifest)
		if err != nil {
			return nil, err
		}
		manifest = converted
	}
	return object, object.UnmarshalJSON(manifest)
}

func (m *ResourceManager) missingSecretError(ctx context.Context, resource *resourcesv1alpha1.ManagedResource, secret string, cause error) error {
	now := &resourcesv1alpha1.ManagedResource{}
	err := m.client.Get(ctx, client.ObjectKeyFromObject(resource), now)
	if apierrors.IsNotFound(err) || err == nil && (now.Generation != resource.Generation || !now.DeletionTimestamp.IsZero()) {
		return apierrors.NewConflict(resourcesv1alpha1.Resource("managedresources"), resource.Name, cause)
	}
	return fmt.Errorf("ManagedResource %s refers to Secret %s: %w", resource.Name, secret, cause)
}

// reportProgressing reports that objects are being applied, unless the status says so already. The list of objects is written with the final report, so
// that a deletion in between loses it.
func (m *ResourceManager) reportProgressing(ctx context.Context, resource *resourcesv1alpha1.ManagedResource, wanted []*unstructured.Unstructured) error {
	if equality.Semantic.DeepEqual(resource.Status.Resources, sortedReferences(referencesTo(resource, wanted))) {
		return nil
	}
	before := resource.DeepCopy()
	next := gardencorev1beta1.Condition{
		Type: resourcesv1alpha1.ResourcesApplied, Status: gardencorev1beta1.ConditionProgressing,
		Reason: resourcesv1alpha1.ConditionApplyProgressing, Message: "The resources are currently being reconciled.",
	}
	if found := v1beta1helper.GetCondition(resource.Status.Conditions, next.Type); found != nil && found.Reason == resourcesv1alpha1.ConditionApplyFailed {
		next.Reason, next.Message = found.Reason, found.Message
	}
	mergeCondition(resource, next)
	if equality.Semantic.DeepEqual(before.Status, resource.Status) {
		return nil
	}
	return m.client.Status().Update(ctx, resource)
}

func referencesTo(resource *resourcesv1alpha1.ManagedResource, wanted []*unstructured.Unstructured) map[Key]resourcesv1alpha1.ObjectReference {
	references := map[Key]resourcesv1alpha1.ObjectReference{}
	for _, object := range wanted {
		references[keyOf(object)] = referenceTo(object, resource.Spec.InjectLabels)
	}
	return references
}

func sortedReferences(references map[Key]resourcesv1alpha1.ObjectReference) []resourcesv1alpha1.ObjectReference {
	return slices.SortedFunc(maps.Values(references), func(a, b resourcesv1alpha1.ObjectReference) int {
		return strings.Compare(fmt.Sprint(keyOfReference(a)), fmt.Sprint(keyOfReference(b)))
	})
}

func (m *ResourceManager) applyObjects(resource *resourcesv1alpha1.ManagedResource, wanted []*unstructured.Unstructured) {
	tracker := m.trackerFor(resource)
	references := referencesTo(resource, wanted)
	known := map[Key]map[string]string{}
	for _, ref := range resource.Status.Resources {
		key := keyOfReference(ref)
		known[key] = ref.Annotations
		if _, isWanted := references[key]; !isWanted {
			tracker.deleteUnlessKept(key)
		}
	}
	for _, object := range wanted {
		if message := m.message(m.rejected, keyOf(object)); message != "" {
			setCondition(resource, resourcesv1alpha1.ResourcesApplied, false, resourcesv1alpha1.ConditionApplyFailed,
				fmt.Sprintf("Could not apply all new resources: error during apply of object %q: %s", keyOf(object), message))
			return
		}
		tracker.apply(object, known[keyOf(object)])
	}
	resource.Status.Resources = sortedReferences(references)
	resource.Status.ObservedGeneration = resource.Generation
	setCondition(resource, resourcesv1alpha1.ResourcesApplied, true, resourcesv1alpha1.ConditionApplySucceeded, "All resources are applied.")
	setCondition(resource, resourcesv1alpha1.ResourcesHealthy, true, "ResourcesHealthy", "All resources are healthy.")
	m.mutex.Lock()
	defer m.mutex.Unlock()
	setCondition(resource, resourcesv1alpha1.ResourcesProgressing, m.rollingOut && IsOfSeed(resource), "Rollout", "Asked for the pods.")
}

func referenceTo(object *unstructured.Unstructured, labels map[string]string) resourcesv1alpha1.ObjectReference {
	all := maps.Clone(object.GetLabels())
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, labels)
	return resourcesv1alpha1.ObjectReference{
		ObjectReference: corev1.ObjectReference{
			APIVersion: object.GetAPIVersion(), Kind: object.GetKind(), Namespace: object.GetNamespace(), Name: object.GetName(),
		},
		Labels: all, Annotations: object.GetAnnotations(),
	}
}

func setCondition(resource *resourcesv1alpha1.ManagedResource, kind gardencorev1beta1.ConditionType, is bool, reason, message string) {
	status := gardencorev1beta1.ConditionFalse
	if is {
		status = gardencorev1beta1.ConditionTrue
	}
	mergeCondition(resource, gardencorev1beta1.Condition{Type: kind, Status: status, Reason: reason, Message: message})
}

// mergeCondition does not change an equal condition.
func mergeCondition(resource *resourcesv1alpha1.ManagedResource, next gardencorev1beta1.Condition) {
	now := metav1.Now()
	next.LastTransitionTime, next.LastUpdateTime = now, now
	if found := v1beta1helper.GetCondition(resource.Status.Conditions, next.Type); found != nil {
		if found.Status == next.Status && found.Reason == next.Reason && found.Message == next.Message {
			return
		}
	}
	resource.Status.Conditions = v1beta1helper.MergeConditions(resource.Status.Conditions, next)
}

// reportDeletionPending reports why deleted objects still exist.
func (m *ResourceManager) reportDeletionPending(ctx context.Context, resource *resourcesv1alpha1.ManagedResource, message string) error {
	before := resource.DeepCopy()
	mergeCondition(resource, gardencorev1beta1.Condition{
		Type: resourcesv1alpha1.ResourcesApplied, Status: gardencorev1beta1.ConditionProgressing,
		Reason: resourcesv1alpha1.ConditionDeletionPending, Message: message,
	})
	if equality.Semantic.DeepEqual(before.Status, resource.Status) {
		return nil
	}
	return m.client.Status().Update(ctx, resource)
}

// checkDeletionOrder reports an object that is deleted before its dependents.
func (m *ResourceManager) checkDeletionOrder(ctx context.Context, resource *resourcesv1alpha1.ManagedResource) error {
	if m.GoneBefore == nil || len(m.GoneBefore(resource.Name)) == 0 {
		return nil
	}
	first := m.GoneBefore(resource.Name)
	list := &resourcesv1alpha1.ManagedResourceList{}
	if err := m.client.List(ctx, list, client.InNamespace(m.namespace)); err != nil {
		return err
	}
	for _, other := range list.Items {
		if slices.Contains(first, other.Name) {
			m.addViolationf("the objects of %s are deleted while those of %s are there", resource.Name, other.Name)
		}
	}
	return nil
}
