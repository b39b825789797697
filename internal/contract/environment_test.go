package contract_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
)

var apiServer contracttest.Shared

func TestMain(m *testing.M) { os.Exit(apiServer.Run(m)) }

type (
	object         = extensionsv1alpha1.Infrastructure
	reconciliation = contract.Reconciliation[*object]
)

const finalizer = "extensions.gardener.cloud/infrastructure"

// actuator is an Actuator of functions, each of which may be nil.
type actuator struct {
	mutex                                   sync.Mutex
	calls                                   []string
	reconcile, delete, forceDelete, migrate func(context.Context, *reconciliation) error
}

func (a *actuator) call(ctx context.Context, name string, p *reconciliation, do func(context.Context, *reconciliation) error) error {
	a.mutex.Lock()
	a.calls = append(a.calls, name+" "+string(p.Operation))
	a.mutex.Unlock()
	if do == nil {
		return nil
	}
	return do(ctx, p)
}

func (a *actuator) Reconcile(ctx context.Context, p *reconciliation) error {
	return a.call(ctx, "reconcile", p, a.reconcile)
}

func (a *actuator) Delete(ctx context.Context, p *reconciliation) error {
	return a.call(ctx, "delete", p, a.delete)
}

func (a *actuator) ForceDelete(ctx context.Context, p *reconciliation) error {
	return a.call(ctx, "force delete", p, a.forceDelete)
}

func (a *actuator) Migrate(ctx context.Context, p *reconciliation) error {
	return a.call(ctx, "migrate", p, a.migrate)
}

func (a *actuator) recordedCalls() []string {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return slices.Clone(a.calls)
}

// environment is one object of one shoot, a simulated gardenlet, and a process that reconciles the object.
type environment struct {
	*contracttest.Gardenlet[*object]
	t         *testing.T
	server    *contracttest.APIServer
	namespace string
	faults    *contracttest.Faults
	journal   *contracttest.Journal
	actuator  *actuator
	contract  contract.Contract[*object]
	options   contract.Options
}

func newEnvironment(t *testing.T, a *actuator) *environment {
	t.Helper()
	t.Parallel()
	server := apiServer.Get(t)
	namespace, err := server.NewNamespace(t.Context())
	require.NoError(t, err)
	fixture := contracttest.Fixture{ProviderType: "test", TechnicalID: namespace, UID: "d5f9bd42-5fd0-4e4c-9f4c-7a7a86e5b8a1"}
	cluster, err := fixture.Cluster(namespace)
	require.NoError(t, err)
	require.NoError(t, server.Client.Create(t.Context(), cluster))
	key := client.ObjectKey{Namespace: namespace, Name: "one"}
	return &environment{
		Gardenlet: contracttest.NewGardenlet(server, key, func() *object { return &object{} }),
		t:         t, server: server, namespace: namespace, actuator: a, faults: &contracttest.Faults{},
		journal: &contracttest.Journal{},
		contract: contract.Contract[*object]{
			Name: "infrastructure", Finalizer: finalizer, New: func() *object { return &object{} },
			Timeout: 20 * time.Second, Actuator: a,
		},
		options: contract.Options{
			Types: []string{"test"},
			Retry: contract.Retry{Base: 5 * time.Millisecond, Max: 50 * time.Millisecond},
		},
	}
}

// run starts a process that is stopped with the test.
func (s *environment) run() *contracttest.Instance {
	s.t.Helper()
	instance := s.start()
	s.t.Cleanup(func() { require.NoError(s.t, instance.Stop()) })
	return instance
}

func (s *environment) start() *contracttest.Instance {
	s.t.Helper()
	host := contracttest.Host{Server: s.server, Namespace: s.namespace, Faults: s.faults, Journal: s.journal}
	instance, err := host.Start(context.WithoutCancel(s.t.Context()), func(mgr manager.Manager, _ contracttest.Transport) error {
		return errors.Join(extensionsv1alpha1.AddToScheme(mgr.GetScheme()), contract.Add(mgr, s.contract, s.options))
	})
	require.NoError(s.t, err)
	return instance
}

// deploy creates the object with a request.
func (s *environment) deploy(operation string, changes ...func(*object)) {
	s.t.Helper()
	o := &object{Spec: extensionsv1alpha1.InfrastructureSpec{
		DefaultSpec: extensionsv1alpha1.DefaultSpec{Type: "test"}, Region: contracttest.Region,
	}}
	for _, change := range changes {
		change(o)
	}
	require.NoError(s.t, s.Deploy(s.t.Context(), o, operation))
}

func (s *environment) ready() *object {
	s.t.Helper()
	o, err := s.WaitReady(s.timeoutContext())
	require.NoError(s.t, err)
	return o
}

func (s *environment) wait(check func(*object) error) *object {
	s.t.Helper()
	o, err := s.WaitFor(s.timeoutContext(), check)
	require.NoError(s.t, err)
	return o
}

func (s *environment) get() *object {
	s.t.Helper()
	o, err := s.Get(s.t.Context())
	require.NoError(s.t, err)
	return o
}

func (s *environment) timeoutContext() context.Context {
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	s.t.Cleanup(cancel)
	return ctx
}

// changeShoot rewrites the shoot in the Cluster.
func (s *environment) changeShoot(change func(*gardencorev1beta1.Shoot)) {
	s.t.Helper()
	fixture := contracttest.Fixture{ProviderType: "test", TechnicalID: s.namespace}
	shoot := fixture.Shoot()
	change(shoot)
	wanted, err := contracttest.NewCluster(s.namespace, shoot, fixture.CloudProfile(), nil)
	require.NoError(s.t, err)
	current := &extensionsv1alpha1.Cluster{}
	require.NoError(s.t, s.server.Client.Get(s.t.Context(), client.ObjectKey{Name: s.namespace}, current))
	current.Spec = wanted.Spec
	require.NoError(s.t, s.server.Client.Update(s.t.Context(), current))
}
