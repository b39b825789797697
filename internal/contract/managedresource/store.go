package managedresource

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/gardener/gardener/pkg/resourcemanager/controller/garbagecollector/references"
	kubernetesutils "github.com/gardener/gardener/pkg/utils/kubernetes"
	"github.com/gardener/gardener/pkg/utils/kubernetes/health"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract"
)

// Resource is the content of a ManagedResource: objects that gardener-resource-manager applies in the seed or in the shoot.
type Resource struct {
	// Name is the ManagedResource's.
	Name string
	// Seed is true for the seed, false for the shoot.
	Seed bool
	// Objects are what is applied. The client's scheme must know their types, unless they have a TypeMeta.
	Objects []client.Object
	// Annotations are the ManagedResource's. One with an empty value is removed.
	Annotations map[string]string
}

// Store reads and writes the ManagedResources of one extension object, and writes only what differs.
type Store struct {
	// Client reads from the API server, never from a cache.
	Client client.Client
	// Namespace is the shoot's in the seed.
	Namespace string
	// Labels are those of the Secrets that hold the objects.
	Labels map[string]string
}

// Apply writes the ManagedResource and its Secret. It does not wait for gardener-resource-manager.
func (s Store) Apply(ctx context.Context, wanted Resource) error {
	secretName, err := s.createSecret(ctx, wanted)
	if err != nil {
		return err
	}
	superseded, err := s.setSecretRef(ctx, wanted, secretName)
	if err != nil {
		return err
	}
	return s.deleteSecrets(ctx, superseded)
}

// Replace is Apply for whoever is not in charge of the ManagedResource: it changes one version of it, and fails with a conflict if there is another one by
// now, and if there is none.
func (s Store) Replace(ctx context.Context, before *resourcesv1alpha1.ManagedResource, wanted Resource) error {
	secretName, err := s.createSecret(ctx, wanted)
	if err != nil {
		return err
	}
	superseded, err := s.change(ctx, before, wanted, secretName)
	if err != nil {
		return err
	}
	return s.deleteSecrets(ctx, superseded)
}

// createSecret writes the objects into a Secret, and returns its name, which depends on them.
func (s Store) createSecret(ctx context.Context, wanted Resource) (string, error) {
	data, err := manifests(wanted.Objects, s.Client.Scheme())
	if err != nil {
		return "", fmt.Errorf("writing the manifests of %s: %w", wanted.Name, err)
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.Namespace, Name: "managedresource-" + wanted.Name, Labels: maps.Clone(s.Labels),
		},
		Data: data, Type: corev1.SecretTypeOpaque,
	}
	if err := kubernetesutils.MakeUnique(secret); err != nil {
		return "", fmt.Errorf("naming the manifests of %s: %w", wanted.Name, err)
	}
	return secret.Name, CreateIfNotExists(ctx, s.Client, secret)
}

// setSecretRef makes the ManagedResource refer to the Secret, and returns the names of those that it referred to before.
// gardener-resource-manager may write the object at the same time.
func (s Store) setSecretRef(ctx context.Context, wanted Resource, secretName string) (superseded []string, err error) {
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		superseded, err = s.write(ctx, wanted, secretName)
		return err
	})
	return superseded, err
}

func (s Store) write(ctx context.Context, wanted Resource, secretName string) (superseded []string, err error) {
	before, err := s.Get(ctx, wanted.Name)
	if err != nil {
		return nil, err
	}
	if before == nil {
		resource := &resourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: wanted.Name}}
		wanted.applyTo(resource, secretName)
		if err := s.Client.Create(ctx, resource); err != nil {
			return nil, fmt.Errorf("creating ManagedResource %s: %w", wanted.Name, err)
		}
		return nil, nil
	}
	if !before.DeletionTimestamp.IsZero() {
		return nil, fmt.Errorf("ManagedResource %s is still being deleted", wanted.Name)
	}
	return s.change(ctx, before, wanted, secretName)
}

// change changes one version of a ManagedResource.
func (s Store) change(
	ctx context.Context, before *resourcesv1alpha1.ManagedResource, wanted Resource, secretName string,
) (superseded []string, err error) {
	resource := before.DeepCopy()
	wanted.applyTo(resource, secretName)
	if equality.Semantic.DeepEqual(before, resource) {
		return nil, nil
	}
	err = s.Client.Patch(ctx, resource, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	if err != nil {
		return nil, fmt.Errorf("changing ManagedResource %s: %w", wanted.Name, err)
	}
	for _, ref := range before.Spec.SecretRefs {
		if ref.Name != secretName {
			superseded = append(superseded, ref.Name)
		}
	}
	return superseded, nil
}

// Get returns a ManagedResource, nil if there is none.
func (s Store) Get(ctx context.Context, name string) (*resourcesv1alpha1.ManagedResource, error) {
	resource := &resourcesv1alpha1.ManagedResource{}
	err := s.Client.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: name}, resource)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading ManagedResource %s: %w", name, err)
	}
	return resource, nil
}

