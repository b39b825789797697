package oldest

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fields are those that objects have, as "Kind.path", without the places of items in lists, and without metadata, annotations and labels.
type fields map[string]bool

// fieldsOf returns the fields of all objects in a seed whose kinds are defined by CRDs that Gardener brings.
func fieldsOf(t *testing.T, c client.Client) fields {
	t.Helper()
	found := fields{}
	definitions := &apiextensionsv1.CustomResourceDefinitionList{}
	require.NoError(t, c.List(t.Context(), definitions))
	for _, definition := range definitions.Items {
		if !slices.Contains(groups(), definition.Spec.Group) {
			continue
		}
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{
			Group: definition.Spec.Group, Version: definition.Spec.Versions[0].Name, Kind: definition.Spec.Names.ListKind,
		})
		require.NoError(t, c.List(t.Context(), list))
		for _, item := range list.Items {
			content := maps.Clone(item.Object)
			for _, generic := range []string{"apiVersion", "kind", "metadata"} {
				delete(content, generic)
			}
			found.walk(item.GetKind(), content)
		}
	}
	return found
}

// groups are those of the kinds that a controller writes, or has written by gardener-resource-manager.
func groups() []string {
	return []string{
		"autoscaling.k8s.io", "extensions.gardener.cloud", "machine.sapcloud.io", "monitoring.coreos.com", "resources.gardener.cloud",
	}
}

func (f fields) walk(path string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range value {
			if name == "annotations" || name == "labels" {
				inner = nil // keys are as arbitrary as values
			}
			f.walk(path+"."+name, inner)
		}
	case []any:
		for _, inner := range value {
			f.walk(path+"[]", inner)
		}
	default:
		f[path] = true
	}
}

// of returns the fields of a kind, sorted.
func (f fields) of(prefix string) []string {
	var some []string
	for field := range f {
		if strings.HasPrefix(field, prefix) {
			some = append(some, field)
		}
	}
	slices.Sort(some)
	return some
}

// without returns what others have not, sorted.
func (f fields) without(others fields) []string {
	var missing []string
	for field := range f {
		if !others[field] {
			missing = append(missing, field)
		}
	}
	slices.Sort(missing)
	return missing
}

func TestFields(t *testing.T) {
	of := func(status map[string]any) fields {
		found := fields{}
		found.walk("Worker", map[string]any{"status": status})
		return found
	}
	full := of(map[string]any{
		"state": map[string]any{"key": "value"},
		"pools": []any{map[string]any{"name": "a"}, map[string]any{"name": "b", "labels": map[string]any{"c": "d"}}},
	})
	assert.Equal(t, []string{"Worker.status.pools[].labels", "Worker.status.pools[].name", "Worker.status.state.key"}, full.of("Worker.status."))
	pruned := of(map[string]any{"state": map[string]any{}, "pools": []any{map[string]any{"name": "e"}}})
	assert.Equal(t, []string{"Worker.status.pools[].labels", "Worker.status.state.key"}, full.without(pruned))
	assert.Empty(t, pruned.without(full))
}
