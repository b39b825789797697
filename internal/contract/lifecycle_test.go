package contract_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
)

const longAgo = time.Hour

func TestCreate(t *testing.T) {
	t.Run("it adds the finalizer, announces itself, saves state on the way and reports success once", func(t *testing.T) {
		s := newEnvironment(t, &actuator{})
		s.actuator.reconcile = func(ctx context.Context, p *reconciliation) error {
			assert.True(t, p.FirstAttempt)
			atWork := s.get()
			assert.Equal(t, []string{finalizer}, atWork.Finalizers)
			assert.Equal(t, gardencorev1beta1.LastOperationStateProcessing, atWork.Status.LastOperation.State)
			require.NoError(t, p.StateRecorder.RecordIntent(ctx, map[string]string{"intent": "network"}))
			assert.JSONEq(t, `{"intent":"network"}`, string(s.get().Status.State.Raw))
			p.StateRecorder.RecordState(map[string]string{"network": "1"})
			p.Object.Status.EgressCIDRs = []string{"203.0.113.7/32"}
			return nil
		}
		s.run()
		s.deploy(v1beta1constants.GardenerOperationReconcile)
		o := s.ready()
		assert.Equal(t, gardencorev1beta1.LastOperationTypeCreate, o.Status.LastOperation.Type)
		assert.Equal(t, int32(100), o.Status.LastOperation.Progress)
		assert.JSONEq(t, `{"network":"1"}`, string(o.Status.State.Raw))
		assert.Equal(t, []string{"203.0.113.7/32"}, o.Status.EgressCIDRs)
		assert.Equal(t, []string{"reconcile Create"}, s.actuator.recordedCalls())
	})
	t.Run("a state that was set last is saved although nobody waited for it", func(t *testing.T) {
		s := newEnvironment(t, &actuator{reconcile: func(_ context.Context, p *reconciliation) error {
			for n := range 50 {
				p.StateRecorder.RecordState(map[string]string{"n": fmt.Sprint(n)})
			}
			return cloud.Errorf(cloud.QuotaExceeded, "no more networks")
		}})
		s.options.Retry = contract.Retry{Base: time.Hour, Max: time.Hour}
		s.run()
		s.faults.Arm(nil)
		s.deploy(v1beta1constants.GardenerOperationReconcile)
		o := s.wait(func(o *object) error { return errorUnless(o.Status.LastError != nil, "no error yet") })
		writes, _, _ := s.faults.Disarm()
		assert.JSONEq(t, `{"n":"49"}`, string(o.Status.State.Raw))
		assert.Less(t, len(writes), 20, "fifty achievements end in few writes")
		assert.Equal(t, []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorInfraQuotaExceeded}, o.Status.LastError.Codes)
	})
}