// applyTo changes the ManagedResource as required, and keeps other labels and annotations.
func (r Resource) applyTo(resource *resourcesv1alpha1.ManagedResource, secretName string) {
	resource.Spec = resourcesv1alpha1.ManagedResourceSpec{
		SecretRefs:  []corev1.LocalObjectReference{{Name: secretName}},
		KeepObjects: new(false),
	}
	if r.Seed {
		resource.Spec.Class = new(v1beta1constants.SeedResourceManagerClass)
	} else {
		resource.Spec.InjectLabels = map[string]string{v1beta1constants.ShootNoCleanup: "true"}
	}
	// The collector of unused Secrets reads from annotations which Secrets are in use.
	maps.DeleteFunc(resource.Annotations, func(key, _ string) bool {
		return strings.HasPrefix(key, references.AnnotationKeyPrefix)
	})
	if resource.Annotations == nil {
		resource.Annotations = map[string]string{}
	}
	for key, value := range r.Annotations {
		if value == "" {
			delete(resource.Annotations, key)
		} else {
			resource.Annotations[key] = value
		}
	}
	resource.Annotations[references.AnnotationKey(references.KindSecret, secretName)] = secretName
}

// WaitApplied waits until gardener-resource-manager has applied the present content.
func (s Store) WaitApplied(ctx context.Context, name string) error {
	return contract.WaitUntil(ctx, func(ctx context.Context) (string, error) {
		resource, err := s.Get(ctx, name)
		if err != nil {
			return "", err
		}
		if resource == nil {
			return "", fmt.Errorf("ManagedResource %s has gone while gardener-resource-manager was to apply it", name)
		}
		return ApplyPendingReason(resource), nil
	})
}

// ApplyPendingReason says why the present content of a ManagedResource is not applied, and is empty if it is. It prefers the condition's
// reason to the fact that the generation is not observed yet.
func ApplyPendingReason(resource *resourcesv1alpha1.ManagedResource) string {
	if health.CheckManagedResourceApplied(resource) == nil {
		return ""
	}
	sentence := fmt.Sprintf("gardener-resource-manager has not applied %s yet", resource.Name)
	applied := v1beta1helper.GetCondition(resource.Status.Conditions, resourcesv1alpha1.ResourcesApplied)
	if applied == nil || applied.Status == gardencorev1beta1.ConditionTrue || applied.Message == "" {
		return sentence
	}
	return fmt.Sprintf("%s (%s)", sentence, applied.Message)
}

// ApplyFailureReason says why gardener-resource-manager could not apply the content of a ManagedResource. It is empty if the content is applied,
// is being applied for the first time, or waits for that: these states are transient. The reason stays during retries.
func ApplyFailureReason(resource *resourcesv1alpha1.ManagedResource) string {
	applied := v1beta1helper.GetCondition(resource.Status.Conditions, resourcesv1alpha1.ResourcesApplied)
	if applied == nil {
		return ""
	}
	switch {
	case applied.Status == gardencorev1beta1.ConditionFalse, applied.Reason == resourcesv1alpha1.ConditionApplyFailed,
		applied.Reason == resourcesv1alpha1.ConditionDeletionFailed:
		return ApplyPendingReason(resource)
	default:
		return ""
	}
}

// ListsObject reports for each object whether the status of the ManagedResource lists it.
func ListsObject(resource *resourcesv1alpha1.ManagedResource, kind schema.GroupKind, object client.Object) bool {
	return slices.ContainsFunc(resource.Status.Resources, func(ref resourcesv1alpha1.ObjectReference) bool {
		return ref.GroupVersionKind().GroupKind() == kind && ref.Name == object.GetName() && ref.Namespace == object.GetNamespace()
	})
}

// KeepObjects makes gardener-resource-manager keep the objects when the ManagedResource is deleted.
func (s Store) KeepObjects(ctx context.Context, name string) error {
	resource, err := s.Get(ctx, name)
	if err != nil || resource == nil {
		return err
	}
	if resource.Spec.KeepObjects != nil && *resource.Spec.KeepObjects {
		return nil
	}
	before := resource.DeepCopy()
	resource.Spec.KeepObjects = new(true)
	if err := s.Client.Patch(ctx, resource, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("letting go of the objects of ManagedResource %s: %w", name, err)
	}
	return nil
}

// Delete requests the deletion of the ManagedResource and does not wait.
func (s Store) Delete(ctx context.Context, name string) error {
	resource, err := s.Get(ctx, name)
	if err != nil || resource == nil || !resource.DeletionTimestamp.IsZero() {
		return err
	}
	if err := s.Client.Delete(ctx, resource); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting ManagedResource %s: %w", name, err)
	}
	return nil
}

