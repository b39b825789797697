package managedresource

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
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
	secrets, err := readSecrets(ctx, s.Client, resource)
	if err != nil {
		return nil, true, err
	}
	objects, err = objectsIn(secrets, name)
	return objects, true, err
}

// OwnContent returns the objects of a ManagedResource that a Store with these labels wrote. own is false if it does not exist, or another extension wrote it.
// reader reads from the API server, never from a cache.
func OwnContent(
	ctx context.Context, reader client.Reader, key client.ObjectKey, labels map[string]string,
) (objects []*unstructured.Unstructured, own bool, err error) {
	found, err := Read(ctx, reader, key.Namespace, key.Name)
	if err != nil || found[key.Name] == nil {
		return nil, false, err
	}
	secrets, err := readSecrets(ctx, reader, found[key.Name])
	if err != nil {
		return nil, false, err
	}
	for i := range secrets {
		if !hasLabels(&secrets[i], labels) {
			return nil, false, nil
		}
	}
	objects, err = objectsIn(secrets, key.Name)
	return objects, true, err
}

func readSecrets(ctx context.Context, reader client.Reader, resource *resourcesv1alpha1.ManagedResource) ([]corev1.Secret, error) {
	secrets := make([]corev1.Secret, len(resource.Spec.SecretRefs))
	for i, ref := range resource.Spec.SecretRefs {
		if err := reader.Get(ctx, client.ObjectKey{Namespace: resource.Namespace, Name: ref.Name}, &secrets[i]); err != nil {
			return nil, fmt.Errorf("reading Secret %s of ManagedResource %s: %w", ref.Name, resource.Name, err)
		}
	}
	return secrets, nil
}

func objectsIn(secrets []corev1.Secret, name string) (objects []*unstructured.Unstructured, err error) {
	for _, secret := range secrets {
		for _, file := range slices.Sorted(maps.Keys(secret.Data)) {
			some, err := decode(secret.Data[file])
			if err != nil {
				return nil, fmt.Errorf("reading %s in Secret %s of ManagedResource %s: %w", file, secret.Name, name, err)
			}
			objects = append(objects, some...)
		}
	}
	return objects, nil
}

func hasLabels(object client.Object, labels map[string]string) bool {
	for key, value := range labels {
		if object.GetLabels()[key] != value {
			return false
		}
	}
	return true
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
		if err == nil && !hasLabels(secret, s.Labels) {
			return true, nil
		}
	}
	return false, nil
}
