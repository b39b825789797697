package quantities

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestCheck(t *testing.T) {
	for text, plausible := range map[string]bool{
		"": true, "4": true, "500m": true, "16Gi": true, "1E": true, "1Ei": true, "-2": true, "1e3": true, "1.5E-3": true, "1e+99": true, "1e0007": true,
		"abc":          true, // which is no amount, and the parser says so
		"1e100":        false,
		"1e2147483647": false, "1e-2147483640": false, "1.5E+2147483640": false, "-1e99999999999": false,
		strings.Repeat("9", 64): true, strings.Repeat("9", 65): false,
	} {
		t.Run(text, func(t *testing.T) {
			err := Check(text)
			assert.Equal(t, plausible, err == nil, err)
			if err == nil {
				if quantity, err := resource.ParseQuantity(text); err == nil {
					quantity.Cmp(resource.MustParse("5"))
				}
			}
		})
	}
}

func TestCheckIn(t *testing.T) {
	const complaint = `there is nothing of which anybody has "1e999": give an amount like 4, 500m or 16Gi`
	for sentence, test := range map[string]struct{ document, want string }{
		"none":                              {document: `{}`},
		"good ones":                         {document: `{"capacity":{"cpu":"4","memory":1e3}}`},
		"one in quotes":                     {document: `{"capacity":{"cpu":"1e999"}}`, want: complaint},
		"one without":                       {document: `{"capacity":{"cpu":1e999}}`, want: complaint},
		"one that another takes over":       {document: `{"capacity":{"cpu":"1e999"},"capacity":{"cpu":"1"}}`, want: complaint},
		"one beside something of no shape":  {document: `{"capacity":[],"capacity":{"cpu":"1e999"}}`, want: complaint},
		"a text elsewhere":                  {document: `{"name":"1e999"}`},
		"what is no document":               {document: `{"capacity":`},
		"what is nothing in place of a map": {document: `{"capacity":null}`},
	} {
		t.Run(sentence, func(t *testing.T) {
			var shape struct{ Capacity map[string]Quantity }
			err := CheckIn([]byte(test.document), &shape)
			if test.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.EqualError(t, err, test.want)
		})
	}
}
