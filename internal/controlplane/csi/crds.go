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
func CRDs() ([]client.Object, error) { return ReadCRDs(crdFiles) }

// ReadCRDs reads the manifests in folder crds of files, without the status that their generator writes. Drivers read those of their other components by it.
func ReadCRDs(files embed.FS) ([]client.Object, error) {
	entries, err := files.ReadDir("crds")
	if err != nil {
		return nil, fmt.Errorf("listing custom resource definitions: %w", err)
	}
	objects := make([]client.Object, 0, len(entries))
	for _, entry := range entries {
		content, err := files.ReadFile("crds/" + entry.Name())
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", entry.Name(), err)
		}
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(content, &object.Object); err != nil {
			return nil, fmt.Errorf("reading %s: %w", entry.Name(), err)
		}
		unstructured.RemoveNestedField(object.Object, "status")
		objects = append(objects, object)
	}
	return objects, nil
}
