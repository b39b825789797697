package chart

import (
	"archive/tar"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
)

func TestLoad_Invalid(t *testing.T) {
	const noChart = "the archive holds no chart that Helm can load: "
	for name, test := range map[string]struct {
		files   map[string]string
		message string
	}{
		"a chart without a version": {map[string]string{"Chart.yaml": "name: example\n"}, noChart + "validation: chart.metadata.version is required"},
		"a chart with another chart's name": {
			map[string]string{"Chart.yaml": "name: ../example\nversion: 0.1.0\n"}, noChart + `validation: chart.metadata.name "../example" is invalid`,
		},
		"a subchart that is none": {
			map[string]string{"charts/agent/values.yaml": "a: b"}, noChart + "error unpacking subchart agent in example: Chart.yaml file is missing",
		},
		"a subchart that is no archive": {
			map[string]string{"charts/agent.tgz": "hello"}, noChart + "error unpacking subchart agent.tgz in example: unexpected EOF",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load(pack(t, test.files))
			assertProblem(t, err, problem.ChartInformationInvalid, test.message)
		})
	}

	_, err := Load(gzipped(t, func(archive *tar.Writer) {
		require.NoError(t, archive.WriteHeader(&tar.Header{Name: "example/values.yaml", Mode: 0o644}))
	}))
	assertProblem(t, err, problem.ChartInformationInvalid, noChart+"Chart.yaml file is missing")
}

func TestRender_Problems(t *testing.T) {
	for name, test := range map[string]struct {
		files           map[string]string
		values          map[string]any
		reason, message string
	}{
		"a value that templates need and that is not there": {
			files:  map[string]string{"templates/a.yaml": "\nkind: {{ .Values.image.tag.name }}"},
			reason: problem.ChartCannotBeRendered,
			message: `chart example 0.1.0: example/templates/a.yaml:2:16: executing "example/templates/a.yaml" at <.Values.image.tag.name>: ` +
				`nil pointer evaluating interface {}.tag`,
		},
		"a value that the chart requires": {
			files:   map[string]string{"templates/a.yaml": `kind: {{ required "image.tag is required: set it" .Values.tag }}`},
			reason:  problem.ChartCannotBeRendered,
			message: "chart example 0.1.0: example/templates/a.yaml:1:9: image.tag is required: set it",
		},
		"a chart that fails by itself, in several lines": {
			files:   map[string]string{"templates/a.yaml": `{{ fail "not\n  like (this): never" }}`},
			reason:  problem.ChartCannotBeRendered,
			message: "chart example 0.1.0: example/templates/a.yaml:1:3: not like (this): never",
		},
		"a template that is none": {
			files:   map[string]string{"templates/a.yaml": "\n\n{{ unknown }}"},
			reason:  problem.ChartCannotBeRendered,
			message: `chart example 0.1.0: example/templates/a.yaml:3: function "unknown" not defined`,
		},
		"a partial that fails": {
			files: map[string]string{
				"templates/_b.tpl": "{{ define \"b\" }}\n{{ .Values.x.y.z }}{{ end }}", "templates/a.yaml": `{{ include "b" . }}`,
			},
			reason: problem.ChartCannotBeRendered,
			message: `chart example 0.1.0: example/templates/a.yaml:1:3: executing "example/templates/a.yaml" at <include "b" .>: error calling include: ` +
				`example/templates/_b.tpl:2:10: executing "b" at <.Values.x.y.z>: nil pointer evaluating interface {}.y`,
		},
		"a function that fails": {
			files:  map[string]string{"templates/a.yaml": `{{ index .Values.list 5 }}`},
			values: map[string]any{"list": []any{}}, reason: problem.ChartCannotBeRendered,
			message: `chart example 0.1.0: example/templates/a.yaml:1:3: executing "example/templates/a.yaml" at <index .Values.list 5>: ` +
				`error calling index: index out of range: 5`,
		},
		"values that cannot be written as JSON": {
			files: map[string]string{}, values: map[string]any{"a": func() {}}, reason: problem.ValuesInvalid,
			message: "chart example 0.1.0: values are no JSON: json: unsupported type: func()",
		},
		"a value for a subchart that is no object": {
			files: fullChart(), values: map[string]any{"second": []any{"x"}}, reason: problem.ValuesInvalid,
			message: "chart example 0.1.0: values.second is for a subchart and must be an object, not a list",
		},
		"a value for a subchart of a subchart that is no object": {
			files: map[string]string{
				"charts/one/Chart.yaml":            "apiVersion: v2\nname: one\nversion: 0.1.0\n",
				"charts/one/charts/two/Chart.yaml": "apiVersion: v2\nname: two\nversion: 0.1.0\n",
			},
			values: map[string]any{"one": map[string]any{"two": true}}, reason: problem.ValuesInvalid,
			message: "chart example 0.1.0: values.one.two is for a subchart and must be an object, not a boolean",
		},
		"values of the chart that don't fit its own subchart": {
			files: map[string]string{
				"values.yaml": "one: x", "charts/one/Chart.yaml": "apiVersion: v2\nname: one\nversion: 0.1.0\n",
			},
			reason:  problem.ChartCannotBeRendered,
			message: "chart example 0.1.0: its own values don't fit its subcharts: type mismatch on one: %!t(string=x)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			objects, err := load(t, test.files).Render(release(), test.values)
			assertProblem(t, err, test.reason, test.message)
			assert.Empty(t, objects)
		})
	}
}

func TestShort(t *testing.T) {
	endless := map[string]string{"templates/_a.tpl": `{{ define "a" }}{{ include "a" . }}{{ end }}`, "templates/a.yaml": `{{ include "a" . }}`}
	_, err := load(t, endless).Render(release(), nil)
	found, is := problem.In(err)
	require.True(t, is)
	message := Short(found.Message)
	assert.Less(t, len(message), maxMessage+10)
	assert.Contains(t, message, "chart example 0.1.0: example/templates/a.yaml:1:3: ")
	assert.Contains(t, message, " ... ")
	assert.Contains(t, message, "rendering template has a nested reference name: a: ")
}
