package chart

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// objects decodes the output of templates, except for files that are not installed.
func (c *Chart) objects(files map[string]string) ([]*unstructured.Unstructured, error) {
	maps.DeleteFunc(files, func(file, _ string) bool {
		return strings.HasSuffix(file, "NOTES.txt") || strings.HasPrefix(path.Base(file), "_")
	})
	_, manifests, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	if err != nil {
		return nil, c.explainSortError(files, err)
	}
	var objects []*unstructured.Unstructured
	for _, manifest := range manifests {
		object, err := decode(manifest.Content)
		if err != nil {
			return nil, c.renderProblem("%s: %v", manifest.Name, err)
		}
		if object != nil {
			objects = append(objects, object)
		}
	}
	return objects, nil
}

// explainSortError names the template with an object whose apiVersion and kind Helm could not decode. Helm names it only in the text of its error.
func (c *Chart) explainSortError(files map[string]string, all error) error {
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if _, _, err := releaseutil.SortManifests(map[string]string{file: files[file]}, nil, releaseutil.InstallOrder); err != nil {
			return c.renderProblem("%s: %v", file, explainOutputError(err))
		}
	}
	return c.renderProblem("%v", all)
}

func explainOutputError(err error) error {
	var wrong *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &wrong):
		for inner := err; inner != nil; inner = errors.Unwrap(inner) {
			err = inner
		}
		return fmt.Errorf("its output is no YAML: %w", err)
	case wrong.Field == "":
		return fmt.Errorf("its output is no object but of type %s", wrong.Value)
	}
	return fmt.Errorf("in its output is an object whose %s is of type %s", wrong.Field, wrong.Value)
}

// decode returns nil for a document that is empty or has comments only. Like gardener-resource-manager, it uses the last of two equal keys.
func decode(content string) (*unstructured.Unstructured, error) {
	document, err := yaml.YAMLToJSON([]byte(content))
	if err != nil {
		return nil, explainOutputError(err)
	}
	object := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(document, &object.Object); err != nil {
		return nil, explainOutputError(err)
	}
	if len(object.Object) == 0 {
		return nil, nil
	}
	return object, validateObject(object)
}

// validateObject checks that an object can be identified. gardener-resource-manager does not expand Lists.
func validateObject(object *unstructured.Unstructured) error {
	if strings.HasSuffix(object.GetKind(), "List") && object.IsList() {
		return errors.New("in its output is a List: write its items as documents of their own")
	}
	what := "an object"
	if kind := object.GetKind(); kind != "" {
		what = "an object of kind " + kind
	}
	for _, field := range [][]string{{"kind"}, {"apiVersion"}, {"metadata", "name"}} {
		name := strings.Join(field, ".")
		value, _, err := unstructured.NestedFieldNoCopy(object.Object, field...)
		text, isText := value.(string)
		switch {
		case err != nil || value != nil && !isText:
			return fmt.Errorf("in its output is %s with a %s that is no string", what, name)
		case text == "":
			return fmt.Errorf("in its output is %s without %s", what, name)
		}
	}
	return nil
}
