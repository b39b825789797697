package observer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/observer"
)

func TestObserver_ReportsByConditionEventAndMetric(t *testing.T) {
	env := newEnvironment(t)
	o := env.create("one")
	before := env.get(o.Name)
	env.run()
	condition := env.waitFor("one", inSync, gardencorev1beta1.ConditionTrue)
	assert.True(t, strings.HasPrefix(condition.Message, "As of ") && strings.HasSuffix(condition.Message, "Nothing differs."), condition.Message)
	assert.Empty(t, env.events(), "the first healthy result is no change")

	env.find(observer.Finding{Message: "network n: mtu is 1400, not 1450; the next reconciliation repairs it"})
	condition = env.waitFor("one", inSync, gardencorev1beta1.ConditionFalse)
	assert.Contains(t, condition.Message, "mtu is 1400")
	require.Eventually(t, func() bool { return len(env.events()) == 1 }, timeout, 20*time.Millisecond)
	assert.Equal(t, []string{"Warning InSyncFalse"}, env.events())
	assert.Equal(t, map[string]float64{"drift": 0}, env.metric("trellis_observation_healthy"))

	env.find(observer.Finding{Healthy: true})
	env.waitFor("one", inSync, gardencorev1beta1.ConditionTrue)
	require.Eventually(t, func() bool { return len(env.events()) == 2 }, timeout, 20*time.Millisecond)
	assert.Contains(t, env.events(), "Normal InSyncTrue")

	after := env.get("one")
	assert.Nil(t, v1beta1helper.GetCondition(after.Status.Conditions, enough), "an observation without a finding has no condition")
	after.Status.Conditions, after.ResourceVersion, after.ManagedFields = nil, before.ResourceVersion, before.ManagedFields
	assert.Equal(t, before, after, "nothing but conditions has changed")
}

func TestObserver_Quiet(t *testing.T) {
	for sentence, test := range map[string]struct {
		begin, end func(env *environment, o *object)
	}{
		"while an operation is requested": {
			func(env *environment, o *object) { env.annotate(o, "reconcile") },
			func(env *environment, o *object) { env.annotate(o, "") },
		},
		"while the primary works": {
			func(env *environment, o *object) {
				env.setOperationState(o, gardencorev1beta1.LastOperationStateProcessing)
			},
			func(env *environment, o *object) { env.succeed(o) },
		},
		"while the shoot is hibernated": {
			func(env *environment, _ *object) {
				env.changeShoot(func(s *gardencorev1beta1.Shoot) {
					s.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: new(true)}
				})
			},
			func(env *environment, _ *object) { env.changeShoot(func(*gardencorev1beta1.Shoot) {}) },
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			env := newEnvironment(t)
			o := env.create("one")
			test.begin(env, o)
			env.run()
			time.Sleep(500 * time.Millisecond) // ten intervals
			assert.Zero(t, env.observations())
			test.end(env, env.get("one"))
			env.waitFor("one", inSync, gardencorev1beta1.ConditionTrue)
		})
	}
}

func TestObserver_ObservesAfterSuccess(t *testing.T) {
	env := newEnvironment(t)
	env.options.Interval = time.Hour
	since := make(chan time.Time, 1000)
	env.setObserve(func(_ context.Context, in input) (observer.Result, error) {
		since <- in.Since
		return observer.Result{}, nil
	})
	env.run()
	env.create("one")
	env.succeedUntilObserved("one")
	first := <-since
	env.patchStatus(env.get("one"), func(status *extensionsv1alpha1.InfrastructureStatus) {
		status.LastOperation.LastUpdateTime = metav1.NewTime(first.Add(time.Minute))
	})
	wanted := first.Add(time.Minute + time.Second).UTC()
	for observed := range since { // those before belong to other successes
		if observed.UTC().Equal(wanted) {
			break
		}
	}
}

