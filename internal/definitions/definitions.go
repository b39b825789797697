// Package definitions reads the definitions of custom resources that packages embed, and encodes them once for all shoots. They are larger than all else that a shoot
// gets, so that nothing is computed of them in a reconciliation. It must not know whose definitions they are.
package definitions

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sync"

	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// Read decodes the manifests in a folder, sorted by their file names, without the status and the time of creation that their generators write. Callers may change the result.
func Read(files fs.FS, folder string) ([]*unstructured.Unstructured, error) {
	entries, err := fs.ReadDir(files, folder)
	if err != nil {
		return nil, fmt.Errorf("listing definitions: %w", err)
	}
	definitions := make([]*unstructured.Unstructured, 0, len(entries))
	for _, entry := range entries {
		content, err := fs.ReadFile(files, path.Join(folder, entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", entry.Name(), err)
		}
		definition := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(content, &definition.Object); err != nil {
			return nil, fmt.Errorf("decoding %s: %w", entry.Name(), err)
		}
		unstructured.RemoveNestedField(definition.Object, "status")
		unstructured.RemoveNestedField(definition.Object, "metadata", "creationTimestamp")
		definitions = append(definitions, definition)
	}
	return definitions, nil
}

// Keep lets gardener-resource-manager keep definitions in a shoot that are not deployed any more: deleting one deletes all objects of its kind.
func Keep(definitions []*unstructured.Unstructured) {
	for _, definition := range definitions {
		annotations := definition.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[resourcesv1alpha1.KeepObject] = "true"
		definition.SetAnnotations(annotations)
	}
}

// Encoded is an object as it is written. Of its metadata it has kind, namespace and name. It must not be changed.
type Encoded struct {
	metav1.PartialObjectMetadata

	// Manifest is the object in JSON.
	Manifest []byte
}

// Encode encodes definitions. The results are *Encoded.
func Encode(definitions []*unstructured.Unstructured) ([]client.Object, error) {
	all := make([]client.Object, 0, len(definitions))
	for _, definition := range definitions {
		content, err := json.Marshal(definition.Object)
		if err != nil {
			return nil, fmt.Errorf("encoding definition %s: %w", definition.GetName(), err)
		}
		encoded := &Encoded{Manifest: slices.Clip(content)}
		encoded.SetGroupVersionKind(definition.GroupVersionKind())
		encoded.Namespace, encoded.Name = definition.GetNamespace(), definition.GetName()
		all = append(all, encoded)
	}
	return all, nil
}

// Once returns a function that reads and encodes definitions in its first call.
func Once(read func() ([]*unstructured.Unstructured, error)) func() ([]client.Object, error) {
	return sync.OnceValues(func() ([]client.Object, error) {
		definitions, err := read()
		if err != nil {
			return nil, err
		}
		return Encode(definitions)
	})
}

// MarshalJSON implements json.Marshaler.
func (e *Encoded) MarshalJSON() ([]byte, error) { return e.Manifest, nil }

// DeepCopyObject implements runtime.Object. Copies share the manifest.
func (e *Encoded) DeepCopyObject() runtime.Object {
	return &Encoded{PartialObjectMetadata: *e.DeepCopy(), Manifest: e.Manifest}
}
