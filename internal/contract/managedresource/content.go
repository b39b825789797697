package managedresource

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Content returns the objects of a ManagedResource, of any author, and whether it exists. It reads JSON and YAML,
// with one or many objects in a file.
func (s Store) Content(ctx context.Context, name string) (objects []*unstructured.Unstructured, exists bool, err error) {
	resource, err := s.Get(ctx, name)
	if err != nil || resource == nil {
		return nil, false, err
	}
	for _, ref := range resource.Spec.SecretRefs {
		secret := &corev1.Secret{}
		if err := s.Client.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: ref.Name}, secret); err != nil {
			return nil, true, fmt.Errorf("reading Secret %s of ManagedResource %s: %w", ref.Name, name, err)
		}
		for _, file := range slices.Sorted(maps.Keys(secret.Data)) {
			some, err := decode(secret.Data[file])
			if err != nil {
				return nil, true, fmt.Errorf("reading %s in Secret %s of ManagedResource %s: %w", file, ref.Name, name, err)
			}
			objects = append(objects, some...)
		}
	}
	return objects, true, nil
}

func decode(file []byte) ([]*unstructured.Unstructured, error) {
	const buffered = 4096
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(file), buffered)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		switch {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, err
		case len(object.Object) > 0:
			objects = append(objects, object)
		}
	}
}

// FromUpstream reports whether there is a ManagedResource whose content another extension has written: one of its Secrets lacks the labels of
// the Store's. It is false if the Secrets do not exist.
func (s Store) FromUpstream(ctx context.Context, name string) (bool, error) {
	resource, err := s.Get(ctx, name)
	if err != nil || resource == nil {
		return false, err
	}
	for _, ref := range resource.Spec.SecretRefs {
		secret := &metav1.PartialObjectMetadata{}
		secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
		err := s.Client.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: ref.Name}, secret)
		if client.IgnoreNotFound(err) != nil {
			return false, fmt.Errorf("reading Secret %s of ManagedResource %s: %w", ref.Name, name, err)
		}
		for key, value := range s.Labels {
			if err == nil && secret.Labels[key] != value {
				return true, nil
			}
		}
	}
	return false, nil
}
