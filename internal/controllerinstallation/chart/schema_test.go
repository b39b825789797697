package chart

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
)

func TestSchemaRefusesValues(t *testing.T) {
	for name, test := range map[string]struct {
		schema  string
		values  map[string]any
		message string
	}{
		"a value of a wrong type": {
			`{"properties": {"replicas": {"type": "integer"}}}`,
			map[string]any{"replicas": "many"},
			"values.replicas: got string, want integer",
		},
		"a missing value, far in": {
			`{"properties": {"image": {"required": ["tag"]}}}`, map[string]any{"image": map[string]any{}}, "values.image: missing property 'tag'",
		},
		"a missing value at the top": {`{"required": ["a", "b"]}`, nil, "values: missing properties 'a', 'b'"},
		"a misspelt value": {
			`{"additionalProperties": false, "properties": {"global": {}}}`,
			map[string]any{"replcas": 1, "imge": 2, "e": 3, "d": 4, "c": 5, "b": 6},
			"values: additional properties 'b', 'c', 'd', 'e', 'imge', 'replcas' not allowed",
		},
		"several, in an order": {
			`{"additionalProperties": {"type": "string"}}`,
			map[string]any{"c": 1, "a": 2, "b": true, "global": "x"},
			"values.a: got number, want string; values.b: got boolean, want string; values.c: got number, want string",
		},
		"an item of a list": {
			`{"properties": {"types": {"items": {"enum": ["openstack", "local"]}}}}`,
			map[string]any{"types": []any{"local", "aws"}},
			"values.types.1: value must be one of 'openstack', 'local'",
		},
		"a value that fits no alternative": {
			`{"properties": {"image": {"anyOf": [{"type": "string"}, {"properties": {"tag": {"type": "string"}}}]}}}`,
			map[string]any{"image": map[string]any{"tag": 1}},
			"values.image: 'anyOf' failed (got object, want string; values.image.tag: got number, want string)",
		},
		"a value that fits no alternative for many reasons": {
			`{"properties": {"image": {"oneOf": [{"additionalProperties": {"type": "string"}}]}}}`,
			map[string]any{"image": map[string]any{"d": 1, "b": 2, "a": 3, "c": 4}},
			"values.image: 'oneOf' failed, none matched (values.image.a: got number, want string; values.image.b: got number, want string; " +
				"values.image.c: got number, want string; values.image.d: got number, want string)",
		},
		"a value that fails by a definition": {
			`{"properties": {"a": {"$ref": "#/definitions/port"}}, "definitions": {"port": {"maximum": 65535}}}`,
			map[string]any{"a": 70000},
			"values.a: maximum: got 70,000, want 65,535",
		},
		"several wrongs of one object": {
			`{"properties": {"a": {"required": ["x"], "properties": {"y": {"type": "string"}}}}}`,
			map[string]any{"a": map[string]any{"y": 1}},
			"values.a.y: got number, want string; values.a: missing property 'x'",
		},
		"a name that is hard to write": {
			`{"properties": {"a": {"additionalProperties": {"type": "string"}}}}`,
			map[string]any{"a": map[string]any{`it's a~b/c\d "e"`: 1}},
			`values.a.it's a~b/c\d "e": got number, want string`,
		},
		"a schema with a name of its own": {
			`{"$id": "https://example.org/values", "properties": {"a": {"type": "string"}}}`, map[string]any{"a": 1}, "values.a: got number, want string",
		},
		"an old schema": {
			`{"$schema": "http://json-schema.org/draft-04/schema#", "properties": {"a": {"minimum": 5, "exclusiveMinimum": true}}}`,
			map[string]any{"a": 5},
			"values.a: exclusiveMinimum: got 5, want 5",
		},
		"nothing at all": {`false`, nil, "values: false schema"},
	} {
		t.Run(name, func(t *testing.T) {
			chart := load(t, map[string]string{"values.schema.json": test.schema})
			// What the validator keeps in maps comes in another order each time.
			for range 30 {
				_, err := chart.Render(release(), test.values)
				assertProblem(t, err, problem.ValuesInvalid, "chart example 0.1.0: "+test.message)
			}
		})
	}
}

func TestSchemasOfSubcharts(t *testing.T) {
	files := whole()
	files["charts/agent/values.schema.json"] = `{"properties": {"level": {"type": "integer"}}}`
	chart := load(t, files)

	_, err := chart.Render(release(), map[string]any{"replicas": 0, "second": map[string]any{"level": "x"}, "agent": map[string]any{"level": "x"}})
	assertProblem(t, err, problem.ValuesInvalid,
		"chart example 0.1.0: values.replicas: minimum: got 0, want 1; values.second.level: got string, want integer")
	_, err = chart.Render(release(), map[string]any{"agent": map[string]any{"level": "x", "enabled": true}})
	assertProblem(t, err, problem.ValuesInvalid, "chart example 0.1.0: values.agent.level: got string, want integer")
	_, err = chart.Render(release(), map[string]any{"second": map[string]any{"level": 1}})
	require.NoError(t, err)
}

