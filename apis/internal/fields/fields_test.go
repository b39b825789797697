package fields_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/internal/fields"
)

func TestParseRange(t *testing.T) {
	for text, want := range map[string]string{
		"10.250.0.0/16":     "",
		"2001:db8::/64":     "",
		"10.250.0.1/16":     `x: Invalid value: "10.250.0.1/16": is not in canonical form: write 10.250.0.0/16`,
		"10.250.0.0":        `x: Invalid value: "10.250.0.0": give a range in CIDR notation, like 10.250.0.0/16 or 2001:db8::/64`,
		"::ffff:1.2.3.0/96": `x: Invalid value: "::ffff:1.2.3.0/96": give a range in CIDR notation, like 10.250.0.0/16 or 2001:db8::/64`,
	} {
		t.Run(text, func(t *testing.T) {
			prefix, errs := fields.ParseRange(text, field.NewPath("x"))
			if want == "" {
				assert.Empty(t, errs)
				assert.Equal(t, text, prefix.String())
				return
			}
			assert.EqualError(t, errs.ToAggregate(), want)
		})
	}
}

func TestRestore(t *testing.T) {
	assert.Equal(t, "remove the field", fields.Restore((*string)(nil)))
	assert.Equal(t, "remove the field", fields.Restore(""))
	assert.Equal(t, `set it back to ["a"]`, fields.Restore([]string{"a"}))
}

func TestIPv4Range(t *testing.T) {
	assert.Equal(t, "10.0.0.0/8", fields.IPv4Range(new("10.1.0.0/8")).String())
	assert.False(t, fields.IPv4Range(nil).IsValid())
	assert.False(t, fields.IPv4Range(new("2001:db8::/64")).IsValid())
}
