package observer_test

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/observer"
)

var apiServer contracttest.Shared

func TestMain(m *testing.M) { os.Exit(apiServer.Run(m)) }

type (
	object = extensionsv1alpha1.Infrastructure
	input  = observer.Input[*object]
)

const (
	inSync  gardencorev1beta1.ConditionType = "InSync"
	enough  gardencorev1beta1.ConditionType = "Enough"
	primary gardencorev1beta1.ConditionType = "ControlPlaneHealthy"
	timeout                                 = time.Minute
)

// environment is a namespace of a shoot with one object, and a process that observes it.
type environment struct {
	t         *testing.T
	server    *contracttest.APIServer
	namespace string
	fixture   contracttest.Fixture
	faults    *contracttest.Faults
	registry  *prometheus.Registry
	options   observer.Options

	mutex   sync.Mutex
	observe observer.Observe[*object]
	calls   int
}

func newEnvironment(t *testing.T) *environment {
	t.Helper()
	t.Parallel()
	server := apiServer.Get(t)
	namespace, err := server.NewNamespace(t.Context())
	require.NoError(t, err)
	env := &environment{
		t: t, server: server, namespace: namespace, faults: &contracttest.Faults{}, registry: prometheus.NewRegistry(),
		fixture: contracttest.Fixture{ProviderType: "test-" + namespace, TechnicalID: namespace, UID: "d5f9bd42-5fd0-4e4c-9f4c-7a7a86e5b8a1"},
	}
	// A cleanup removes the conditions of all objects of a type, so each test has a type of its own.
	env.options = observer.Options{Types: []string{env.fixture.ProviderType}, Interval: 50 * time.Millisecond}
	cluster, err := env.fixture.Cluster(namespace)
	require.NoError(t, err)
	require.NoError(t, server.Client.Create(t.Context(), cluster))
	env.find(observer.Finding{Healthy: true, Message: "Nothing differs."})
	return env
}

// find makes all further observations return the finding for drift, and nothing for quota.
func (env *environment) find(finding observer.Finding) {
	env.setObserve(func(context.Context, input) (observer.Result, error) {
		return observer.Result{Findings: map[string]observer.Finding{"drift": finding}}, nil
	})
}

func (env *environment) setObserve(observe observer.Observe[*object]) {
	env.mutex.Lock()
	defer env.mutex.Unlock()
	env.observe = observe
}

func (env *environment) observations() int {
	env.mutex.Lock()
	defer env.mutex.Unlock()
	return env.calls
}

func (env *environment) declaration() observer.Observer[*object] {
	return observer.Observer[*object]{
		Name: "infrastructure", New: func() *object { return &object{} },
		Observations: []observer.Observation{{Name: "drift", Condition: inSync}, {Name: "quota", Condition: enough}},
		Observe: func(ctx context.Context, in input) (observer.Result, error) {
			env.mutex.Lock()
			env.calls++
			observe := env.observe
			env.mutex.Unlock()
			assert.Equal(env.t, contracttest.Region, in.Object.Spec.Region, "objects are read whole, from the API server")
			return observe(ctx, in)
		},
	}
}

// run starts the process. The function that it returns stops it.
func (env *environment) run() (stop func()) {
	env.t.Helper()
	env.options.Registerer = env.registry
	host := contracttest.Host{
		Server: env.server, Namespace: env.namespace, Faults: env.faults, Journal: &contracttest.Journal{},
		CacheTransform: contract.CacheTransform(func(o *object) { o.Spec.Region = "" }),
	}
	instance, err := host.Start(context.WithoutCancel(env.t.Context()), func(mgr manager.Manager, _ contracttest.Transport) error {
		return errors.Join(extensionsv1alpha1.AddToScheme(mgr.GetScheme()), observer.Add(mgr, env.declaration(), env.options))
	})
	require.NoError(env.t, err)
	stop = sync.OnceFunc(func() { require.NoError(env.t, instance.Stop()) })
	env.t.Cleanup(stop)
	return stop
}

