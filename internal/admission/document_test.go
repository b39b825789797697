package admission

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSetMember(t *testing.T) {
	for sentence, test := range map[string]struct{ document, want string }{
		"a member is added, and others are kept":  {`{"big":12345678901234567890,"kind":"A"}`, `{"big":12345678901234567890,"kind":"A","a":{"b":true}}`},
		"a member is replaced in its object":      {`{"a":{"b":false,"c":[1]}}`, `{"a":{"b":true,"c":[1]}}`},
		"null on the path becomes an object":      {`{"a":null}`, `{"a":{"b":true}}`},
		"an absent document becomes an object":    {``, `{"a":{"b":true}}`},
		"a document that is null becomes one too": {`null`, `{"a":{"b":true}}`},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := SetMember(json.RawMessage(test.document), true, "a", "b")
			require.NoError(t, err)
			assert.JSONEq(t, test.want, string(got))
		})
	}
	for sentence, document := range map[string]string{"a list has no members": `[]`, "a number on the path has none": `{"a":7}`} {
		t.Run(sentence, func(t *testing.T) {
			_, err := SetMember(json.RawMessage(document), true, "a", "b")
			assert.Error(t, err)
		})
	}
}
