package ratcheting

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestIntroduced(t *testing.T) {
	path := field.NewPath("versions")
	first, second := field.Invalid(path.Index(0).Child("id"), "x", "give a UUID"), field.Invalid(path.Index(1).Child("id"), "x", "give a UUID")
	another := field.Invalid(path.Index(0).Child("id"), "y", "give a UUID")
	missing := field.Required(path.Key("a"), "give one")
	unknown := func(name string) *field.Error {
		return field.Invalid(path, field.OmitValueType{}, `unknown field "`+name+`": correct the name`)
	}
	for sentence, test := range map[string]struct{ before, after, want field.ErrorList }{
		"nothing was there":                           {after: field.ErrorList{first}, want: field.ErrorList{first}},
		"everything was there":                        {before: field.ErrorList{first, missing}, after: field.ErrorList{missing, first}},
		"an error is corrected":                       {before: field.ErrorList{first, missing}, after: field.ErrorList{missing}},
		"another value is another error":              {before: field.ErrorList{first}, after: field.ErrorList{another}, want: field.ErrorList{another}},
		"an entry moves up":                           {before: field.ErrorList{second}, after: field.ErrorList{first}},
		"a second entry makes the error of the first": {before: field.ErrorList{first}, after: field.ErrorList{first, second}, want: field.ErrorList{second}},
		"the value of another field changes":          {before: field.ErrorList{field.Invalid(path, "x", "overlaps pods (10.0.0.0/8)")}, after: field.ErrorList{field.Invalid(path, "x", "overlaps pods (10.0.0.0/9)")}},
		"what may be chosen changes":                  {before: field.ErrorList{field.Invalid(path, "x", `choose one of "a", "b\"c"`)}, after: field.ErrorList{field.Invalid(path, "x", `choose one of "a"`)}},
		"what is required is named in the words": {
			before: field.ErrorList{field.Required(path, `give one for "a" (new)`)}, after: field.ErrorList{field.Required(path, `give one for "b" (new)`)},
			want: field.ErrorList{field.Required(path, `give one for "b" (new)`)},
		},
		"one of two unknown fields is corrected": {before: field.ErrorList{unknown("a"), unknown("b")}, after: field.ErrorList{unknown("b")}},
		"an unknown field makes way for another": {before: field.ErrorList{unknown("a")}, after: field.ErrorList{unknown("b")}, want: field.ErrorList{unknown("b")}},
		"a list of values is no value that can be compared": {
			before: field.ErrorList{field.Invalid(path, []string{"x"}, "give another")}, after: field.ErrorList{field.Invalid(path, []string{"x"}, "give another")},
		},
		"a key in brackets is no position": {before: field.ErrorList{field.Required(path.Key("b"), "give one")}, after: field.ErrorList{missing}, want: field.ErrorList{missing}},
	} {
		t.Run(sentence, func(t *testing.T) { assert.Equal(t, test.want, Introduced(test.before, test.after)) })
	}
	assert.Equal(t, []string{"b"}, IntroducedWarnings([]string{"a"}, []string{"a", "b"}))
}

func TestIntroduced_ListIndices(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a[0].b[12]": "a.b", "a[": "a[", "a[1": "a[1", "a[b]": "a[b]", "a[]": "a[]", "[[3]]": "[]",
	} {
		assert.Equal(t, want, withoutPositions(text))
	}
}
