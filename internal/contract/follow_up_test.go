package contract_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract"
)

const (
	waiting  = `{"half":"one"}`
	complete = `{"half":"both"}`
)

// newFollowUpEnvironment returns a contract that does a part of its work at once and the rest when due is true.
func newFollowUpEnvironment(t *testing.T, due *atomic.Bool, checks *atomic.Int32) *environment {
	t.Helper()
	s := newEnvironment(t, &actuator{})
	s.actuator.reconcile = func(_ context.Context, p *reconciliation) error {
		report := waiting
		if due.Load() {
			report = complete
		}
		p.Object.Status.ProviderStatus = &runtime.RawExtension{Raw: []byte(report)}
		return nil
	}
	s.contract.FollowUp = &contract.FollowUp[*object]{
		Interval: 20 * time.Millisecond,
		Required: func(o *object) bool {
			return o.Status.ProviderStatus != nil && string(o.Status.ProviderStatus.Raw) == waiting
		},
		Due: func(context.Context, client.Reader, *object) (bool, error) {
			checks.Add(1)
			return due.Load(), nil
		},
	}
	return s
}

func TestFollowUp(t *testing.T) {
	isComplete := func(o *object) error {
		return errorUnless(o.Status.ProviderStatus != nil && string(o.Status.ProviderStatus.Raw) == complete &&
			o.Status.LastOperation.State == gardencorev1beta1.LastOperationStateSucceeded, "not complete yet")
	}
	checkedAtLeast := func(checks *atomic.Int32, times int32) func() bool {
		return func() bool { return checks.Load() >= times }
	}
	t.Run("it is looked for without a write until it is due, and then one more pass runs", func(t *testing.T) {
		var due atomic.Bool
		var checks atomic.Int32
		s := newFollowUpEnvironment(t, &due, &checks)
		s.run()
		s.deploy(v1beta1constants.GardenerOperationReconcile)
		before := s.ready()
		require.Eventually(t, checkedAtLeast(&checks, 3), 10*time.Second, 5*time.Millisecond)
		assert.Equal(t, before.ResourceVersion, s.get().ResourceVersion)
		due.Store(true)
		s.wait(isComplete)
		assert.Equal(t, []string{"reconcile Create", "reconcile Reconcile"}, s.actuator.recordedCalls())
	})
	t.Run("it survives the end of the process", func(t *testing.T) {
		var due atomic.Bool
		var checks atomic.Int32
		s := newFollowUpEnvironment(t, &due, &checks)
		instance := s.start()
		s.deploy(v1beta1constants.GardenerOperationReconcile)
		s.ready()
		require.NoError(t, instance.Stop())
		due.Store(true)
		s.run()
		s.wait(isComplete)
	})
	t.Run("it is forgotten when the object is migrated", func(t *testing.T) {
		var due atomic.Bool
		var checks atomic.Int32
		s := newFollowUpEnvironment(t, &due, &checks)
		s.run()
		s.deploy(v1beta1constants.GardenerOperationReconcile)
		s.ready()
		require.NoError(t, s.Request(t.Context(), v1beta1constants.GardenerOperationMigrate))
		s.wait(func(o *object) error {
			return errorUnless(o.Status.LastOperation.Type == gardencorev1beta1.LastOperationTypeMigrate &&
				o.Status.LastOperation.State == gardencorev1beta1.LastOperationStateSucceeded, "not migrated yet")
		})
		due.Store(true)
		seen := checks.Load()
		time.Sleep(200 * time.Millisecond)
		assert.LessOrEqual(t, checks.Load(), seen+1)
		assert.Equal(t, []string{"reconcile Create", "migrate Migrate"}, s.actuator.recordedCalls())
	})
}