func TestReconcile(t *testing.T) {
	t.Run("one that finds nothing to do costs two writes and keeps others' conditions", func(t *testing.T) {
		s := newEnvironment(t, &actuator{reconcile: func(_ context.Context, p *reconciliation) error {
			p.StateRecorder.RecordState(map[string]string{"network": "1"})
			p.Object.Status.EgressCIDRs = []string{"203.0.113.7/32"}
			return nil
		}})
		instance := s.start()
		s.deploy(v1beta1constants.GardenerOperationReconcile)
		s.ready()
		require.NoError(t, instance.Stop())
		require.NoError(t, s.Backdate(t.Context(), longAgo))
		require.NoError(t, s.PatchStatus(t.Context(), func(o *object) {
			o.Status.Conditions = []gardencorev1beta1.Condition{{
				Type: "Observed", Status: gardencorev1beta1.ConditionTrue, Reason: "Seen", Message: "seen",
				LastTransitionTime: metav1.Now(), LastUpdateTime: metav1.Now(),
			}}
		}))
		s.run()
		s.faults.Arm(nil)
		require.NoError(t, s.Request(t.Context(), v1beta1constants.GardenerOperationReconcile))
		o := s.ready()
		calls, _, _ := s.faults.Disarm()
		writes := contracttest.WithoutProgress(contracttest.WritesTo(contracttest.KubeAPI, calls))
		assert.Equal(t, []string{"PATCH /infrastructures/one", "PATCH /infrastructures/one/status"}, writes)
		assert.Equal(t, gardencorev1beta1.LastOperationTypeReconcile, o.Status.LastOperation.Type)
		assert.Len(t, o.Status.Conditions, 1)
	})
	t.Run("one that takes longer says what it does, what it waits for, and how far it is", func(t *testing.T) {
		s := newEnvironment(t, &actuator{})
		seen := make(chan struct{})
		s.actuator.reconcile = func(ctx context.Context, p *reconciliation) error {
			if p.Operation == gardencorev1beta1.LastOperationTypeCreate {
				return nil
			}
			return p.StateRecorder.Run(ctx, slowGraph(seen))
		}
		s.run()
		s.deploy(v1beta1constants.GardenerOperationReconcile)
		s.ready()
		require.NoError(t, s.Request(t.Context(), v1beta1constants.GardenerOperationReconcile))
		o := s.wait(func(o *object) error {
			return errorUnless(o.Status.LastOperation.Progress == 50, "no progress reported")
		})
		assert.Equal(t, gardencorev1beta1.LastOperationStateProcessing, o.Status.LastOperation.State)
		assert.Equal(t, "ensuring router (router R has no external address yet)", o.Status.LastOperation.Description)
		close(seen)
		s.wait(func(o *object) error {
			return errorUnless(o.Status.LastOperation.State == gardencorev1beta1.LastOperationStateSucceeded, "still at it")
		})
	})
	t.Run("keeps an operation that is requested during a reconciliation", func(t *testing.T) {
		s := newEnvironment(t, &actuator{})
		s.actuator.reconcile = func(context.Context, *reconciliation) error {
			if len(s.actuator.recordedCalls()) == 2 {
				return s.Request(t.Context(), v1beta1constants.GardenerOperationReconcile)
			}
			return nil
		}
		s.run()
		s.deploy(v1beta1constants.GardenerOperationReconcile)
		s.ready()
		require.NoError(t, s.Request(t.Context(), v1beta1constants.GardenerOperationReconcile))
		s.wait(func(*object) error {
			return errorUnless(len(s.actuator.recordedCalls()) == 3, "the second order is not fulfilled")
		})
		s.ready()
	})
	t.Run("an order without a timestamp, as people give it, survives the death of the process", func(t *testing.T) {
		s := newEnvironment(t, &actuator{})
		instance := s.start()
		s.deploy(v1beta1constants.GardenerOperationReconcile)
		s.ready()
		reached := make(chan struct{})
		s.actuator.reconcile = func(ctx context.Context, _ *reconciliation) error {
			close(reached)
			<-ctx.Done()
			return ctx.Err()
		}
		o := s.get()
		o.Annotations[v1beta1constants.GardenerOperation] = v1beta1constants.GardenerOperationReconcile
		require.NoError(t, s.server.Client.Update(t.Context(), o))
		<-reached
		interrupted := s.get()
		assert.NotContains(t, interrupted.Annotations, v1beta1constants.GardenerOperation)
		require.NoError(t, instance.Stop())
		s.actuator.reconcile = nil
		s.run()
		s.ready()
	})
}

// A reconciliation that is superseded by a newer operation reports no error, and the operation is executed.
func TestSuperseded(t *testing.T) {
	s := newEnvironment(t, &actuator{})
	var between *object
	s.actuator.reconcile = func(ctx context.Context, _ *reconciliation) error {
		switch len(s.actuator.recordedCalls()) {
		case 2:
			return cmp.Or(s.Request(ctx, v1beta1constants.GardenerOperationReconcile), fmt.Errorf("waiting no longer: %w", contract.ErrSuperseded))
		case 3:
			between = s.get()
		}
		return nil
	}
	s.run()
	s.deploy(v1beta1constants.GardenerOperationReconcile)
	s.ready()
	require.NoError(t, s.Request(t.Context(), v1beta1constants.GardenerOperationReconcile))
	s.wait(func(*object) error {
		return errorUnless(len(s.actuator.recordedCalls()) == 3, "the second order is not fulfilled")
	})
	s.ready()
	assert.Nil(t, between.Status.LastError)
	assert.Equal(t, gardencorev1beta1.LastOperationStateProcessing, between.Status.LastOperation.State)
}

