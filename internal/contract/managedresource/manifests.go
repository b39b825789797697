package managedresource

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// manifests writes each object as a file for gardener-resource-manager. The same objects give the same bytes. They are JSON,
// which takes a tenth of the time of YAML to encode and to decode.
func manifests(objects []client.Object, scheme *runtime.Scheme) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, object := range objects {
		encoded, ok := object.(*Encoded)
		if !ok {
			var err error
			if encoded, err = encode(object, scheme); err != nil {
				return nil, fmt.Errorf("writing %T %q: %w", object, object.GetName(), err)
			}
		}
		name := fileName(encoded)
		if files[name] != nil {
			return nil, fmt.Errorf("%s is there twice", name)
		}
		files[name] = encoded.Manifest
	}
	return files, nil
}

// Encoded is an object as it is written. Of its metadata it has kind, namespace and name. It must not be changed.
type Encoded struct {
	metav1.PartialObjectMetadata

	// Manifest is the object in JSON.
	Manifest []byte
}

// Encode encodes objects with a kind that are the same for all shoots, so that they are kept once, and nothing is computed for a shoot: definitions of kinds
// are larger than all else.
func Encode(objects []client.Object) ([]client.Object, error) {
	all := make([]client.Object, 0, len(objects))
	for _, object := range objects {
		encoded, err := encode(object, runtime.NewScheme())
		if err != nil {
			return nil, fmt.Errorf("encoding %T %q: %w", object, object.GetName(), err)
		}
		all = append(all, encoded)
	}
	return all, nil
}

// MarshalJSON implements json.Marshaler.
func (e *Encoded) MarshalJSON() ([]byte, error) { return e.Manifest, nil }

// DeepCopyObject implements runtime.Object. Copies share the manifest.
func (e *Encoded) DeepCopyObject() runtime.Object {
	return &Encoded{PartialObjectMetadata: *e.DeepCopy(), Manifest: e.Manifest}
}

func encode(object client.Object, scheme *runtime.Scheme) (*Encoded, error) {
	written, err := manifest(object, scheme)
	if err != nil {
		return nil, err
	}
	content, err := json.Marshal(written.Object)
	if err != nil {
		return nil, err
	}
	encoded := &Encoded{Manifest: slices.Clip(content)}
	encoded.SetGroupVersionKind(written.GroupVersionKind())
	encoded.Namespace, encoded.Name = written.GetNamespace(), written.GetName()
	return encoded, nil
}

// manifest returns the object as its author wrote it: with kind and version, and without fields that the API server sets.
func manifest(object client.Object, scheme *runtime.Scheme) (*unstructured.Unstructured, error) {
	kind := object.GetObjectKind().GroupVersionKind()
	if kind.Empty() {
		kinds, _, err := scheme.ObjectKinds(object)
		if err != nil {
			return nil, err
		}
		kind = kinds[0]
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, err
	}
	if _, shared := object.(runtime.Unstructured); shared {
		fields = runtime.DeepCopyJSON(fields)
	}
	content := &unstructured.Unstructured{Object: fields}
	content.SetGroupVersionKind(kind)
	unstructured.RemoveNestedField(content.Object, "status")
	unstructured.RemoveNestedField(content.Object, "metadata", "creationTimestamp")
	unstructured.RemoveNestedField(content.Object, "spec", "template", "metadata", "creationTimestamp")
	return content, nil
}

// fileName is unique among objects and valid as a key of a Secret.
func fileName(object *Encoded) string {
	name := strings.Join([]string{strings.ToLower(object.Kind), object.GetNamespace(), object.GetName()}, "__")
	return strings.Map(func(r rune) rune {
		if r == ':' || r == '/' {
			return '_'
		}
		return r
	}, name) + ".json"
}
