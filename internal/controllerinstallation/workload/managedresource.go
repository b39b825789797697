package workload

import (
	"context"
	"fmt"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/gardener/gardener/pkg/resourcemanager/controller/garbagecollector/references"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/internal/truncate"
)

// readManagedResource returns nil if there is none. It has the name of the installation, where gardenlet's care controller expects it.
func readManagedResource(ctx context.Context, c client.Reader, installation string) (*resourcesv1alpha1.ManagedResource, error) {
	resource := &resourcesv1alpha1.ManagedResource{}
	err := c.Get(ctx, client.ObjectKey{Namespace: v1beta1constants.GardenNamespace, Name: installation}, resource)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading ManagedResource %s: %w", installation, err)
	}
	return resource, nil
}

// belongsTo reports whether this package or gardenlet has written a ManagedResource. One of this package is recognized even without its label.
func belongsTo(resource *resourcesv1alpha1.ManagedResource, installation string) bool {
	owner, labelled := resource.Labels[labelInstallation]
	if !labelled {
		return metav1.HasAnnotation(resource.ObjectMeta, installationv1alpha1.AnnotationRevision)
	}
	return owner == installation
}

// checkWritable returns an error if a ManagedResource must not be written.
func checkWritable(resource *resourcesv1alpha1.ManagedResource, installation string) error {
	switch {
	case resource == nil:
		return nil
	case !belongsTo(resource, installation):
		return fmt.Errorf("ManagedResource %s in namespace %s of the seed belongs to somebody else: its label %s is %q",
			resource.Name, resource.Namespace, labelInstallation, truncate.Line(resource.Labels[labelInstallation], truncate.MaxExternal))
	case !resource.DeletionTimestamp.IsZero():
		return fmt.Errorf("ManagedResource %s is still being deleted: %s", resource.Name, deletionMessage(resource))
	default:
		return nil
	}
}

// applyManagedResource makes the ManagedResource refer to the Secrets; before is the existing one or nil. gardener-resource-manager writes to the
// same object, hence the optimistic lock.
func applyManagedResource(
	ctx context.Context, c client.Client, before *resourcesv1alpha1.ManagedResource, installation Installation, secrets []*corev1.Secret,
) error {
	if before == nil {
		resource := &resourcesv1alpha1.ManagedResource{
			ObjectMeta: metav1.ObjectMeta{Namespace: v1beta1constants.GardenNamespace, Name: installation.Name},
		}
		if err := describeManagedResource(resource, installation, secrets); err != nil {
			return err
		}
		if err := c.Create(ctx, resource); err != nil {
			return fmt.Errorf("creating ManagedResource %s: %w", resource.Name, err)
		}
		return nil
	}
	resource := before.DeepCopy()
	if err := describeManagedResource(resource, installation, secrets); err != nil {
		return err
	}
	if equality.Semantic.DeepEqual(before, resource) {
		return nil
	}
	if err := c.Patch(ctx, resource, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("changing ManagedResource %s: %w", resource.Name, err)
	}
	return nil
}

// describeManagedResource keeps labels and annotations of other clients. gardener-resource-manager deletes Secrets that are no longer referred to.
func describeManagedResource(resource *resourcesv1alpha1.ManagedResource, installation Installation, secrets []*corev1.Secret) error {
	metav1.SetMetaDataLabel(&resource.ObjectMeta, labelInstallation, installation.Name)
	metav1.SetMetaDataLabel(&resource.ObjectMeta, labelRegistration, installation.Registration)
	resource.Spec = resourcesv1alpha1.ManagedResourceSpec{
		Class: new(v1beta1constants.SeedResourceManagerClass), KeepObjects: new(false),
	}
	for _, secret := range secrets {
		resource.Spec.SecretRefs = append(resource.Spec.SecretRefs, corev1.LocalObjectReference{Name: secret.Name})
	}
	metav1.SetMetaDataAnnotation(&resource.ObjectMeta, installationv1alpha1.AnnotationRevision, installation.Revision)
	if err := references.InjectAnnotations(resource); err != nil {
		return fmt.Errorf("noting what ManagedResource %s refers to: %w", resource.Name, err)
	}
	return nil
}

// deletionMessage says why a ManagedResource that is being deleted still exists.
func deletionMessage(resource *resourcesv1alpha1.ManagedResource) string {
	condition := v1beta1helper.GetCondition(resource.Status.Conditions, resourcesv1alpha1.ResourcesApplied)
	switch {
	case condition == nil || !isAboutDeletion(condition.Reason):
		return "gardener-resource-manager has not begun with its objects"
	case condition.Message == "":
		return "gardener-resource-manager deletes its objects"
	default:
		return truncate.Text(condition.Message, truncate.MaxExternal)
	}
}

func isAboutDeletion(reason string) bool {
	return reason == resourcesv1alpha1.ConditionDeletionPending || reason == resourcesv1alpha1.ConditionDeletionFailed
}
