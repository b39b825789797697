package crds

import (
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// preserve is the extension of a schema that keeps the API server from dropping fields which the schema does not name.
const preserve = "x-kubernetes-preserve-unknown-fields"

// gainedStatus lists the plurals whose status became a resource of its own after the release that the files are of: Calico
// writes it there, and would meet "not found" otherwise.
func gainedStatus() []string {
	return []string{"kubecontrollersconfigurations"}
}

// open lets the fields of newer releases through, wherever in an object they are. The API server drops unknown fields level by
// level, so opening spec alone would lose the new ones of a rule or of a block's attributes.
func open(definition *unstructured.Unstructured) error {
	versions, found, err := unstructured.NestedSlice(definition.Object, "spec", "versions")
	if err != nil {
		return err
	}
	if !found {
		return errors.New("it has no versions")
	}
	plural, _, err := unstructured.NestedString(definition.Object, "spec", "names", "plural")
	if err != nil {
		return err
	}
	for _, version := range versions {
		version, isMap := version.(map[string]any)
		if !isMap {
			return errors.New("a version is no object")
		}
		schema, _, err := unstructured.NestedMap(version, "schema", "openAPIV3Schema")
		if err != nil {
			return err
		}
		if schema == nil {
			return errors.New("a version has no schema")
		}
		openRoot(schema)
		if err := unstructured.SetNestedMap(version, schema, "schema", "openAPIV3Schema"); err != nil {
			return err
		}
		if slices.Contains(gainedStatus(), plural) {
			version["subresources"] = map[string]any{"status": map[string]any{}}
		}
	}
	return unstructured.SetNestedSlice(definition.Object, versions, "spec", "versions")
}

// openRoot opens the schema of a whole object. Its metadata is the API server's own, which allows no extension there.
func openRoot(schema map[string]any) {
	openSchema(schema)
	unstructured.RemoveNestedField(schema, "properties", "metadata", preserve)
}

// openSchema opens a schema and all below it. Maps (additionalProperties) name no fields, so there is nothing in themselves to
// open.
func openSchema(schema map[string]any) {
	entries, isMap := schema["additionalProperties"].(map[string]any)
	if isMap {
		openSchema(entries)
	} else if schema["type"] == "object" {
		schema[preserve] = true
	}
	properties, _ := schema["properties"].(map[string]any)
	for _, property := range properties {
		if property, isSchema := property.(map[string]any); isSchema {
			openSchema(property)
		}
	}
	if items, isSchema := schema["items"].(map[string]any); isSchema {
		openSchema(items)
	}
}