func TestObserver_Postponed(t *testing.T) {
	env := newEnvironment(t)
	env.options.Interval = time.Hour
	var times atomic.Int32
	env.setObserve(func(_ context.Context, in input) (observer.Result, error) {
		if times.Add(1) == 1 {
			return observer.Result{}, fmt.Errorf("reading the account: %w", &observer.TooEarlyError{RetryAt: in.Now.Add(100 * time.Millisecond)})
		}
		return observer.Result{Findings: map[string]observer.Finding{"drift": {Healthy: true}}}, nil
	})
	env.run()
	env.create("one")
	env.succeedUntilObserved("one")
	env.waitFor("one", inSync, gardencorev1beta1.ConditionTrue)
	assert.GreaterOrEqual(t, times.Load(), int32(2))
}

func TestObserver_Failures(t *testing.T) {
	for sentence, test := range map[string]struct {
		observe observer.Observe[*object]
		message string
	}{
		"of everything": {
			func(context.Context, input) (observer.Result, error) {
				return observer.Result{}, errors.New("the cloud is unavailable")
			},
			"It cannot be observed: the cloud is unavailable",
		},
		"of one observation": {
			func(context.Context, input) (observer.Result, error) {
				return observer.Result{Findings: map[string]observer.Finding{"drift": {Err: errors.New("no right to read")}, "quota": {Healthy: true}}}, nil
			},
			"It cannot be observed: no right to read",
		},
		"by a panic": {
			func(context.Context, input) (observer.Result, error) { panic("nil map") },
			"It cannot be observed: an internal error occurred",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			env := newEnvironment(t)
			env.run()
			env.create("one")
			env.waitFor("one", inSync, gardencorev1beta1.ConditionTrue)
			var failures atomic.Int32
			env.setObserve(func(ctx context.Context, in input) (observer.Result, error) {
				if failures.Add(1) <= 2 {
					condition := v1beta1helper.GetCondition(env.get("one").Status.Conditions, inSync)
					assert.Equal(t, gardencorev1beta1.ConditionTrue, condition.Status, "two failures change nothing")
				}
				return test.observe(ctx, in)
			})
			condition := env.waitFor("one", inSync, gardencorev1beta1.ConditionUnknown)
			assert.Contains(t, condition.Message, test.message)
		})
	}
}

func TestObserver_SwitchedOff(t *testing.T) {
	env := newEnvironment(t)
	env.create("one")
	stop := env.run()
	env.waitFor("one", inSync, gardencorev1beta1.ConditionTrue)
	stop()
	env.options.Observations = []string{"quota"}
	env.registry = prometheus.NewRegistry()
	env.setObserve(func(_ context.Context, in input) (observer.Result, error) {
		assert.Equal(t, observer.Names{"quota": true}, in.Wanted)
		return observer.Result{Findings: map[string]observer.Finding{"quota": {Healthy: true}}}, nil
	})
	env.run()
	env.waitFor("one", enough, gardencorev1beta1.ConditionTrue)
	env.waitForRemoval("one", inSync)
}

// The primary writes its status without a lock, and its health check and the observer write conditions under one.
func TestObserver_ConcurrentWriters(t *testing.T) {
	env := newEnvironment(t)
	env.create("one")
	var count atomic.Int64
	env.setObserve(func(context.Context, input) (observer.Result, error) {
		return observer.Result{Findings: map[string]observer.Finding{"drift": {Message: fmt.Sprint("finding ", count.Add(1))}}}, nil
	})
	env.options.Interval = 10 * time.Millisecond
	stop := env.run()
	var group sync.WaitGroup
	const writes = 100
	group.Go(func() {
		for n := range writes {
			o := env.get("one")
			env.patchStatus(o, func(status *extensionsv1alpha1.InfrastructureStatus) {
				status.EgressCIDRs = []string{fmt.Sprintf("10.0.0.%d/32", n)}
			})
		}
	})
	group.Go(func() {
		for n := range writes {
			assert.NoError(t, env.writeHealth(fmt.Sprint("check ", n)))
		}
	})
	group.Wait()
	stop()
	o := env.get("one")
	assert.Equal(t, []string{fmt.Sprintf("10.0.0.%d/32", writes-1)}, o.Status.EgressCIDRs)
	assert.Equal(t, fmt.Sprint("check ", writes-1), v1beta1helper.GetCondition(o.Status.Conditions, primary).Message)
	assert.Contains(t, v1beta1helper.GetCondition(o.Status.Conditions, inSync).Message, "finding ")
	assert.Equal(t, gardencorev1beta1.LastOperationStateSucceeded, o.Status.LastOperation.State)
}

