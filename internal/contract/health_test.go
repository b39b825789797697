package contract_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
)

const (
	healthy  gardencorev1beta1.ConditionType = "ControlPlaneHealthy"
	observed gardencorev1beta1.ConditionType = "Observed"
)

// healthEnvironment is an environment whose process also checks the object's health.
type healthEnvironment struct {
	*environment
	checkCount    atomic.Int32
	mutex         sync.Mutex
	check         contract.Check[*object]
	health        contract.Health[*object]
	healthOptions contract.Options
}

func newHealthEnvironment(t *testing.T) *healthEnvironment {
	t.Helper()
	s := &healthEnvironment{environment: newEnvironment(t, &actuator{})}
	s.health = contract.Health[*object]{
		Name: "infrastructure", New: func() *object { return &object{} },
		Types: []gardencorev1beta1.ConditionType{healthy},
		Check: func(ctx context.Context, input contract.CheckInput[*object]) (contract.Findings, error) {
			s.checkCount.Add(1)
			s.mutex.Lock()
			check := s.check
			s.mutex.Unlock()
			return check(ctx, input)
		},
	}
	s.healthOptions = s.options
	s.healthOptions.HealthInterval = 20 * time.Millisecond
	s.setFinding(contract.Finding{Healthy: true})
	return s
}

func (s *healthEnvironment) setCheck(check contract.Check[*object]) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.check = check
}

func (s *healthEnvironment) setFinding(finding contract.Finding) {
	s.setCheck(func(context.Context, contract.CheckInput[*object]) (contract.Findings, error) {
		return contract.Findings{healthy: finding}, nil
	})
}

func (s *healthEnvironment) start() *contracttest.Instance {
	s.t.Helper()
	host := contracttest.Host{Server: s.server, Namespace: s.namespace, Faults: s.faults, Journal: &contracttest.Journal{}}
	instance, err := host.Start(context.WithoutCancel(s.t.Context()), func(mgr manager.Manager, _ contracttest.Transport) error {
		return errors.Join(extensionsv1alpha1.AddToScheme(mgr.GetScheme()), corev1.AddToScheme(mgr.GetScheme()),
			contract.Add(mgr, s.contract, s.options), contract.AddHealth(mgr, s.health, s.healthOptions))
	})
	require.NoError(s.t, err)
	return instance
}

// create runs the process and creates the object.
func (s *healthEnvironment) create(changes ...func(*object)) {
	s.t.Helper()
	instance := s.start()
	s.t.Cleanup(func() { require.NoError(s.t, instance.Stop()) })
	s.deploy(v1beta1constants.GardenerOperationReconcile, changes...)
	s.ready()
}

// waitStatus waits until the condition has the status and returns it.
func (s *healthEnvironment) waitStatus(want gardencorev1beta1.ConditionStatus) gardencorev1beta1.Condition {
	s.t.Helper()
	o := s.wait(func(o *object) error {
		condition := v1beta1helper.GetCondition(o.Status.Conditions, healthy)
		return errorUnless(condition != nil && condition.Status == want, "the condition is not "+string(want))
	})
	return *v1beta1helper.GetCondition(o.Status.Conditions, healthy)
}

// waitForChecks waits until further checks have ended.
func (s *healthEnvironment) waitForChecks() {
	s.t.Helper()
	enough := s.checkCount.Load() + 10
	require.Eventually(s.t, func() bool { return s.checkCount.Load() >= enough }, 30*time.Second, 5*time.Millisecond)
}

// assertNoMoreChecks asserts that there are no further checks.
func (s *healthEnvironment) assertNoMoreChecks() {
	s.t.Helper()
	time.Sleep(100 * time.Millisecond) // the last check may still be running
	before := s.checkCount.Load()
	time.Sleep(300 * time.Millisecond) // 15 intervals
	assert.Equal(s.t, before, s.checkCount.Load())
}

func (s *healthEnvironment) writesDuring(do func()) []string {
	s.t.Helper()
	s.faults.Arm(nil)
	do()
	calls, _, _ := s.faults.Disarm()
	names := []string{}
	for _, call := range calls {
		names = append(names, call.String())
	}
	return names
}

