package admission

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestTooLarge(t *testing.T) {
	sized := func(length int) *runtime.RawExtension {
		return &runtime.RawExtension{Raw: []byte(strings.Repeat("a", length))}
	}
	for sentence, test := range map[string]struct {
		document, old *runtime.RawExtension
		want          string
	}{
		"none":                                    {},
		"none where there was one":                {old: sized(11)},
		"the largest":                             {document: sized(10)},
		"a larger one":                            {document: sized(11), want: "spec.config: Too long: has 11 bytes and may have 10: shorten its lists and texts"},
		"a larger one that was there":             {document: sized(11), old: sized(11)},
		"a larger one in the place of another":    {document: sized(11), old: sized(12), want: "spec.config: Too long: has 11 bytes and may have 10: shorten its lists and texts"},
		"a larger one in the place of a good one": {document: sized(11), old: sized(10), want: "spec.config: Too long: has 11 bytes and may have 10: shorten its lists and texts"},
	} {
		t.Run(sentence, func(t *testing.T) {
			errs := TooLarge(test.document, test.old, 10, field.NewPath("spec", "config"))
			if test.want == "" {
				assert.Empty(t, errs)
				return
			}
			assert.EqualError(t, errs.ToAggregate(), test.want)
		})
	}
}