// create creates an object that a primary has reconciled.
func (env *environment) create(name string) *object {
	env.t.Helper()
	o := &object{
		ObjectMeta: metav1.ObjectMeta{Namespace: env.namespace, Name: name},
		Spec:       extensionsv1alpha1.InfrastructureSpec{DefaultSpec: extensionsv1alpha1.DefaultSpec{Type: env.fixture.ProviderType}, Region: contracttest.Region},
	}
	require.NoError(env.t, env.server.Client.Create(env.t.Context(), o))
	env.succeed(o)
	return o
}

// succeed writes a success of the primary as controllers do: without a lock, and without conditions.
func (env *environment) succeed(o *object) {
	env.t.Helper()
	env.patchStatus(o, func(status *extensionsv1alpha1.InfrastructureStatus) {
		status.LastOperation = &gardencorev1beta1.LastOperation{
			Type: gardencorev1beta1.LastOperationTypeReconcile, State: gardencorev1beta1.LastOperationStateSucceeded, Progress: 100,
			Description: "Infrastructure is reconciled", LastUpdateTime: metav1.NewTime(time.Now().Add(-2 * time.Second)),
		}
	})
}

func (env *environment) patchStatus(o *object, change func(*extensionsv1alpha1.InfrastructureStatus)) {
	env.t.Helper()
	before := o.DeepCopy()
	change(&o.Status)
	require.NoError(env.t, env.server.Client.Status().Patch(env.t.Context(), o, client.MergeFrom(before)))
}

func (env *environment) get(name string) *object {
	env.t.Helper()
	o := &object{}
	require.NoError(env.t, env.server.Client.Get(env.t.Context(), client.ObjectKey{Namespace: env.namespace, Name: name}, o))
	return o
}

// waitFor waits until the condition has the status.
func (env *environment) waitFor(name string, conditionType gardencorev1beta1.ConditionType, status gardencorev1beta1.ConditionStatus) gardencorev1beta1.Condition {
	env.t.Helper()
	var condition *gardencorev1beta1.Condition
	require.Eventually(env.t, func() bool {
		condition = v1beta1helper.GetCondition(env.get(name).Status.Conditions, conditionType)
		return condition != nil && condition.Status == status
	}, timeout, 20*time.Millisecond, "condition %s does not become %s", conditionType, status)
	return *condition
}

func (env *environment) waitForRemoval(name string, conditionType gardencorev1beta1.ConditionType) {
	env.t.Helper()
	require.Eventually(env.t, func() bool {
		return v1beta1helper.GetCondition(env.get(name).Status.Conditions, conditionType) == nil
	}, timeout, 20*time.Millisecond, "condition %s stays", conditionType)
}

// changeShoot rewrites the shoot in the Cluster.
func (env *environment) changeShoot(change func(*gardencorev1beta1.Shoot)) {
	env.t.Helper()
	shoot := env.fixture.Shoot()
	change(shoot)
	wanted, err := contracttest.NewCluster(env.namespace, shoot, env.fixture.CloudProfile(), nil)
	require.NoError(env.t, err)
	current := &extensionsv1alpha1.Cluster{}
	require.NoError(env.t, env.server.Client.Get(env.t.Context(), client.ObjectKey{Name: env.namespace}, current))
	current.Spec = wanted.Spec
	require.NoError(env.t, env.server.Client.Update(env.t.Context(), current))
}

// events returns the reasons of all Events in the shoot's namespace.
func (env *environment) events() []string {
	env.t.Helper()
	list := &eventsv1.EventList{}
	require.NoError(env.t, env.server.Client.List(env.t.Context(), list, client.InNamespace(env.namespace)))
	var reasons []string
	for _, event := range list.Items {
		if event.Regarding.Kind == "Infrastructure" {
			reasons = append(reasons, event.Type+" "+event.Reason)
		}
	}
	return reasons
}

func (env *environment) marker() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: env.namespace, Name: "marker", Finalizers: []string{observer.CleanupFinalizer},
	}}
}

// waitForMarkerRemoval waits until the process has removed the finalizer of a deleted marker.
func (env *environment) waitForMarkerRemoval() {
	env.t.Helper()
	require.Eventually(env.t, func() bool {
		return apierrors.IsNotFound(env.server.Client.Get(env.t.Context(), env.options.Marker, env.marker()))
	}, timeout, 20*time.Millisecond, "the finalizer stays")
}