func TestSchemaThatIsNone(t *testing.T) {
	elsewhere := func(target string) string {
		return "it refers to another document, " + target + ", which must be made a part of it"
	}
	for name, test := range map[string]struct{ schema, message string }{
		"no JSON":                           {`{"type": `, "it is no JSON: unexpected end of JSON input"},
		"a definition that is not there":    {`{"$ref": "#/definitions/a"}`, `json-pointer in "values.schema.json#/definitions/a" not found`},
		"a file":                            {`{"$ref": "file:///etc/hostname"}`, elsewhere("file:///etc/hostname")},
		"a file beside it":                  {`{"$ref": "common.json#/a"}`, elsewhere("common.json")},
		"a page in the Internet":            {`{"items": [{"$ref": "https://example.org/a#/b"}]}`, elsewhere("https://example.org/a")},
		"a schema of schemas":               {`{"$schema": "https://example.org/a"}`, elsewhere("https://example.org/a")},
		"a file that is made to look known": {`{"$id": "/etc/hostname", "$ref": "/etc/hostname"}`, elsewhere("/etc/hostname")},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, map[string]string{"values.schema.json": test.schema}).Render(release(), nil)
			assertProblem(t, err, problem.ChartCannotBeRendered, "chart example 0.1.0: example/values.schema.json: "+test.message)
		})
	}

	_, err := load(t, map[string]string{"values.schema.json": `{"type": "nonsense"}`}).Render(release(), nil)
	found, is := problem.In(err)
	require.True(t, is)
	assert.Equal(t, problem.ChartCannotBeRendered, found.Reason)
	assert.Contains(t, found.Message, `chart example 0.1.0: example/values.schema.json: "values.schema.json#" is not valid against metaschema: `)
	assert.NotContains(t, found.Message, "file://")
	assert.NotContains(t, found.Message, "\n")
}

func TestSchemaMayReferToItsParts(t *testing.T) {
	for name, schema := range map[string]string{
		"by its place":           `{"$ref": "#/$defs/a", "$defs": {"a": {"required": ["x"]}}}`,
		"by its anchor":          `{"$ref": "#a", "$defs": {"a": {"$anchor": "a", "required": ["x"]}}}`,
		"by its name":            `{"$ref": "https://example.org/a#", "$defs": {"a": {"$id": "https://example.org/a", "required": ["x"]}}}`,
		"and to what is known":   `{"$schema": "https://json-schema.org/draft/2019-09/schema", "required": ["x"]}`,
		"and to it by old names": `{"$schema": "http://json-schema.org/schema#", "required": ["x"]}`,
		"and to nobody's":        `{"allOf": [{"$ref": "urn:example:nobody"}], "required": ["x"]}`,
		"and mention references": `{"properties": {"$ref": {"type": "string"}}, "required": ["x"]}`,
	} {
		t.Run(name, func(t *testing.T) {
			chart := load(t, map[string]string{"values.schema.json": schema})
			_, err := chart.Render(release(), map[string]any{"x": 1})
			require.NoError(t, err)
			_, err = chart.Render(release(), nil)
			found, is := problem.In(err)
			require.True(t, is, "%v", err)
			assert.Equal(t, problem.ValuesInvalid, found.Reason)
			assert.Contains(t, found.Message, "missing property 'x'")
		})
	}
}

// The validator may one day say it otherwise: then all of it is handed on.
func TestSentencesOfAnUnknownList(t *testing.T) {
	assert.Equal(t, []string{"values: something else is wrong"}, sentences("something\n  else is wrong\n", "values"))
	assert.Equal(t, []string{"values: - at 'unfinished"}, sentences("- at 'unfinished\n", "values"))
}

func TestMessagesKeepValuesToThemselves(t *testing.T) {
	chart := load(t, map[string]string{"values.schema.json": `{"$schema": "https://json-schema.org/draft/2020-12/schema", "properties": {
		"password": {"type": "string", "pattern": "^[a-z]+$"}}}`})
	_, err := chart.Render(release(), map[string]any{"password": "it's ' does not match pattern 7"})
	found, isProblem := problem.In(err)
	require.True(t, isProblem, "%v", err)
	assert.Contains(t, found.Message, "password: the value does not match pattern")
	assert.NotContains(t, found.Message, "it's")
}
