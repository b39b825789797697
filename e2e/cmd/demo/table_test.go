package main

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
)

func TestRow(t *testing.T) {
	object := &extensionsv1alpha1.Infrastructure{}
	object.Name = "demo"
	assert.Equal(t, "  infrastructure/demo    -          Pending     ░░░░░░░░░░░░░░░░░░░░   0 %", rowOf(object))
	object.Status.LastOperation = &gardencorev1beta1.LastOperation{
		Type: gardencorev1beta1.LastOperationTypeCreate, State: gardencorev1beta1.LastOperationStateProcessing,
		Progress: 54, Description: "ensuring router",
	}
	assert.Equal(t, "  infrastructure/demo    Create     Processing  ██████████░░░░░░░░░░  54 %  ensuring router", rowOf(object))
}
