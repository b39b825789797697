package main

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
)

func TestRowOf(t *testing.T) {
	assert.Equal(t, "  infrastructure/demo    -          Pending     ░░░░░░░░░░░░░░░░░░░░   0 %", rowOf("infrastructure/demo", nil))
	assert.Equal(t, "  controlplane/demo      Create     Processing  ██████████░░░░░░░░░░  54 %  issuing certificates",
		rowOf("controlplane/demo", &gardencorev1beta1.LastOperation{
			Type: gardencorev1beta1.LastOperationTypeCreate, State: gardencorev1beta1.LastOperationStateProcessing,
			Progress: 54, Description: "issuing certificates",
		}))

	assert.Equal(t, "a gra…", cut("a grand tale", 6))
	assert.Equal(t, "short", cut("short", 5))
}

func TestChangedRows(t *testing.T) {
	assert.Equal(t, []string{"c"}, changedRows([]string{"a", "c"}, []string{"a", "b"}))
	assert.Empty(t, changedRows([]string{"", "b"}, []string{"a", "b"}), "what is gone says nothing")
	assert.Equal(t, []string{"a", "b"}, changedRows([]string{"a", "b"}, []string{"", ""}))
}
