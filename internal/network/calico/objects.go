package calico

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// calicoAPIVersion is that under which Calico stores its objects in the kube-apiserver.
const calicoAPIVersion = "crd.projectcalico.org/v1"

// calicoObject builds an object of Calico's own from a small struct that says what the driver says about it.
func calicoObject(kind, name string, spec any) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(spec)
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{Object: map[string]any{"spec": content}}
	object.SetAPIVersion(calicoAPIVersion)
	object.SetKind(kind)
	object.SetName(name)
	return object, nil
}
