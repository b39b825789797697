package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/gardener/gardener/pkg/resourcemanager/controller/garbagecollector/references"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// emptyTimeout bounds the deletion of pods after their Deployments.
const emptyTimeout = 30 * time.Second

// inventory is the content of a namespace, each object as "Kind name".
type inventory = sets.Set[string]

// transientKinds are kinds that are not deleted explicitly: they expire.
func transientKinds() []string { return []string{"Event", "Lease"} }

// listInventory lists all objects in a namespace, of all kinds that the API server knows.
func listInventory(ctx context.Context, config *rest.Config, c client.Client, namespace string) (inventory, error) {
	discoverer, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	groups, err := discoverer.ServerPreferredNamespacedResources()
	if err != nil {
		return nil, fmt.Errorf("asking which kinds there are: %w", err)
	}
	found := inventory{}
	for _, group := range groups {
		version, err := schema.ParseGroupVersion(group.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, resource := range group.APIResources {
			if !slices.Contains(resource.Verbs, "list") || slices.Contains(transientKinds(), resource.Kind) {
				continue
			}
			list := &metav1.PartialObjectMetadataList{}
			list.SetGroupVersionKind(version.WithKind(resource.Kind + "List"))
			if err := c.List(ctx, list, client.InNamespace(namespace)); err != nil {
				return nil, fmt.Errorf("listing %s: %w", resource.Name, err)
			}
			for _, object := range list.Items {
				found.Insert(resource.Kind + " " + object.Name)
			}
		}
	}
	return found, nil
}

// nothingLeftInSeed fails if the shoot's namespace contains an object that should be gone.
func (d *demo) nothingLeftInSeed(ctx context.Context, shouldBeGone func(name string) bool) error {
	for end := time.Now().Add(emptyTimeout); ; {
		now, err := listInventory(ctx, d.Source.Config, d.Source.Client, d.shoot.Namespace())
		if err != nil {
			return err
		}
		left := slices.DeleteFunc(sets.List(now), func(name string) bool { return !shouldBeGone(name) })
		if len(left) == 0 {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("left behind in namespace %s: %q", d.shoot.Namespace(), left)
		}
		if err := sleep(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}

// nothingLeftInShoot fails if an applied object still exists in the shoot. It counts those that are garbage-collected later:
// gardener-resource-manager does not delete what pods may mount.
func (d *demo) nothingLeftInShoot(ctx context.Context, applied []resourcesv1alpha1.ObjectReference) (garbage int, err error) {
	var failures []error
	for _, ref := range applied {
		object := &metav1.PartialObjectMetadata{}
		object.SetGroupVersionKind(ref.GroupVersionKind())
		err := d.Cluster.Client.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, object)
		switch {
		case err == nil && object.Labels[references.LabelKeyGarbageCollectable] == references.LabelValueGarbageCollectable:
			garbage++
		case err == nil:
			failures = append(failures, fmt.Errorf("left behind in the shoot: %s", nameOf(ref)))
		case !apierrors.IsNotFound(err) && !meta.IsNoMatchError(err):
			failures = append(failures, fmt.Errorf("looking for %s: %w", nameOf(ref), err))
		}
	}
	return garbage, errors.Join(failures...)
}

func nameOf(ref resourcesv1alpha1.ObjectReference) string {
	if ref.Namespace == "" {
		return ref.Kind + " " + ref.Name
	}
	return ref.Kind + " " + ref.Namespace + "/" + ref.Name
}
