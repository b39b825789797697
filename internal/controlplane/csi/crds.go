package csi

import (
	"embed"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

//go:generate crds/generate.sh
//go:embed crds/*.yaml
var crdFiles embed.FS

// CRDs returns the CRDs of the snapshot controller and the snapshotters. They include version v1beta1, which is not served: a shoot in which it was stored
// needs it.
func CRDs() ([]client.Object, error) {
	files, err := crdFiles.ReadDir("crds")
	if err != nil {
		return nil, fmt.Errorf("listing custom resource definitions: %w", err)
	}
	objects := make([]client.Object, 0, len(files))
	for _, file := range files {
		content, err := crdFiles.ReadFile("crds/" + file.Name())
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", file.Name(), err)
		}
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(content, &object.Object); err != nil {
			return nil, fmt.Errorf("reading %s: %w", file.Name(), err)
		}
		unstructured.RemoveNestedField(object.Object, "status")
		objects = append(objects, object)
	}
	return objects, nil
}
