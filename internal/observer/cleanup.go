package observer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/kinds"
	"github.com/trellis-garden/trellis/internal/pages"
)

// CleanupFinalizer is the finalizer of the ConfigMap that marks an installation. Whatever deletes the ConfigMap with the other objects of an installation
// waits until the controller has removed its conditions from all objects and then the finalizer. The controller itself must outlive the ConfigMap: its
// Deployment and its rights are deleted with its namespace only. For the cluster-scoped objects among them see MarkerClusterRole.
const CleanupFinalizer = "trellis.extensions.gardener.cloud/observations"

// Keys of the data of the ConfigMap that marks an installation. The values are the names of the controller's ClusterRole and ClusterRoleBinding, which
// are to be deleted with the namespace: before the controller removes the finalizer, it makes the namespace their owner. They may be missing.
const (
	MarkerClusterRole        = "clusterRole"
	MarkerClusterRoleBinding = "clusterRoleBinding"
)

// cleanup removes the conditions when the ConfigMap that marks the installation is deleted, and makes the controller inactive until there is one again.
type cleanup[O contract.Object] struct {
	controller *observerController[O]
}

// addCleanup adds the controller that watches the marker, with a cache for it alone.
func (c *observerController[O]) addCleanup(mgr manager.Manager) error {
	key := c.options.Marker
	if err := kinds.In(corev1.SchemeGroupVersion, &corev1.ConfigMap{}, &corev1.ConfigMapList{})(mgr.GetScheme()); err != nil {
		return fmt.Errorf("registering the kind of the marker: %w", err)
	}
	markers, err := cache.New(mgr.GetConfig(), cache.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(),
		DefaultNamespaces:    map[string]cache.Config{key.Namespace: {}},
		DefaultFieldSelector: fields.OneTermEqualSelector("metadata.name", key.Name),
	})
	if err != nil {
		return fmt.Errorf("creating a cache of ConfigMap %s: %w", key, err)
	}
	if err := mgr.Add(markers); err != nil {
		return err
	}
	return builder.ControllerManagedBy(mgr).
		Named(c.observer.Name + "-observer-cleanup").
		WatchesRawSource(source.Kind(markers, &corev1.ConfigMap{}, &handler.TypedEnqueueRequestForObject[*corev1.ConfigMap]{})).
		Complete(&cleanup[O]{c})
}

// Reconcile implements reconcile.Reconciler for the marker.
func (c *cleanup[O]) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	log := logf.FromContext(ctx)
	marker := &corev1.ConfigMap{}
	err := c.controller.reader.Get(ctx, request.NamespacedName, marker)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return reconcile.Result{}, fmt.Errorf("reading the ConfigMap that marks the installation: %w", err)
	case err == nil && marker.DeletionTimestamp.IsZero():
		c.controller.setActive(true)
		return reconcile.Result{}, nil
	}
	c.controller.setActive(false)
	if !controllerutil.ContainsFinalizer(marker, CleanupFinalizer) {
		return reconcile.Result{}, nil
	}
	log.Info("The controller is being uninstalled, removing its conditions")
	count, err := c.controller.removeAll(ctx)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("removing the conditions of an uninstalled controller: %w", err)
	}
	if err := c.controller.releaseClusterObjects(ctx, marker); err != nil {
		return reconcile.Result{}, err
	}
	before := marker.DeepCopy()
	controllerutil.RemoveFinalizer(marker, CleanupFinalizer)
	if err := c.controller.client.Patch(ctx, marker, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, fmt.Errorf("removing the finalizer of the ConfigMap that marks the installation: %w", err)
	}
	log.Info("All conditions of the controller are removed", "objects", count)
	return reconcile.Result{}, nil
}

// releaseClusterObjects makes the namespace of the marker the owner of the cluster-scoped objects that the marker names. The controller needs these objects
// until it is deleted itself, so it cannot delete them. For the API server, a change of owners alone grants no rights, so the controller need not have all
// rights that its ClusterRole grants.
func (c *observerController[O]) releaseClusterObjects(ctx context.Context, marker *corev1.ConfigMap) error {
	for key, kind := range map[string]string{MarkerClusterRole: "ClusterRole", MarkerClusterRoleBinding: "ClusterRoleBinding"} {
		name := marker.Data[key]
		if name == "" {
			continue
		}
		if err := c.setOwner(ctx, rbacv1.SchemeGroupVersion.WithKind(kind), name, marker.Namespace); err != nil {
			return fmt.Errorf("making namespace %s the owner of %s %s, so that it is deleted with it: %w", marker.Namespace, kind, name, err)
		}
	}
	return nil
}

// setOwner makes a namespace an owner of a cluster-scoped object, if the object exists.
func (c *observerController[O]) setOwner(ctx context.Context, kind schema.GroupVersionKind, name, namespaceName string) error {
	namespace, object := &metav1.PartialObjectMetadata{}, &metav1.PartialObjectMetadata{}
	namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	object.SetGroupVersionKind(kind)
	if err := c.reader.Get(ctx, client.ObjectKey{Name: namespaceName}, namespace); err != nil {
		return err
	}
	if err := c.reader.Get(ctx, client.ObjectKey{Name: name}, object); err != nil {
		return client.IgnoreNotFound(err)
	}
	if slices.ContainsFunc(object.OwnerReferences, func(owner metav1.OwnerReference) bool { return owner.UID == namespace.UID }) {
		return nil
	}
	before := object.DeepCopy()
	object.OwnerReferences = append(object.OwnerReferences, metav1.OwnerReference{
		APIVersion: corev1.SchemeGroupVersion.String(), Kind: "Namespace", Name: namespace.Name, UID: namespace.UID,
	})
	return client.IgnoreNotFound(c.client.Patch(ctx, object, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})))
}

// removeAll removes the conditions of all observations from all objects of the kind and returns the number of changed objects.
func (c *observerController[O]) removeAll(ctx context.Context) (count int, err error) {
	types := make([]gardencorev1beta1.ConditionType, 0, len(c.observer.Observations))
	for _, observation := range c.observer.Observations {
		types = append(types, observation.Condition)
	}
	var failures []error
	err = c.eachObject(ctx, func(object O) {
		changed := false
		_, err := c.writeConditions(ctx, object, func(current O) ([]gardencorev1beta1.Condition, bool) {
			known := current.GetExtensionStatus().GetConditions()
			changed = slices.ContainsFunc(known, func(condition gardencorev1beta1.Condition) bool { return slices.Contains(types, condition.Type) })
			return v1beta1helper.RemoveConditions(known, types...), changed
		})
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", client.ObjectKeyFromObject(object), err))
		} else if changed {
			count++
		}
		c.forget(client.ObjectKeyFromObject(object))
	})
	return count, errors.Join(err, errors.Join(failures...))
}

// eachObject calls a function with each object of the observed types, read from the API server page by page.
func (c *observerController[O]) eachObject(ctx context.Context, do func(O)) error {
	list, err := contract.NewList(c.client.Scheme(), c.observer.New())
	if err != nil {
		return err
	}
	var failure error
	err = pages.Each(ctx, c.reader, list, func(page client.ObjectList) bool {
		failure = meta.EachListItem(page, func(item runtime.Object) error {
			if object, ok := item.(O); ok && slices.Contains(c.options.Types, object.GetExtensionSpec().GetExtensionType()) {
				do(object)
			}
			return nil
		})
		return failure == nil
	})
	return errors.Join(err, failure)
}
