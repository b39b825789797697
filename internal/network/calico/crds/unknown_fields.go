package crds

import (
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// preserveKey is the extension of a schema that keeps the API server from dropping fields which the schema does not name.
const preserveKey = "x-kubernetes-preserve-unknown-fields"

// kindsWithStatusSubresource lists the plurals of kinds whose status became a subresource after the release of the files: Calico writes it there, and
// would get "not found" otherwise.
func kindsWithStatusSubresource() []string {
	return []string{"kubecontrollersconfigurations"}
}

// preserveUnknownFields allows the fields of newer releases, wherever in an object they are. The API server drops unknown fields level by level, so
// opening only spec would lose the new fields of a rule or of a block's attributes.
func preserveUnknownFields(definition *unstructured.Unstructured) error {
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
		preserveInRoot(schema)
		if err := unstructured.SetNestedMap(version, schema, "schema", "openAPIV3Schema"); err != nil {
			return err
		}
		if slices.Contains(kindsWithStatusSubresource(), plural) {
			version["subresources"] = map[string]any{"status": map[string]any{}}
		}
	}
	return unstructured.SetNestedSlice(definition.Object, versions, "spec", "versions")
}

// preserveInRoot opens the schema of a whole object, except for its metadata, where the API server allows no extension.
func preserveInRoot(schema map[string]any) {
	preserveInSchema(schema)
	unstructured.RemoveNestedField(schema, "properties", "metadata", preserveKey)
}

// preserveInSchema opens a schema and all below it. Maps (additionalProperties) name no fields, so they are not opened themselves.
func preserveInSchema(schema map[string]any) {
	entries, isMap := schema["additionalProperties"].(map[string]any)
	if isMap {
		preserveInSchema(entries)
	} else if schema["type"] == "object" {
		schema[preserveKey] = true
	}
	properties, _ := schema["properties"].(map[string]any)
	for _, property := range properties {
		if property, isSchema := property.(map[string]any); isSchema {
			preserveInSchema(property)
		}
	}
	if items, isSchema := schema["items"].(map[string]any); isSchema {
		preserveInSchema(items)
	}
}
