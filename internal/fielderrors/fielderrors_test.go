package fielderrors

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestError(t *testing.T) {
	assert.NoError(t, Error(nil))
	assert.EqualError(t, Error(field.ErrorList{field.Required(field.NewPath("zone"), "name one")}), "zone: Required value: name one")

	var many field.ErrorList
	long := strings.Repeat("ä", 100_000)
	for i := range 100_000 {
		many = append(many, field.Invalid(field.NewPath("zones").Index(i), long, "name another"))
	}
	reported := Error(many).Error()
	assert.Less(t, len(reported), 50_000)
	assert.Contains(t, reported, `zones[49]: Invalid value: "`+strings.Repeat("ä", 126)+` ...": name another`)
	assert.Contains(t, reported, "zones[50]: Invalid value: 99950 more errors from here on: correct the others first")
}
