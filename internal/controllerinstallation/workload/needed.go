package workload

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/seeds"
)

// The size of a page allows for objects with a large state, and is reduced if a response is too large nevertheless. Reading metadata alone is not
// enough, since the type is in spec. maxObjects is more than any seed has of a kind.
const (
	pageSize   = 50
	maxObjects = 25_000
)

// Needed returns the kinds and types ("Worker/openstack") of the registration's resources of which extension objects of class shoot or seed exist in
// the seed, in order. A kind that is unknown in the seed has no objects.
func Needed(ctx context.Context, cluster *seeds.Cluster, resources []gardencorev1beta1.ControllerResource) ([]string, error) {
	registered := map[string]map[string]bool{}
	for _, resource := range resources {
		if registered[resource.Kind] == nil {
			registered[resource.Kind] = map[string]bool{}
		}
		registered[resource.Kind][resource.Type] = true
	}
	var needed []string
	for _, kind := range slices.Sorted(maps.Keys(registered)) {
		types, err := typesInUse(ctx, cluster.Client, kind, registered[kind])
		if err != nil {
			return nil, fmt.Errorf("looking for objects of kind %s that need the installation: %w", kind, err)
		}
		for _, used := range types {
			needed = append(needed, kind+"/"+used)
		}
	}
	return needed, nil
}

// typesInUse reads page by page, until all types are found: a seed may have thousands of objects of a kind.
func typesInUse(ctx context.Context, c client.Reader, kind string, registered map[string]bool) ([]string, error) {
	used := map[string]bool{}
	options := &client.ListOptions{Limit: pageSize}
	for requested := int64(0); requested < maxObjects; requested += options.Limit {
		list, err := readPage(ctx, c, kind, options)
		if err != nil {
			if isNotFound(err) {
				return nil, nil
			}
			return nil, err
		}
		for i := range list.Items {
			if extensionType := typeOf(&list.Items[i]); registered[extensionType] {
				used[extensionType] = true
			}
		}
		next := list.GetContinue()
		if next == "" || len(used) == len(registered) {
			return slices.Sorted(maps.Keys(used)), nil
		}
		if next == options.Continue {
			return nil, errors.New("the seed's API server gives the same page again and again")
		}
		options.Continue = next
	}
	return nil, fmt.Errorf("the seed's API server gives more than %d objects, or pages for them", maxObjects)
}

// readPage halves the page size, also for the following pages, until the response is within the limits.
func readPage(ctx context.Context, c client.Reader, kind string, options *client.ListOptions) (*unstructured.UnstructuredList, error) {
	for ; ; options.Limit /= 2 {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(extensionsv1alpha1.SchemeGroupVersion.WithKind(kind + "List"))
		if options.Limit == 1 {
			return list, c.List(ctx, list, options)
		}
		err := c.List(seeds.Paged(ctx), list, options)
		if _, isTooLarge := errors.AsType[*seeds.ResponseTooLarge](err); !isTooLarge {
			return list, err
		}
	}
}

// typeOf returns the type of an extension object of class shoot or seed. It is empty for class garden, which gardener-operator serves.
func typeOf(object *unstructured.Unstructured) string {
	class, _, _ := unstructured.NestedString(object.Object, "spec", "class")
	switch extensionsv1alpha1.ExtensionClass(class) {
	case "", extensionsv1alpha1.ExtensionClassShoot, extensionsv1alpha1.ExtensionClassSeed:
		extensionType, _, _ := unstructured.NestedString(object.Object, "spec", "type")
		return extensionType
	default:
		return ""
	}
}
