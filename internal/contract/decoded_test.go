package contract_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/internal/contract"
)

func TestDecodeOnce(t *testing.T) {
	calls := 0
	invalid := field.ErrorList{field.Required(field.NewPath("a"), "")}
	decode := func() (*int, field.ErrorList) {
		calls++
		return &calls, invalid
	}

	decoded := &contract.Decoded{}
	first, errs := contract.DecodeOnce(decoded, decode)
	assert.Equal(t, invalid, errs)
	again, errs := contract.DecodeOnce(decoded, decode)
	assert.Same(t, first, again)
	assert.Equal(t, invalid, errs)
	assert.Equal(t, 1, calls)

	contract.DecodeOnce(nil, decode)
	contract.DecodeOnce(nil, decode)
	assert.Equal(t, 3, calls, "without a Decoded nothing is held")

	other, errs := contract.DecodeOnce(decoded, func() (string, field.ErrorList) { return "other", nil })
	assert.Equal(t, "other", other)
	assert.Empty(t, errs)
}
