package nova

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/cinder"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/schema"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

func TestValidate_Messages(t *testing.T) {
	rule := schema.Object([]string{"thing"}, schema.Attribute("thing", schema.Object([]string{"name"},
		schema.Attribute("name", schema.Name),
		schema.Attribute("size", cinder.VolumeSize),
		schema.Attribute("kinds", schema.AllOf(schema.ArrayOf(schema.OneOf("a", "b")), schema.LengthBetween(1, 2))),
		schema.Attribute("id", schema.AnyOf(schema.UUID, schema.HasType("null"))),
		schema.Attribute("on", schema.Boolean),
		schema.Attribute("metadata", metadataRule),
	)))
	for caseName, test := range map[string]struct{ body, want string }{
		"all is well":               {`{"thing": {"name": "n", "size": "2", "kinds": ["a"], "id": null, "on": "yes", "metadata": {"a.b": "c"}}}`, ""},
		"no JSON":                   {`{"thing"`, "The server could not comply with the request since it is either malformed or otherwise incorrect."},
		"nothing":                   {`{}`, "'thing' is a required property"},
		"something missing":         {`{"thing": {"size": 1}}`, "Invalid input for field/attribute thing. Value: {'size': 1}. 'name' is a required property"},
		"of another type":           {`{"thing": []}`, "Invalid input for field/attribute thing. Value: []. [] is not of type 'object'"},
		"a broken number":           {`{"thing": {"name": "n", "size": 1.5}}`, "Invalid input for field/attribute size. Value: 1.5. 1.5 is not of type 'integer', 'string'"},
		"a number too small":        {`{"thing": {"name": "n", "size": "0"}}`, "Invalid input for field/attribute size. Value: 0. 0 is less than the minimum of 1"},
		"deep in a list":            {`{"thing": {"name": "n", "kinds": ["a", "it's"]}}`, `Invalid input for field/attribute 1. Value: it's. "it's" is not one of ['a', 'b']`},
		"a list too long":           {`{"thing": {"name": "n", "kinds": ["a", "b", "a"]}}`, "Invalid input for field/attribute kinds. Value: ['a', 'b', 'a']. ['a', 'b', 'a'] is too long"},
		"neither this nor that":     {`{"thing": {"name": "n", "id": "x"}}`, "Invalid input for field/attribute id. Value: x. 'x' is not valid under any of the given schemas"},
		"what is not so":            {`{"thing": {"name": "n", "on": 1}}`, "Invalid input for field/attribute on. Value: 1. 1 is not of type 'boolean', 'string'"},
		"keys that are not allowed": {`{"thing": {"name": "n", "metadata": {"b/c": "", "a/b": ""}}}`, "Invalid input for field/attribute metadata. Value: {'b/c': '', 'a/b': ''}. 'a/b', 'b/c' do not match any of the regexes: '^[a-zA-Z0-9-_:. ]{1,255}$'"},
		"attributes too many":       {`{"thing": {"name": "n", "b": true, "a": null}}`, "Invalid input for field/attribute thing. Value: {'name': 'n', 'b': True, 'a': None}. Additional properties are not allowed ('b', 'a' were unexpected)"},
		"a name with spaces around": {`{"thing": {"name": " n"}}`, "An invalid 'name' value was provided. The name must be: printable characters. Can not start or end with whitespace."},
	} {
		t.Run(caseName, func(t *testing.T) {
			err := schema.Validate([]byte(test.body), rule)
			if test.want == "" {
				require.NoError(t, err)
				return
			}
			refusal, isRefusal := errors.AsType[*wire.Error](err)
			require.True(t, isRefusal, "%v", err)
			require.Equal(t, 400, refusal.Status)
			require.Equal(t, test.want, refusal.Message)
		})
	}
}

func TestPythonQuote(t *testing.T) {
	for text, want := range map[string]string{
		"plain": "'plain'", "it's": `"it's"`, `say "it's"`: `'say "it\'s"'`, "a\nb\\c": `'a\nb\\c'`, "": "''",
	} {
		require.Equal(t, want, schema.PythonRepr(text))
	}
}