// writeCondition adds a condition of another client, under an optimistic lock.
func (s *healthEnvironment) writeCondition(ctx context.Context, message string) error {
	for {
		o, err := s.Get(ctx)
		if err != nil {
			return err
		}
		patch := client.MergeFromWithOptions(o.DeepCopy(), client.MergeFromWithOptimisticLock{})
		o.Status.Conditions = v1beta1helper.MergeConditions(o.Status.Conditions, gardencorev1beta1.Condition{
			Type: observed, Status: gardencorev1beta1.ConditionTrue, Reason: "Seen", Message: message,
			LastTransitionTime: metav1.Now(), LastUpdateTime: metav1.Now(),
		})
		err = s.server.Client.Status().Patch(ctx, o, patch)
		if err == nil || !isConflict(err) {
			return err
		}
	}
}

func isConflict(err error) bool {
	var status interface{ Status() metav1.Status }
	return errors.As(err, &status) && status.Status().Code == http.StatusConflict
}

func TestHealth_WritesOnlyChanges(t *testing.T) {
	s := newHealthEnvironment(t)
	s.create()
	first := s.waitStatus(gardencorev1beta1.ConditionTrue)
	require.NoError(t, s.writeCondition(t.Context(), "seen"))
	time.Sleep(time.Second) // so that times differ, which have a resolution of a second

	assert.Empty(t, s.writesDuring(s.waitForChecks), "nothing changes")
	s.setFinding(contract.Finding{Message: "It is down.", Codes: []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorInfraDependencies}})
	second := s.waitStatus(gardencorev1beta1.ConditionFalse)
	version := s.get().ResourceVersion
	s.waitForChecks()
	assert.Equal(t, version, s.get().ResourceVersion, "one change is one write")
	assert.Equal(t, "It is down.", second.Message)
	assert.Equal(t, []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorInfraDependencies}, second.Codes)
	assert.True(t, second.LastTransitionTime.After(first.LastTransitionTime.Time))
	assert.NotNil(t, v1beta1helper.GetCondition(s.get().Status.Conditions, observed), "others' conditions stay")
}

func TestHealth_NewObject(t *testing.T) {
	s := newHealthEnvironment(t)
	s.healthOptions.HealthInterval = time.Hour
	released := make(chan struct{})
	s.actuator.reconcile = func(context.Context, *reconciliation) error {
		s.assertNoMoreChecks()
		assert.Zero(t, s.checkCount.Load(), "what is being created is not looked at")
		close(released)
		return nil
	}
	s.create()
	<-released
	s.waitStatus(gardencorev1beta1.ConditionTrue)
}

func TestHealth_ProcessRestart(t *testing.T) {
	s := newHealthEnvironment(t)
	instance := s.start()
	s.deploy(v1beta1constants.GardenerOperationReconcile)
	s.waitStatus(gardencorev1beta1.ConditionTrue)
	require.NoError(t, instance.Stop())
	s.setFinding(contract.Finding{Message: "It is down."})
	instance = s.start()
	s.waitStatus(gardencorev1beta1.ConditionFalse)
	require.NoError(t, instance.Stop())
}

func TestHealth_GracePeriod(t *testing.T) {
	s := newHealthEnvironment(t)
	now := clocktesting.NewFakeClock(time.Now().Truncate(time.Second))
	s.healthOptions.Clock = now
	s.create()
	s.waitStatus(gardencorev1beta1.ConditionTrue)
	now.Step(time.Hour)
	s.setFinding(contract.Finding{Message: "It is down.", Grace: time.Minute})
	since := s.waitStatus(gardencorev1beta1.ConditionProgressing).LastTransitionTime
	assert.True(t, since.Equal(new(metav1.NewTime(now.Now()))))
	now.Step(time.Minute)
	assert.Empty(t, s.writesDuring(s.waitForChecks), "the minute is not over")
	now.Step(time.Second)
	s.waitStatus(gardencorev1beta1.ConditionFalse)

	s.setCheck(func(context.Context, contract.CheckInput[*object]) (contract.Findings, error) {
		return nil, errors.New("forbidden")
	})
	assert.Contains(t, s.waitStatus(gardencorev1beta1.ConditionUnknown).Message, "forbidden")
}

func TestHealth_ConcurrentWriter(t *testing.T) {
	s := newHealthEnvironment(t)
	s.create()
	s.waitStatus(gardencorev1beta1.ConditionTrue)
	var once sync.Once
	s.setCheck(func(context.Context, contract.CheckInput[*object]) (contract.Findings, error) {
		once.Do(func() { assert.NoError(t, s.writeCondition(t.Context(), "meanwhile")) })
		return contract.Findings{healthy: {Message: "It is down."}}, nil
	})
	writes := s.writesDuring(func() { s.waitStatus(gardencorev1beta1.ConditionFalse) })
	assert.Contains(t, writes, "kube PATCH /infrastructures/one/status (2)", "the first one was refused")
	other := v1beta1helper.GetCondition(s.get().Status.Conditions, observed)
	require.NotNil(t, other, "what was written during a look is not undone")
	assert.Equal(t, "meanwhile", other.Message)
}

