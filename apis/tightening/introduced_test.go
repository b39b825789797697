package tightening

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestOnlyWhatAChangeBringsInIsItsMistake(t *testing.T) {
	path := field.NewPath("versions")
	first, second := field.Invalid(path.Index(0).Child("id"), "x", "give a UUID"), field.Invalid(path.Index(1).Child("id"), "x", "give a UUID")
	another := field.Invalid(path.Index(0).Child("id"), "y", "give a UUID")
	missing := field.Required(path.Key("a"), "give one")
	for sentence, test := range map[string]struct{ before, after, want field.ErrorList }{
		"nothing was there":                             {after: field.ErrorList{first}, want: field.ErrorList{first}},
		"everything was there":                          {before: field.ErrorList{first, missing}, after: field.ErrorList{missing, first}},
		"a mistake is corrected":                        {before: field.ErrorList{first, missing}, after: field.ErrorList{missing}},
		"another value is another mistake":              {before: field.ErrorList{first}, after: field.ErrorList{another}, want: field.ErrorList{another}},
		"an entry moves up":                             {before: field.ErrorList{second}, after: field.ErrorList{first}},
		"a second entry makes the mistake of the first": {before: field.ErrorList{first}, after: field.ErrorList{first, second}, want: field.ErrorList{second}},
		"a key in brackets is no position":              {before: field.ErrorList{field.Required(path.Key("b"), "give one")}, after: field.ErrorList{missing}, want: field.ErrorList{missing}},
	} {
		t.Run(sentence, func(t *testing.T) { assert.Equal(t, test.want, Introduced(test.before, test.after)) })
	}
	assert.Equal(t, []string{"b"}, IntroducedWarnings([]string{"a"}, []string{"a", "b"}))
}

func TestPositions(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a[0].b[12]": "a.b", "a[": "a[", "a[1": "a[1", "a[b]": "a[b]", "a[]": "a[]", "[[3]]": "[]",
	} {
		assert.Equal(t, want, withoutPositions(text))
	}
}