func TestObserver_Uninstalled(t *testing.T) {
	env := newEnvironment(t)
	env.options.Marker = client.ObjectKey{Namespace: env.namespace, Name: "marker"}
	require.NoError(t, env.server.Client.Create(t.Context(), env.marker()))
	env.create("one")
	stop := env.run()
	env.waitFor("one", inSync, gardencorev1beta1.ConditionTrue)
	require.NoError(t, env.writeHealth("check"))

	require.NoError(t, env.server.Client.Delete(t.Context(), env.marker()))
	env.waitForMarkerRemoval()
	env.waitForRemoval("one", inSync)
	assert.NotNil(t, v1beta1helper.GetCondition(env.get("one").Status.Conditions, primary))
	before := env.observations()
	time.Sleep(500 * time.Millisecond)
	assert.LessOrEqual(t, env.observations()-before, 1, "it does not observe any more")
	env.waitForRemoval("one", inSync)

	require.NoError(t, env.server.Client.Create(t.Context(), env.marker()))
	env.waitFor("one", inSync, gardencorev1beta1.ConditionTrue)
	stop()

	// A process that starts after the deletion finishes it.
	require.NoError(t, env.server.Client.Delete(t.Context(), env.marker()))
	env.registry = prometheus.NewRegistry()
	env.run()
	env.waitForRemoval("one", inSync)
}

// The controller cannot delete its own rights before it has used them, and nothing else deletes them.
func TestObserver_UninstalledWithClusterObjects(t *testing.T) {
	env := newEnvironment(t)
	env.options.Marker = client.ObjectKey{Namespace: env.namespace, Name: "marker"}
	named := metav1.ObjectMeta{Name: "trellis:" + env.namespace, OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "v1", Kind: "ConfigMap", Name: "another", UID: "another"},
	}}
	role := &rbacv1.ClusterRole{ObjectMeta: named, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}}}}
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: named, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name}}
	for _, object := range []client.Object{role, binding} {
		require.NoError(t, env.server.Client.Create(t.Context(), object))
		t.Cleanup(func() { _ = env.server.Client.Delete(context.WithoutCancel(t.Context()), object) })
	}
	namespace := &corev1.Namespace{}
	require.NoError(t, env.server.Client.Get(t.Context(), client.ObjectKey{Name: env.namespace}, namespace))
	want := append(slices.Clone(named.OwnerReferences), metav1.OwnerReference{APIVersion: "v1", Kind: "Namespace", Name: namespace.Name, UID: namespace.UID})

	env.run()
	for range 2 { // the second time, the owners are there
		marker := env.marker()
		marker.Data = map[string]string{observer.MarkerClusterRole: role.Name, observer.MarkerClusterRoleBinding: binding.Name}
		require.NoError(t, env.server.Client.Create(t.Context(), marker))
		require.NoError(t, env.server.Client.Delete(t.Context(), marker))
		env.waitForMarkerRemoval()
		for _, object := range []client.Object{role, binding} {
			require.NoError(t, env.server.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object))
			assert.Equal(t, want, object.GetOwnerReferences())
		}
		assert.Len(t, role.Rules, 1)
	}
	marker := env.marker()
	marker.Data = map[string]string{observer.MarkerClusterRole: "missing:" + env.namespace}
	require.NoError(t, env.server.Client.Create(t.Context(), marker))
	require.NoError(t, env.server.Client.Delete(t.Context(), marker))
	env.waitForMarkerRemoval()
}