func TestHealth_DeletedOrMigratedDuringCheck(t *testing.T) {
	keep := func(o *object) { o.Finalizers = []string{"example.com/observer"} }
	for sentence, test := range map[string]struct {
		begin func(*healthEnvironment) error
		over  func(*object) bool
	}{
		"deleted": {
			begin: func(s *healthEnvironment) error { return s.Destroy(s.t.Context()) },
			over:  func(o *object) bool { return !o.DeletionTimestamp.IsZero() && len(o.Finalizers) == 1 },
		},
		"moved": {
			begin: func(s *healthEnvironment) error {
				return s.Request(s.t.Context(), v1beta1constants.GardenerOperationMigrate)
			},
			over: func(o *object) bool {
				return o.Annotations[v1beta1constants.GardenerOperation] == "" &&
					o.Status.LastOperation.Type == gardencorev1beta1.LastOperationTypeMigrate &&
					o.Status.LastOperation.State == gardencorev1beta1.LastOperationStateSucceeded
			},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newHealthEnvironment(t)
			s.create(keep)
			before := s.waitStatus(gardencorev1beta1.ConditionTrue)
			entered, leave := make(chan struct{}), make(chan struct{})
			var once sync.Once
			s.setCheck(func(context.Context, contract.CheckInput[*object]) (contract.Findings, error) {
				once.Do(func() { close(entered) })
				<-leave
				return contract.Findings{healthy: {Message: "It is down."}}, nil
			})
			<-entered
			require.NoError(t, test.begin(s))
			s.wait(func(o *object) error { return errorUnless(test.over(o), "not over yet") })
			close(leave)
			s.assertNoMoreChecks()
			o := s.get()
			assert.Equal(t, []gardencorev1beta1.Condition{before}, o.Status.Conditions)
			o.Finalizers = nil
			require.NoError(t, s.server.Client.Update(t.Context(), o))
		})
	}
}

func TestHealth_OtherProviderType(t *testing.T) {
	s := newHealthEnvironment(t)
	instance := s.start()
	s.deploy(v1beta1constants.GardenerOperationReconcile, func(o *object) { o.Spec.Type = "other" })
	require.NoError(t, s.PatchStatus(t.Context(), func(o *object) {
		o.Status.LastOperation = &gardencorev1beta1.LastOperation{
			Type: gardencorev1beta1.LastOperationTypeCreate, State: gardencorev1beta1.LastOperationStateSucceeded, LastUpdateTime: metav1.Now(),
		}
	}))
	s.assertNoMoreChecks()
	assert.Zero(t, s.checkCount.Load())
	require.NoError(t, instance.Stop())
}

func TestHealth_CheckPanics(t *testing.T) {
	s := newHealthEnvironment(t)
	s.setCheck(func(context.Context, contract.CheckInput[*object]) (contract.Findings, error) { panic("boom") })
	s.create()
	condition := s.waitStatus(gardencorev1beta1.ConditionProgressing)
	assert.Equal(t, gardencorev1beta1.ConditionCheckError, condition.Reason)
	assert.Contains(t, condition.Message, "boom")
	s.setFinding(contract.Finding{Healthy: true})
	s.waitStatus(gardencorev1beta1.ConditionTrue)
}

func TestHealth_CheckInterrupted(t *testing.T) {
	s := newHealthEnvironment(t)
	s.healthOptions.HealthInterval = time.Hour
	entered := make(chan struct{})
	s.setCheck(func(ctx context.Context, _ contract.CheckInput[*object]) (contract.Findings, error) {
		close(entered)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	instance := s.start()
	s.deploy(v1beta1constants.GardenerOperationReconcile)
	<-entered
	require.NoError(t, instance.Stop())
	assert.Empty(t, s.get().Status.Conditions)
}

func TestAddHealth_InvalidOptions(t *testing.T) {
	health := contract.Health[*object]{Types: []gardencorev1beta1.ConditionType{healthy}}
	require.Error(t, contract.AddHealth(nil, health, contract.Options{}), "no types to claim")
	health.Retired = health.Types
	require.ErrorContains(t, contract.AddHealth(nil, health, contract.Options{Types: []string{"test"}}), "cannot be both written and retired")
}