func TestInterruption(t *testing.T) {
	s := newEnvironment(t, &actuator{})
	reached := make(chan struct{})
	s.actuator.reconcile = func(ctx context.Context, p *reconciliation) error {
		p.StateRecorder.RecordState(map[string]string{"network": "1"})
		close(reached)
		<-ctx.Done()
		return fmt.Errorf("creating router: %w", ctx.Err())
	}
	instance := s.start()
	s.deploy(v1beta1constants.GardenerOperationReconcile)
	<-reached
	require.NoError(t, instance.Stop())
	o := s.get()
	assert.Nil(t, o.Status.LastError, "the end of the process is nobody's error")
	assert.Equal(t, gardencorev1beta1.LastOperationStateProcessing, o.Status.LastOperation.State)
	assert.JSONEq(t, `{"network":"1"}`, string(o.Status.State.Raw))

	s.actuator.reconcile = func(_ context.Context, p *reconciliation) error {
		assert.False(t, p.FirstAttempt)
		return nil
	}
	s.run()
	assert.Equal(t, gardencorev1beta1.LastOperationTypeCreate, s.ready().Status.LastOperation.Type)
}

func TestFailure(t *testing.T) {
	t.Run("it is reported with its codes, tried again without help, and cleared by success", func(t *testing.T) {
		s := newEnvironment(t, &actuator{})
		s.actuator.reconcile = func(context.Context, *reconciliation) error {
			if len(s.actuator.recordedCalls()) < 4 {
				return fmt.Errorf("creating network: %w", cloud.Errorf(cloud.Unavailable, "the cloud is down"))
			}
			return nil
		}
		s.options.Retry.Base = 100 * time.Millisecond
		s.run()
		s.deploy(v1beta1constants.GardenerOperationReconcile)
		o := s.wait(func(o *object) error { return errorUnless(o.Status.LastError != nil, "no error yet") })
		assert.Equal(t, "creating network: the cloud is down", o.Status.LastError.Description)
		assert.Equal(t, gardencorev1beta1.LastOperationStateError, o.Status.LastOperation.State)
		assert.Equal(t, o.Generation, o.Status.ObservedGeneration)
		s.ready()
	})
	t.Run("a panic is contained and reported as a defect", func(t *testing.T) {
		s := newEnvironment(t, &actuator{})
		s.actuator.reconcile = func(context.Context, *reconciliation) error {
			if len(s.actuator.recordedCalls()) == 1 {
				panic("boom")
			}
			return nil
		}
		s.options.Retry.Base = 300 * time.Millisecond
		s.run()
		s.deploy(v1beta1constants.GardenerOperationReconcile)
		o := s.wait(func(o *object) error { return errorUnless(o.Status.LastError != nil, "no error yet") })
		assert.Contains(t, o.Status.LastError.Description, "boom")
		assert.Empty(t, o.Status.LastError.Codes)
		s.ready()
	})
	t.Run("an operation that exceeds its time fails with what it was about", func(t *testing.T) {
		s := newEnvironment(t, &actuator{reconcile: func(ctx context.Context, p *reconciliation) error {
			return p.StateRecorder.Run(ctx, slowGraph(make(chan struct{})))
		}})
		s.contract.Timeout = 50 * time.Millisecond
		s.options.Retry.Base, s.options.Retry.Max = time.Hour, time.Hour
		s.run()
		s.deploy(v1beta1constants.GardenerOperationReconcile)
		o := s.wait(func(o *object) error { return errorUnless(o.Status.LastError != nil, "no error yet") })
		assert.Equal(t, "ensuring router: gave up waiting, router R has no external address yet: the operation took longer than 50ms",
			o.Status.LastError.Description)
	})
}