func TestAdd_Invalid(t *testing.T) {
	env := newEnvironment(t)
	for sentence, test := range map[string]struct {
		change func(*observer.Observer[*object], *observer.Options)
		want   string
	}{
		"no types":               {func(_ *observer.Observer[*object], o *observer.Options) { o.Types = nil }, "no types were given"},
		"an unknown observation": {func(_ *observer.Observer[*object], o *observer.Options) { o.Observations = []string{"cost"} }, `there is no observation "cost" of contract infrastructure; there are: drift, quota`},
		"a class without shoots": {func(_ *observer.Observer[*object], o *observer.Options) {
			o.Classes = []extensionsv1alpha1.ExtensionClass{"garden"}
		}, `extension class "garden" cannot be observed`},
		"a condition of gardenlet's": {func(d *observer.Observer[*object], _ *observer.Options) { d.Observations[0].Condition = primary }, "cannot report condition ControlPlaneHealthy"},
	} {
		t.Run(sentence, func(t *testing.T) {
			declaration, options := env.declaration(), env.options
			test.change(&declaration, &options)
			require.ErrorContains(t, observer.Add(nil, declaration, options), test.want)
		})
	}
}

// succeedUntilObserved writes successes until the object is observed: a process that has just started observes existing objects within an interval.
func (env *environment) succeedUntilObserved(name string) {
	env.t.Helper()
	require.Eventually(env.t, func() bool {
		o := env.get(name)
		env.patchStatus(o, func(status *extensionsv1alpha1.InfrastructureStatus) {
			status.LastOperation.LastUpdateTime = metav1.NewTime(status.LastOperation.LastUpdateTime.Add(-time.Second))
		})
		return env.observations() > 0
	}, timeout, time.Second)
}

// writeHealth writes a condition of the primary as its health check does.
func (env *environment) writeHealth(message string) error {
	for {
		o := env.get("one")
		before := o.DeepCopy()
		o.Status.Conditions = v1beta1helper.MergeConditions(o.Status.Conditions, gardencorev1beta1.Condition{
			Type: primary, Status: gardencorev1beta1.ConditionTrue, Reason: "HealthCheckSuccessful", Message: message,
			LastTransitionTime: metav1.Now(), LastUpdateTime: metav1.Now(),
		})
		err := env.server.Client.Status().Patch(env.t.Context(), o, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
		if !apierrors.IsConflict(err) {
			return err
		}
	}
}

func (env *environment) annotate(o *object, operation string) {
	env.t.Helper()
	before := o.DeepCopy()
	metav1.SetMetaDataAnnotation(&o.ObjectMeta, v1beta1constants.GardenerOperation, operation)
	if operation == "" {
		delete(o.Annotations, v1beta1constants.GardenerOperation)
	}
	require.NoError(env.t, env.server.Client.Patch(env.t.Context(), o, client.MergeFrom(before)))
}

func (env *environment) setOperationState(o *object, state gardencorev1beta1.LastOperationState) {
	env.t.Helper()
	env.patchStatus(o, func(status *extensionsv1alpha1.InfrastructureStatus) { status.LastOperation.State = state })
}

// metric returns the values of a metric by its label observation.
func (env *environment) metric(name string) map[string]float64 {
	env.t.Helper()
	families, err := env.registry.Gather()
	require.NoError(env.t, err)
	values := map[string]float64{}
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, metric := range family.GetMetric() {
			labels := map[string]string{}
			for _, label := range metric.GetLabel() {
				labels[label.GetName()] = label.GetValue()
			}
			assert.Equal(env.t, env.namespace, labels["namespace"])
			values[labels["observation"]] = metric.GetGauge().GetValue()
		}
	}
	return values
}
