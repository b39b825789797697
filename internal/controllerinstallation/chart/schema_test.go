package chart

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
)

func TestSchema_InvalidValues(t *testing.T) {
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
			"values.a: must be at most 65535",
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
			"values.a: must be more than 5",
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

func TestSchema_Subcharts(t *testing.T) {
	files := fullChart()
	files["charts/agent/values.schema.json"] = `{"properties": {"level": {"type": "integer"}}}`
	chart := load(t, files)

	_, err := chart.Render(release(), map[string]any{"replicas": 0, "second": map[string]any{"level": "x"}, "agent": map[string]any{"level": "x"}})
	assertProblem(t, err, problem.ValuesInvalid,
		"chart example 0.1.0: values.replicas: must be at least 1; values.second.level: got string, want integer")
	_, err = chart.Render(release(), map[string]any{"agent": map[string]any{"level": "x", "enabled": true}})
	assertProblem(t, err, problem.ValuesInvalid, "chart example 0.1.0: values.agent.level: got string, want integer")
	_, err = chart.Render(release(), map[string]any{"second": map[string]any{"level": 1}})
	require.NoError(t, err)
}

func TestSchema_Invalid(t *testing.T) {
	elsewhere := func(target string) string {
		return "it refers to another document, " + target + ", which must be made a part of it"
	}
	for name, test := range map[string]struct{ schema, message string }{
		"no JSON":                        {`{"type": `, "it is no JSON: unexpected EOF"},
		"a definition that is not there": {`{"$ref": "#/definitions/a"}`, `json-pointer in "values.schema.json#/definitions/a" not found`},
		"a file":                         {`{"$ref": "file:///etc/hostname"}`, elsewhere("file:///etc/hostname")},
		"a file beside it":               {`{"$ref": "common.json#/a"}`, elsewhere("common.json")},
		"a page in the Internet":         {`{"allOf": [{"$ref": "https://example.org/a#/b"}]}`, elsewhere("https://example.org/a")},
		"a schema of schemas":            {`{"$schema": "https://example.org/a"}`, elsewhere("https://example.org/a")},
		"a file of a host":               {`{"$ref": "/etc/hostname"}`, elsewhere("etc/hostname")},
		"a draft that is not there":      {`{"$ref": "https://json-schema.org/draft-99/schema"}`, elsewhere("https://json-schema.org/draft-99/schema")},
		"a page beside the drafts":       {`{"$schema": "http://json-schema.org/a"}`, elsewhere("http://json-schema.org/a")},
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

func TestSchema_LocalReferences(t *testing.T) {
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

func TestSchema_RemoteReferences(t *testing.T) {
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		_, _ = io.WriteString(answer, `{"secret": "what only this process may read"}`)
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "a.json")
	require.NoError(t, os.WriteFile(file, []byte("what only this process may read"), 0o600))

	for name, schema := range map[string]string{
		"an $id inside a value that is no schema":       `{"default": {"$id": "%[1]s/x"}, "$ref": "%[1]s/x"}`,
		"an $id inside a list of allowed values":        `{"enum": [{"$id": "%[1]s/x"}], "$ref": "%[1]s/x"}`,
		"an $id of an unknown keyword":                  `{"x-docs": {"$id": "%[1]s/x"}, "$ref": "%[1]s/x"}`,
		"an $id that names the whole schema, and a ref": `{"$id": "%[1]s/x/", "$ref": "y"}`,
		"a reference in the properties":                 `{"properties": {"a": {"$dynamicRef": "%[1]s/x#y"}}}`,
		"a schema of schemas":                           `{"$schema": "%[1]s/x", "$id": "%[1]s/y"}`,
		"a schema of schemas below":                     `{"$defs": {"a": {"$id": "b:c", "$schema": "%[1]s/x"}}, "$ref": "b:c"}`,
		"a file":                                        `{"default": {"$id": "file://%[2]s"}, "$ref": "file://%[2]s"}`,
		"an old id":                                     `{"$schema": "http://json-schema.org/draft-04/schema#", "default": {"id": "%[1]s/x"}, "allOf": [{"$ref": "%[1]s/x"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			schema := strings.NewReplacer("%[1]s", server.URL, "%[2]s", file).Replace(schema)
			for where, files := range map[string]map[string]string{
				"the chart":  {"values.schema.json": schema},
				"a subchart": {"charts/one/Chart.yaml": "apiVersion: v2\nname: one\nversion: 0.1.0\n", "charts/one/values.schema.json": schema},
			} {
				_, err := load(t, files).Render(release(), map[string]any{"one": map[string]any{"a": 1}})
				found, is := problem.In(err)
				require.True(t, is, "%s: %v", where, err)
				assert.Equal(t, problem.ChartCannotBeRendered, found.Reason)
				assert.Contains(t, found.Message, "values.schema.json: it refers to another document, ")
				assert.NotContains(t, found.Message, "what only this process may read")
			}
		})
	}
	assert.Zero(t, requests.Load(), "nobody is asked")
}

func TestSchema_MessagesContainNoValues(t *testing.T) {
	const draft7 = `"$schema": "http://json-schema.org/draft-07/schema#"`
	for name, test := range map[string]struct {
		schema, wantText string
		value            any
		secret           string
	}{
		"a pattern":              {`{"pattern": "^[a-z]+$"}`, "the value does not match pattern '^[a-z]+$'", "it's ' does not match pattern 7", "it's"},
		"a format":               {`{` + draft7 + `, "format": "ipv4"}`, "the value is not valid ipv4", "hunter2", "hunter2"},
		"a format with a reason": {`{` + draft7 + `, "format": "uri"}`, "the value is not valid uri", "http://hunter2:%zz is not valid uri", "hunter2"},
		"a format of words":      {`{` + draft7 + `, "format": "email"}`, "the value is not valid email", "hunter2 is not valid email: hunter2", "hunter2"},
		"a regex":                {`{` + draft7 + `, "format": "regex"}`, "the value is not valid regex", "hunter2(", "hunter2"},
		"a minimum":              {`{"minimum": 90000}`, "must be at least 90000", 4711, "4"},
		"a maximum":              {`{"maximum": 1.5}`, "must be at most 1.5", 4711, "4"},
		"a bound":                {`{"exclusiveMaximum": 10}`, "must be less than 10", 4711, "4"},
		"a multiple":             {`{"multipleOf": 10}`, "must be a multiple of 10", 4711, "4"},
		"a length":               {`{"minLength": 30}`, "must have at least 30 characters", "hunter2", "7"},
		"another length":         {`{"maxLength": 3}`, "must have at most 3 characters", "hunter2", "7"},
		"an alternative":         {`{"anyOf": [{"pattern": "^a"}, {"const": "b"}]}`, "'anyOf' failed (the value does not match pattern '^a'; value must be 'b')", "hunter2", "hunter2"},
	} {
		t.Run(name, func(t *testing.T) {
			schema := `{"properties": {"key": ` + test.schema + `}}`
			if strings.Contains(test.schema, "$schema") {
				schema = `{` + draft7 + `, "properties": {"key": ` + strings.Replace(test.schema, draft7+", ", "", 1) + `}}`
			}
			_, err := load(t, map[string]string{"values.schema.json": schema}).Render(release(), map[string]any{"key": test.value})
			assertProblem(t, err, problem.ValuesInvalid, "chart example 0.1.0: values.key: "+test.wantText)
			assert.NotContains(t, strings.TrimPrefix(err.Error(), "chart example 0.1.0"), test.secret)
		})
	}
}