func TestDelete(t *testing.T) {
	t.Run("the object goes when its work is undone", func(t *testing.T) {
		s := newEnvironment(t, &actuator{})
		s.run()
		s.deploy(v1beta1constants.GardenerOperationReconcile)
		s.ready()
		require.NoError(t, s.Destroy(t.Context()))
		require.NoError(t, s.WaitGone(s.timeoutContext()))
		assert.Equal(t, []string{"reconcile Create", "delete Delete"}, s.actuator.recordedCalls())
	})
	t.Run("a failed deletion keeps the finalizer and is tried again", func(t *testing.T) {
		s := newEnvironment(t, &actuator{})
		s.actuator.delete = func(context.Context, *reconciliation) error {
			if len(s.actuator.recordedCalls()) < 4 {
				return errors.New("still in use")
			}
			return nil
		}
		s.run()
		s.deploy(v1beta1constants.GardenerOperationReconcile)
		s.ready()
		require.NoError(t, s.Destroy(t.Context()))
		require.NoError(t, s.WaitGone(s.timeoutContext()))
		assert.Len(t, s.actuator.recordedCalls(), 4)
	})
	t.Run("a shoot that is to be force-deleted lets go at once", func(t *testing.T) {
		s := newEnvironment(t, &actuator{delete: func(context.Context, *reconciliation) error { return errors.New("must not be called") }})
		s.run()
		s.deploy(v1beta1constants.GardenerOperationReconcile)
		s.ready()
		s.changeShoot(forceDeletion)
		require.NoError(t, s.Destroy(t.Context()))
		require.NoError(t, s.WaitGone(s.timeoutContext()))
		assert.Equal(t, []string{"reconcile Create", "force delete Delete"}, s.actuator.recordedCalls())
	})
	t.Run("a foreign finalizer is not ours to remove", func(t *testing.T) {
		s := newEnvironment(t, &actuator{})
		s.run()
		s.deploy(v1beta1constants.GardenerOperationReconcile, func(o *object) { o.Finalizers = []string{"example.com/observer"} })
		s.ready()
		require.NoError(t, s.Destroy(t.Context()))
		o := s.wait(func(o *object) error { return errorUnless(len(o.Finalizers) == 1, "two finalizers") })
		assert.Equal(t, []string{"example.com/observer"}, o.Finalizers)
		o.Finalizers = nil
		require.NoError(t, s.server.Client.Update(t.Context(), o))
		require.NoError(t, s.WaitGone(s.timeoutContext()))
	})
}

func TestMigrateAndRestore(t *testing.T) {
	t.Run("a migrated object loses our finalizer and nothing else, and is left alone from then on", func(t *testing.T) {
		s := newEnvironment(t, &actuator{})
		s.run()
		s.deploy(v1beta1constants.GardenerOperationReconcile, func(o *object) { o.Finalizers = []string{"example.com/observer"} })
		s.ready()
		require.NoError(t, s.Request(t.Context(), v1beta1constants.GardenerOperationMigrate))
		o := s.wait(func(o *object) error {
			done := o.Status.LastOperation.Type == gardencorev1beta1.LastOperationTypeMigrate &&
				o.Status.LastOperation.State == gardencorev1beta1.LastOperationStateSucceeded
			return errorUnless(done, "not migrated")
		})
		assert.NotContains(t, o.Annotations, v1beta1constants.GardenerOperation)
		assert.Equal(t, []string{"example.com/observer"}, o.Finalizers)
		assert.Equal(t, gardencorev1beta1.LastOperationTypeMigrate, o.Status.LastOperation.Type)
		assert.Equal(t, gardencorev1beta1.LastOperationStateSucceeded, o.Status.LastOperation.State)
		require.NoError(t, s.Request(t.Context(), v1beta1constants.GardenerOperationReconcile))
		time.Sleep(200 * time.Millisecond) // nothing must happen; the calls below show it
		assert.Equal(t, []string{"reconcile Create", "migrate Migrate"}, s.actuator.recordedCalls())
		o = s.get()
		o.Finalizers = nil
		require.NoError(t, s.server.Client.Update(t.Context(), o))
	})
	t.Run("a restored object waits for its state, and is restored from it", func(t *testing.T) {
		s := newEnvironment(t, &actuator{reconcile: func(_ context.Context, p *reconciliation) error {
			assert.False(t, p.FirstAttempt)
			assert.JSONEq(t, `{"network":"1"}`, string(p.Object.Status.State.Raw))
			return nil
		}})
		s.run()
		s.deploy(v1beta1constants.GardenerOperationWaitForState)
		require.NoError(t, s.PatchStatus(t.Context(), func(o *object) {
			o.Status.State = &runtime.RawExtension{Raw: []byte(`{"network":"1"}`)}
		}))
		assert.Empty(t, s.actuator.recordedCalls())
		require.NoError(t, s.Request(t.Context(), v1beta1constants.GardenerOperationRestore))
		o := s.ready()
		assert.Equal(t, gardencorev1beta1.LastOperationTypeRestore, o.Status.LastOperation.Type)
		assert.JSONEq(t, `{"network":"1"}`, string(o.Status.State.Raw))
		assert.Equal(t, []string{"reconcile Restore"}, s.actuator.recordedCalls())
	})
}

