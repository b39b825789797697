package chart

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
)

func TestRender_InvalidObjects(t *testing.T) {
	for name, test := range map[string]struct{ output, message string }{
		"a text":                       {"hello", "its output is no object but of type string"},
		"a list":                       {"- a\n- b\n", "its output is no object but of type array"},
		"a list after an object":       {"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\n[a]\n", "its output is no object but of type array"},
		"no YAML":                      {"kind: Pod\nspec: {\n", "its output is no YAML: yaml: line 2: did not find expected node content"},
		"metadata that is a text":      {"apiVersion: v1\nkind: Pod\nmetadata: a\n", "in its output is an object whose metadata is of type string"},
		"an object without kind":       {"apiVersion: v1\nmetadata: {name: a}\n", "in its output is an object without kind"},
		"an object without apiVersion": {"kind: Pod\nmetadata: {name: a}\n", "in its output is an object of kind Pod without apiVersion"},
		"an object without metadata":   {"apiVersion: v1\nkind: Pod\n", "in its output is an object of kind Pod without metadata.name"},
		"an object without name":       {"apiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}\n", "in its output is an object of kind Pod without metadata.name"},
		"an object with an empty name": {"apiVersion: v1\nkind: Pod\nmetadata: {name: ''}\n", "in its output is an object of kind Pod without metadata.name"},
		"a name that is a number":      {"apiVersion: v1\nkind: Pod\nmetadata: {name: 1}\n", "in its output is an object of kind Pod with a metadata.name that is no string"},
		"a List":                       {"apiVersion: v1\nkind: List\nitems: []\n", "in its output is a List: write its items as documents of their own"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, map[string]string{
				"templates/b.yaml": test.output,
				"templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: good}\n",
			}).Render(release(), nil)
			assertProblem(t, err, problem.ChartCannotBeRendered, "chart example 0.1.0: example/templates/b.yaml: "+test.message)
		})
	}
}

// Whatever becomes of an object later, numbers that are whole stay whole.
func TestRender_Numbers(t *testing.T) {
	objects, err := load(t, map[string]string{
		"templates/a.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {large: 9007199254740993, whole: 5, half: 0.5, text: '5'}\n",
	}).Render(release(), nil)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"large": int64(9007199254740993), "whole": int64(5), "half": 0.5, "text": "5"}, objects[0].Object["spec"])
	assert.NotPanics(t, func() { objects[0].DeepCopy() })
}
