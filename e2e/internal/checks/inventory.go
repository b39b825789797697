package checks

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// skipped are resources whose objects outlive what they are about, or that are no objects of their own.
func skipped() []string { return []string{"events", "componentstatuses", "nodes", "pods", "bindings"} }

// Names reports whether an object's metadata names one of the words: in its name, its namespace, its labels, or its owners.
func Names(object *metav1.PartialObjectMetadata, words []string) bool {
	texts := []string{object.Name, object.Namespace}
	for _, value := range object.Labels {
		texts = append(texts, value)
	}
	for _, owner := range object.OwnerReferences {
		texts = append(texts, owner.Name, string(owner.UID))
	}
	return slices.ContainsFunc(texts, func(text string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return isWordIn(text, word) })
	})
}

// isWordIn reports whether a text contains a word that is not a part of a longer one: "shoot--dev--one" is not in "shoot--dev--one-more", but
// in "shoot--dev--one.example" and "extension-shoot--dev--one:reader".
func isWordIn(text, word string) bool {
	for from := 0; ; {
		at := strings.Index(text[from:], word)
		if at < 0 {
			return false
		}
		end := from + at + len(word)
		if end == len(text) || !isNameCharacter(text[end]) || strings.HasPrefix(text[end:], "--") {
			return true
		}
		from = end
	}
}

func isNameCharacter(c byte) bool {
	return c == '-' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
}

// IsOfShoot reports whether an object is made for a Shoot of its namespace: it has the Shoot's name, maybe with a suffix after a dot, a label with
// that name, or the Shoot as an owner.
func IsOfShoot(object *metav1.PartialObjectMetadata, shoot string) bool {
	if object.Name == shoot || strings.HasPrefix(object.Name, shoot+".") {
		return true
	}
	for _, value := range object.Labels {
		if value == shoot {
			return true
		}
	}
	return slices.ContainsFunc(object.OwnerReferences, func(owner metav1.OwnerReference) bool {
		return owner.Kind == "Shoot" && owner.Name == shoot
	})
}

// Leftovers lists the matching objects of a cluster, as "kind namespace/name". Cluster-wide objects and, if a namespace is given, those in it count;
// with all namespaces ("*") all do.
func Leftovers(ctx context.Context, config *rest.Config, namespace string, match func(*metav1.PartialObjectMetadata) bool) ([]string, error) {
	found, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	objects, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	lists, err := found.ServerPreferredResources()
	if err != nil && len(lists) == 0 {
		return nil, fmt.Errorf("listing the kinds of a cluster: %w", err)
	}
	var left []string
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, resource := range list.APIResources {
			if !slices.Contains(resource.Verbs, "list") || slices.Contains(skipped(), resource.Name) || resource.Namespaced && namespace == "" {
				continue
			}
			names, err := leftoversOf(ctx, objects, version.WithResource(resource.Name), resource, namespace, match)
			if err != nil {
				return nil, err
			}
			left = append(left, names...)
		}
	}
	slices.Sort(left)
	return slices.Compact(left), nil
}

func leftoversOf(
	ctx context.Context, objects metadata.Interface, of schema.GroupVersionResource, resource metav1.APIResource, namespace string,
	match func(*metav1.PartialObjectMetadata) bool,
) ([]string, error) {
	var in metadata.ResourceInterface = objects.Resource(of)
	if resource.Namespaced && namespace != "*" {
		in = objects.Resource(of).Namespace(namespace)
	}
	list, err := in.List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
		return nil, nil // it is listed, but not served
	}
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", of.Resource, err)
	}
	var left []string
	for i := range list.Items {
		if object := &list.Items[i]; match(object) {
			left = append(left, strings.TrimSpace(resource.Kind+" "+strings.TrimPrefix(object.Namespace+"/"+object.Name, "/")))
		}
	}
	return left, nil
}