func TestAdd_UnclaimedObjects(t *testing.T) {
	for sentence, change := range map[string]func(*object){
		"another type is not claimed":       func(o *object) { o.Spec.Type = "other" },
		"another class is not claimed":      func(o *object) { o.Spec.Class = new(extensionsv1alpha1.ExtensionClassSeed) },
		"a type that differs by its case":   func(o *object) { o.Spec.Type = "Test" },
		"a type of which ours is the start": func(o *object) { o.Spec.Type = "tester" },
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newEnvironment(t, &actuator{})
			s.run()
			s.deploy(v1beta1constants.GardenerOperationReconcile, change)
			time.Sleep(200 * time.Millisecond) // nothing must happen; the calls below show it
			assert.Empty(t, s.actuator.recordedCalls())
			assert.Empty(t, s.get().Finalizers)
		})
	}
	t.Run("the objects of a failed shoot wait for the user", func(t *testing.T) {
		s := newEnvironment(t, &actuator{})
		s.changeShoot(func(shoot *gardencorev1beta1.Shoot) {
			shoot.Status.LastOperation = &gardencorev1beta1.LastOperation{State: gardencorev1beta1.LastOperationStateFailed}
		})
		s.run()
		s.deploy(v1beta1constants.GardenerOperationReconcile)
		time.Sleep(200 * time.Millisecond)
		assert.Empty(t, s.actuator.recordedCalls())
		s.changeShoot(func(*gardencorev1beta1.Shoot) {})
		require.NoError(t, s.Request(t.Context(), v1beta1constants.GardenerOperationReconcile))
		s.ready()
	})
}

func TestStateless(t *testing.T) {
	s := newEnvironment(t, &actuator{})
	s.contract.Stateless = true
	gardenletState := []byte(`{"owner":"gardenlet"}`)
	s.actuator.reconcile = func(ctx context.Context, p *reconciliation) error {
		p.Object.Status.Resources = []gardencorev1beta1.NamedResourceReference{{Name: "ours"}}
		p.Object.Status.EgressCIDRs = []string{"203.0.113.7/32"}
		require.NoError(t, p.Publish(ctx))
		early := s.get()
		assert.Equal(t, []string{"203.0.113.7/32"}, early.Status.EgressCIDRs, "early output is there while the pass goes on")
		assert.Equal(t, gardencorev1beta1.LastOperationStateProcessing, early.Status.LastOperation.State)
		return nil
	}
	s.deploy(v1beta1constants.GardenerOperationReconcile)
	require.NoError(t, s.PatchStatus(t.Context(), func(o *object) { o.Status.State = &runtime.RawExtension{Raw: gardenletState} }))
	s.run()
	o := s.ready()
	assert.JSONEq(t, string(gardenletState), string(o.Status.State.Raw))
	assert.Empty(t, o.Status.Resources)
}

func TestStateless_RecordStateFails(t *testing.T) {
	s := newEnvironment(t, &actuator{})
	s.contract.Stateless = true
	s.options.Retry = contract.Retry{Base: time.Hour, Max: time.Hour}
	s.actuator.reconcile = func(ctx context.Context, p *reconciliation) error {
		require.Error(t, p.StateRecorder.RecordIntent(ctx, map[string]string{"ours": "1"}))
		p.StateRecorder.RecordState(map[string]string{"ours": "1"})
		return nil
	}
	s.run()
	s.deploy(v1beta1constants.GardenerOperationReconcile)
	o := s.wait(func(o *object) error { return errorUnless(o.Status.LastError != nil, "no error yet") })
	assert.Equal(t, "storing state: this contract has no state", o.Status.LastError.Description)
	assert.Nil(t, o.Status.State)
}

func TestReconcile_ClusterMissing(t *testing.T) {
	s := newEnvironment(t, &actuator{})
	cluster := &extensionsv1alpha1.Cluster{}
	cluster.Name = s.namespace
	require.NoError(t, s.server.Client.Delete(t.Context(), cluster))
	s.run()
	s.deploy(v1beta1constants.GardenerOperationReconcile)
	o := s.wait(func(o *object) error { return errorUnless(o.Status.LastError != nil, "no error yet") })
	assert.Contains(t, o.Status.LastError.Description, "reading Cluster")
	assert.Empty(t, o.Status.LastError.Codes)
	assert.Empty(t, s.actuator.recordedCalls())
}

