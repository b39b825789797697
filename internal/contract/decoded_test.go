package contract_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/internal/contract"
)

func TestDecodeOnce(t *testing.T) {
	calls := 0
	decode := func() *int {
		calls++
		return &calls
	}

	decoded := &contract.Decoded{}
	first := contract.DecodeOnce(decoded, decode)
	assert.Same(t, first, contract.DecodeOnce(decoded, decode))
	assert.Equal(t, 1, calls)

	contract.DecodeOnce(nil, decode)
	contract.DecodeOnce(nil, decode)
	assert.Equal(t, 3, calls, "without a Decoded nothing is held")

	assert.Equal(t, "other", contract.DecodeOnce(decoded, func() string { return "other" }))
}
