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

func TestWhatIsRefusedForANewShootStaysRefused(t *testing.T) {
	var refused, accepted atomic.Int32
	s := newStage(t, &driver{validate: func(shoot *controlplane.Shoot) field.ErrorList {
		if !shoot.New {
			accepted.Add(1)
			return nil
		}
		refused.Add(1)
		return field.ErrorList{field.Required(field.NewPath("barn"), "give one")}
	}}).Start()
	s.Deploy(v1beta1constants.GardenerOperationReconcile)
	eventually(t, func() bool { return refused.Load() >= 3 })
	assert.Zero(t, accepted.Load())
}

func TestReconcile_ShootBeingDeletedWithoutInfrastructureStatus(t *testing.T) {
	var incomplete atomic.Bool
	s := newStage(t, &driver{planErr: func() error {
		if incomplete.Load() {
			return fmt.Errorf("%w: no subnet", controlplane.ErrInfrastructureIncomplete)
		}
		return nil
	}}).Start()
	s.Create()
	incomplete.Store(true)
	s.ChangeShoot(func(shoot *gardencorev1beta1.Shoot) { shoot.DeletionTimestamp = new(metav1.Now()) })
	s.Order(v1beta1constants.GardenerOperationReconcile)
	s.Succeeded()
	s.Delete()
	assert.Empty(t, s.Leftovers())
}

func TestAShootThatGoesNeedsNoValidConfiguration(t *testing.T) {
	var refuses atomic.Bool
	s := newStage(t, &driver{validate: func(*controlplane.Shoot) field.ErrorList {
		if refuses.Load() {
			return field.ErrorList{field.Required(field.NewPath("barn"), "give one")}
		}
		return nil
	}}).Start()
	s.Create()
	refuses.Store(true)
	s.ChangeShoot(func(shoot *gardencorev1beta1.Shoot) { shoot.DeletionTimestamp = new(metav1.Now()) })
	s.Order(v1beta1constants.GardenerOperationReconcile)
	s.Succeeded()
	s.Delete()
	assert.Empty(t, s.Leftovers())
}