// Remove deletes ManagedResources concurrently and waits until they and their objects are gone. One that is being applied is deleted after
// gardener-resource-manager has reported what it applied: it lists objects only then, a deletion before makes that report fail with a
// conflict, and objects that are not listed are never deleted.
func (s Store) Remove(ctx context.Context, names ...string) error {
	var found, secrets []string
	for _, name := range names {
		secretNames, err := s.deleteWhenApplied(ctx, name)
		if err != nil {
			return err
		}
		if secretNames != nil {
			found, secrets = append(found, name), append(secrets, secretNames...)
		}
	}
	for _, name := range found {
		if err := s.waitGone(ctx, name); err != nil {
			return err
		}
	}
	return s.deleteSecrets(ctx, secrets)
}

// deleteWhenApplied deletes a ManagedResource while gardener-resource-manager is not applying it, and returns the names of its Secrets; nil if
// there is no ManagedResource.
func (s Store) deleteWhenApplied(ctx context.Context, name string) (secrets []string, err error) {
	err = contract.WaitUntil(ctx, func(ctx context.Context) (string, error) {
		resource, err := s.Get(ctx, name)
		if err != nil || resource == nil {
			return "", err
		}
		if isBeingApplied(resource) {
			return ApplyPendingReason(resource), nil
		}
		secrets = []string{}
		for _, ref := range resource.Spec.SecretRefs {
			secrets = append(secrets, ref.Name)
		}
		if !resource.DeletionTimestamp.IsZero() {
			return "", nil
		}
		// A process that begins to apply it after this check writes its status first, or fails to.
		err = s.Client.Delete(ctx, resource, client.Preconditions{UID: &resource.UID, ResourceVersion: &resource.ResourceVersion})
		if apierrors.IsConflict(err) {
			return fmt.Sprintf("ManagedResource %s has just changed", name), nil
		}
		if client.IgnoreNotFound(err) != nil {
			return "", fmt.Errorf("deleting ManagedResource %s: %w", name, err)
		}
		return "", nil
	})
	return secrets, err
}

// isBeingApplied reports whether gardener-resource-manager may have created objects that its status does not list yet. It is false if the
// objects are kept, and once the deletion has begun, since the list does not matter then. Objects that could not be applied are never listed:
// their condition Progressing returns with each attempt, which cannot be distinguished from the first one.
func isBeingApplied(resource *resourcesv1alpha1.ManagedResource) bool {
	if !resource.DeletionTimestamp.IsZero() || resource.Spec.KeepObjects != nil && *resource.Spec.KeepObjects {
		return false
	}
	applied := v1beta1helper.GetCondition(resource.Status.Conditions, resourcesv1alpha1.ResourcesApplied)
	// An object that is still being deleted keeps others from being applied, and would block the deletion as long.
	return applied != nil && applied.Status == gardencorev1beta1.ConditionProgressing && !isAboutDeletion(applied)
}

func (s Store) waitGone(ctx context.Context, name string) error {
	return contract.WaitUntil(ctx, func(ctx context.Context) (string, error) {
		resource, err := s.Get(ctx, name)
		if err != nil || resource == nil {
			return "", err
		}
		return deletionPendingReason(resource), nil
	})
}

// deletionPendingReason says why a deleted ManagedResource still exists.
func deletionPendingReason(resource *resourcesv1alpha1.ManagedResource) string {
	for _, condition := range resource.Status.Conditions {
		if condition.Type == resourcesv1alpha1.ResourcesApplied && condition.Message != "" {
			return fmt.Sprintf("ManagedResource %s is not gone yet (%s)", resource.Name, condition.Message)
		}
	}
	return fmt.Sprintf("ManagedResource %s is not gone yet", resource.Name)
}

func (s Store) deleteSecrets(ctx context.Context, names []string) error {
	for _, name := range names {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name}}
		if err := s.Client.Delete(ctx, secret); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting Secret %s: %w", name, err)
		}
	}
	return nil
}

// DeleteSecrets deletes the Secrets with the store's labels, including those that no ManagedResource refers to because the process ended
// between two writes.
func (s Store) DeleteSecrets(ctx context.Context) error {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	if err := s.Client.List(ctx, list, client.InNamespace(s.Namespace), client.MatchingLabels(s.Labels)); err != nil {
		return fmt.Errorf("listing the Secrets of ManagedResources: %w", err)
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return s.deleteSecrets(ctx, names)
}

// CreateIfNotExists creates an immutable Secret whose name contains a hash of its content. It does not read the content.
func CreateIfNotExists(ctx context.Context, c client.Client, secret *corev1.Secret) error {
	found := &metav1.PartialObjectMetadata{}
	found.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	err := c.Get(ctx, client.ObjectKeyFromObject(secret), found)
	if err == nil && found.DeletionTimestamp.IsZero() {
		return nil
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("looking for Secret %s: %w", secret.Name, err)
	}
	if err := c.Create(ctx, secret); err != nil {
		return fmt.Errorf("creating Secret %s: %w", secret.Name, err)
	}
	return nil
}
