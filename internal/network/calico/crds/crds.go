// Package crds holds the custom resource definitions of Calico and Multus.
//
// Calico's are those of an older release than the one that runs (see generate.sh), with schemas opened for the fields of newer releases and with the
// kinds that were added later. The package must not know which of them a shoot gets, nor any setting.
package crds

import (
	"cmp"
	"embed"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

//go:generate ./generate.sh
//go:embed *.yaml
var files embed.FS

// Calico returns the definitions of Calico's kinds and of those of Kubernetes that Calico enforces, sorted by name. Each call decodes them again, so
// that callers may change the result.
func Calico() ([]client.Object, error) {
	definitions, err := releasedDefinitions()
	if err != nil {
		return nil, err
	}
	definitions = slices.Concat(definitions, definitionsOf(newerKinds()))
	slices.SortFunc(definitions, func(a, b *unstructured.Unstructured) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return asObjects(definitions), nil
}

// keepObject lets gardener-resource-manager keep an object that is not rendered any more.
const keepObject = "resources.gardener.cloud/keep-object"

// Multus returns the definition of the networks that pods are attached to in addition to Calico's.
func Multus() ([]client.Object, error) {
	definitions := definitionsOf(multusKinds())
	for _, definition := range definitions {
		// Deleting a definition deletes the objects of users. They may enable Multus again.
		annotations := definition.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[keepObject] = "true"
		definition.SetAnnotations(annotations)
	}
	return asObjects(definitions), nil
}

// releasedDefinitions decodes the definitions that Calico itself published.
func releasedDefinitions() ([]*unstructured.Unstructured, error) {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("listing custom resource definitions: %w", err)
	}
	var definitions []*unstructured.Unstructured
	for _, entry := range entries {
		content, err := files.ReadFile(entry.Name())
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", entry.Name(), err)
		}
		definition := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(content, &definition.Object); err != nil {
			return nil, fmt.Errorf("reading %s: %w", entry.Name(), err)
		}
		unstructured.RemoveNestedField(definition.Object, "status")
		if err := preserveUnknownFields(definition); err != nil {
			return nil, fmt.Errorf("opening %s for newer fields: %w", entry.Name(), err)
		}
		definitions = append(definitions, definition)
	}
	return definitions, nil
}

func asObjects(definitions []*unstructured.Unstructured) []client.Object {
	objects := make([]client.Object, 0, len(definitions))
	for _, definition := range definitions {
		objects = append(objects, definition)
	}
	return objects
}
