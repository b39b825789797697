package controlplane_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/internal/controlplane"
)

func TestReconcile_InvalidNewShoot(t *testing.T) {
	var refused, accepted atomic.Int32
	h := newHarness(t, &driver{validate: func(shoot *controlplane.Shoot) field.ErrorList {
		if !shoot.New {
			accepted.Add(1)
			return nil
		}
		refused.Add(1)
		return field.ErrorList{field.Required(field.NewPath("example"), "give one")}
	}}).Start()
	h.Deploy(v1beta1constants.GardenerOperationReconcile)
	eventually(t, func() bool { return refused.Load() >= 3 })
	assert.Zero(t, accepted.Load())
}

func TestReconcile_ShootBeingDeletedWithoutInfrastructureStatus(t *testing.T) {
	var incomplete atomic.Bool
	h := newHarness(t, &driver{planErr: func() error {
		if incomplete.Load() {
			return fmt.Errorf("%w: no subnet", controlplane.ErrInfrastructureIncomplete)
		}
		return nil
	}}).Start()
	h.Create()
	incomplete.Store(true)
	h.ChangeShoot(func(shoot *gardencorev1beta1.Shoot) { shoot.DeletionTimestamp = new(metav1.Now()) })
	h.RequestOperation(v1beta1constants.GardenerOperationReconcile)
	h.Succeeded()
	h.Delete()
	assert.Empty(t, h.Leftovers())
}

func TestReconcile_ShootBeingDeletedWithInvalidConfiguration(t *testing.T) {
	var refuses atomic.Bool
	h := newHarness(t, &driver{validate: func(*controlplane.Shoot) field.ErrorList {
		if refuses.Load() {
			return field.ErrorList{field.Required(field.NewPath("example"), "give one")}
		}
		return nil
	}}).Start()
	h.Create()
	refuses.Store(true)
	h.ChangeShoot(func(shoot *gardencorev1beta1.Shoot) { shoot.DeletionTimestamp = new(metav1.Now()) })
	h.RequestOperation(v1beta1constants.GardenerOperationReconcile)
	h.Succeeded()
	h.Delete()
	assert.Empty(t, h.Leftovers())
}