func TestDelete_RetriedByTimestamp(t *testing.T) {
	// The process has stopped retrying, since the shoot has failed. A user's retry changes only the timestamp.
	for sentence, changeShoot := range map[string]func(*gardencorev1beta1.Shoot){
		"when the shoot is retried":                        func(*gardencorev1beta1.Shoot) {},
		"when the shoot is to be force-deleted in its way": forceDeletion,
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newEnvironment(t, &actuator{})
			s.actuator.delete = func(context.Context, *reconciliation) error {
				s.changeShoot(func(shoot *gardencorev1beta1.Shoot) {
					shoot.Status.LastOperation = &gardencorev1beta1.LastOperation{State: gardencorev1beta1.LastOperationStateFailed}
				})
				return cloud.Errorf(cloud.InUse, "port P is in the way")
			}
			s.run()
			s.deploy(v1beta1constants.GardenerOperationReconcile)
			s.ready()
			require.NoError(t, s.Destroy(t.Context()))
			s.wait(func(o *object) error { return errorUnless(o.Status.LastError != nil, "no error yet") })
			time.Sleep(200 * time.Millisecond) // the retries end, since the shoot has failed
			s.actuator.delete = nil
			s.changeShoot(changeShoot)
			require.NoError(t, s.Destroy(t.Context()))
			require.NoError(t, s.WaitGone(s.timeoutContext()))
		})
	}
}

func forceDeletion(shoot *gardencorev1beta1.Shoot) {
	shoot.Annotations = map[string]string{v1beta1constants.AnnotationConfirmationForceDeletion: "true"}
}

func TestReconcile_NewRequestClearsError(t *testing.T) {
	s := newEnvironment(t, &actuator{})
	s.options.Retry = contract.Retry{Base: time.Hour, Max: time.Hour}
	s.actuator.reconcile = func(context.Context, *reconciliation) error {
		return cloud.Errorf(cloud.QuotaExceeded, "no more networks")
	}
	s.run()
	s.deploy(v1beta1constants.GardenerOperationReconcile)
	s.wait(func(o *object) error { return errorUnless(o.Status.LastError != nil, "no error yet") })
	s.actuator.reconcile = func(context.Context, *reconciliation) error {
		assert.Nil(t, s.get().Status.LastError, "gardenlet would take it for the new order's")
		return nil
	}
	require.NoError(t, s.Request(t.Context(), v1beta1constants.GardenerOperationReconcile))
	s.ready()
}

func TestRestore_NewerRequest(t *testing.T) {
	s := newEnvironment(t, &actuator{})
	s.actuator.reconcile = func(context.Context, *reconciliation) error {
		if len(s.actuator.recordedCalls()) == 1 {
			return s.Request(t.Context(), v1beta1constants.GardenerOperationRestore)
		}
		return nil
	}
	s.run()
	s.deploy(v1beta1constants.GardenerOperationRestore)
	s.wait(func(*object) error {
		return errorUnless(len(s.actuator.recordedCalls()) == 2, "the second order is not fulfilled")
	})
	s.ready()
}

func TestStatusWriter_ResponseLost(t *testing.T) {
	s := newEnvironment(t, &actuator{})
	instance := s.start()
	s.deploy(v1beta1constants.GardenerOperationReconcile)
	s.ready()
	require.NoError(t, instance.Stop())
	require.NoError(t, s.Backdate(t.Context(), longAgo))
	released := make(chan struct{})
	s.actuator.reconcile = func(ctx context.Context, p *reconciliation) error {
		return p.StateRecorder.Run(ctx, slowGraph(released))
	}
	s.run()
	// The first status write of a slow reconciliation is its first report of progress.
	s.faults.Arm(&contracttest.Fault{
		Call: contracttest.Call{
			Target: contracttest.KubeAPI, Method: http.MethodPatch,
			Path: "/infrastructures/one/status to Processing", Nth: 1,
		},
		Type: contracttest.DropAfter,
	})
	require.NoError(t, s.Request(t.Context(), v1beta1constants.GardenerOperationReconcile))
	s.wait(func(o *object) error {
		return errorUnless(o.Status.LastOperation.Progress == 50, "no progress reported")
	})
	close(released)
	s.ready()
	calls, fired, _ := s.faults.Disarm()
	assert.True(t, fired, "%v", calls)
}
