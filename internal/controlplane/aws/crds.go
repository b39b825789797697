package aws

import (
	"embed"
	"fmt"

	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

//go:generate crds/generate.sh
//go:embed crds/*.yaml
var crdFiles embed.FS

// loadBalancerCRDs are the CRDs of the load balancer controller. They are kept when it is disabled: their objects have finalizers that only the controller
// removes, and a user may go on with a controller of their own.
func loadBalancerCRDs() ([]client.Object, error) {
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
		annotations := object.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[resourcesv1alpha1.KeepObject] = "true"
		object.SetAnnotations(annotations)
		objects = append(objects, object)
	}
	return objects, nil
}
