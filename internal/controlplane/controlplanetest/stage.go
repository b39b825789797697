package controlplanetest

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
)

// patience is how long a scenario waits for one operation.
const patience = time.Minute

// Stage is a shoot's namespace in a seed, with a gardenlet that asks for operations, a process that fulfils them, and a
// resource manager that acts upon what the process writes before the process goes on. What goes wrong, fails the test.
type Stage struct {
	*contracttest.Gardenlet[*extensionsv1alpha1.ControlPlane]
	// Client is an administrator's.
	Client    client.Client
	Namespace string
	Manager   *contracttest.ResourceManager
	Faults    *contracttest.Faults

	t         *testing.T
	server    *contracttest.APIServer
	gardener  gardener
	inspector *inspector
	journal   *contracttest.Journal
	life      *contracttest.Life
	changes   []func(*gardencorev1beta1.Shoot)
	slow      bool

	mutex  sync.Mutex
	writes []string
}

// NewStage makes a namespace. No process runs in it yet.
func NewStage(t *testing.T, server *contracttest.APIServer, subject Subject) *Stage {
	t.Helper()
	s := newStage(t, server, subject, &inspector{
		client: server.Client, subject: subject, expected: &expectation{}, identity: &identity{},
		manager: newResourceManager(server, "", contracttest.NewRecord()),
	})
	for _, object := range s.gardener.upstreams() {
		require.NoError(t, server.Client.Create(t.Context(), object))
	}
	require.NoError(t, s.inspector.settle(t.Context()))
	return s
}

// OtherSeed returns a stage for the same shoot in another seed, where gardenlet has brought the Secrets that are persisted.
func (s *Stage) OtherSeed() *Stage {
	s.t.Helper()
	_, secrets, err := s.inspector.list(s.t.Context())
	require.NoError(s.t, err)
	other := newStage(s.t, s.server, s.gardener.subject, s.inspector, s.changes...)
	for _, secret := range secrets {
		if secret.Labels["persist"] != "true" {
			continue
		}
		moved := &corev1.Secret{Data: secret.Data, Type: secret.Type, Immutable: secret.Immutable}
		moved.Namespace, moved.Name, moved.Labels = other.Namespace, secret.Name, secret.Labels
		require.NoError(s.t, s.Client.Create(s.t.Context(), moved))
	}
	return other
}

func newStage(
	t *testing.T, server *contracttest.APIServer, subject Subject, like *inspector, changes ...func(*gardencorev1beta1.Shoot),
) *Stage {
	t.Helper()
	namespace, err := server.NewNamespace(t.Context())
	require.NoError(t, err)
	g := gardener{subject: subject, namespace: namespace}
	given, err := g.objects()
	require.NoError(t, err)
	for _, object := range given {
		require.NoError(t, server.Client.Create(t.Context(), object))
	}
	i := like.inOtherSeed(server, namespace)
	i.given = secretsAmong(given)
	s := &Stage{
		Gardenlet: contracttest.NewGardenlet(server, client.ObjectKey{Namespace: namespace, Name: "one"}, newControlPlane),
		Client:    server.Client, Namespace: namespace, Manager: i.manager, Faults: &contracttest.Faults{},
		t: t, server: server, gardener: g, inspector: i, journal: &contracttest.Journal{},
	}
	s.ChangeShoot(changes...)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("what happened in %s lately:\n%s", namespace, s.journal)
		}
	})
	return s
}

// Start starts the process. It ends with the test, or by Stop.
func (s *Stage) Start() *Stage {
	s.t.Helper()
	host := contracttest.Host{
		Server: s.server, Namespace: s.Namespace, Faults: s.Faults, Journal: s.journal, Bystander: s.heard,
	}
	life, err := host.Start(context.WithoutCancel(s.t.Context()), func(mgr manager.Manager, _ contracttest.Transport) error {
		return program(s.gardener.subject, mgr)
	})
	require.NoError(s.t, err)
	s.life = life
	s.t.Cleanup(s.Stop)
	return s
}

// heard has the resource manager act upon a write, unless it takes its time.
func (s *Stage) heard(call contracttest.Call) {
	s.mutex.Lock()
	s.writes = append(s.writes, strings.TrimPrefix(call.String(), "kube "))
	s.mutex.Unlock()
	if !s.slow {
		s.Manager.Bystander(call)
	}
}

// Writes returns the writes of the process that have taken effect since it was asked last, in order. Checksums are blotted out.
func (s *Stage) Writes() []string {
	s.t.Helper()
	// What everybody sees already, the process may not have heard of.
	require.Eventually(s.t, func() bool { return s.life == nil || s.life.Rests() }, patience, time.Millisecond)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	writes := s.writes
	s.writes = nil
	return writes
}

// Stop ends the process in order.
func (s *Stage) Stop() {
	if s.life == nil {
		return
	}
	assert.NoError(s.t, s.life.Stop())
	s.life = nil
}

// Slow makes the resource manager act some time after the process, as the real one does.
func (s *Stage) Slow() *Stage {
	s.t.Helper()
	s.slow = true
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.t.Context()))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Manager.Run(ctx)
	}()
	s.t.Cleanup(func() {
		cancel()
		<-ended
	})
	return s
}

// Deploy asks for the ControlPlane, with changes.
func (s *Stage) Deploy(operation string, changes ...func(*extensionsv1alpha1.ControlPlane)) {
	s.t.Helper()
	object, err := s.gardener.controlPlane()
	require.NoError(s.t, err)
	for _, change := range changes {
		change(object)
	}
	require.NoError(s.t, s.Gardenlet.Deploy(s.t.Context(), object, operation))
}

// Create asks for the ControlPlane and waits until it is ready and everything as it must be.
func (s *Stage) Create() *extensionsv1alpha1.ControlPlane {
	s.t.Helper()
	s.Deploy(v1beta1constants.GardenerOperationReconcile)
	return s.Ready()
}

// Reconcile has the ControlPlane reconciled, and waits likewise. The process must rest.
func (s *Stage) Reconcile() *extensionsv1alpha1.ControlPlane {
	s.t.Helper()
	s.Order(v1beta1constants.GardenerOperationReconcile)
	return s.Ready()
}

// Order asks for an operation so that it is told from the one before.
func (s *Stage) Order(operation string) {
	s.t.Helper()
	require.NoError(s.t, s.Age(s.t.Context(), time.Minute))
	require.NoError(s.t, s.Request(s.t.Context(), operation))
}

// Ready waits until the ControlPlane is ready and everything as it must be.
func (s *Stage) Ready() *extensionsv1alpha1.ControlPlane {
	s.t.Helper()
	object := s.Succeeded()
	require.Empty(s.t, s.inspector.ready(s.t.Context()))
	return object
}

// Succeeded waits until the ControlPlane is ready.
func (s *Stage) Succeeded() *extensionsv1alpha1.ControlPlane {
	s.t.Helper()
	object, err := s.WaitReady(s.patience())
	require.NoError(s.t, err)
	return object
}

// Wait waits until check finds nothing to object to.
func (s *Stage) Wait(check func(*extensionsv1alpha1.ControlPlane) error) *extensionsv1alpha1.ControlPlane {
	s.t.Helper()
	object, err := s.WaitFor(s.patience(), check)
	require.NoError(s.t, err)
	return object
}

// Delete has the ControlPlane deleted and waits until it is gone and nothing of it left.
func (s *Stage) Delete() {
	s.t.Helper()
	require.NoError(s.t, s.Destroy(s.t.Context()))
	s.Gone()
}

// Gone waits until the ControlPlane is gone and nothing of it left.
func (s *Stage) Gone() {
	s.t.Helper()
	require.NoError(s.t, s.WaitGone(s.patience()))
	require.Empty(s.t, s.inspector.gone(s.t.Context()))
}

// Leftovers returns the ManagedResources and Secrets that there are besides those that others have made.
func (s *Stage) Leftovers() []string {
	s.t.Helper()
	return s.inspector.leftovers(s.t.Context())
}

func (s *Stage) patience() context.Context {
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	s.t.Cleanup(cancel)
	return ctx
}

// ChangeShoot changes the shoot in the Cluster, for good. The ControlPlane is not reconciled by that.
func (s *Stage) ChangeShoot(changes ...func(*gardencorev1beta1.Shoot)) {
	s.t.Helper()
	s.changes = append(s.changes, changes...)
	wanted, err := s.gardener.cluster(s.changes...)
	require.NoError(s.t, err)
	current := &extensionsv1alpha1.Cluster{}
	require.NoError(s.t, s.Client.Get(s.t.Context(), client.ObjectKey{Name: s.Namespace}, current))
	current.Spec = wanted.Spec
	require.NoError(s.t, s.Client.Update(s.t.Context(), current))
}

// ScaleKubeAPIServer does to the shoot's kube-apiserver what gardenlet does before and after hibernation.
func (s *Stage) ScaleKubeAPIServer(replicas int32) {
	s.t.Helper()
	deployment := &appsv1.Deployment{}
	key := client.ObjectKey{Namespace: s.Namespace, Name: v1beta1constants.DeploymentNameKubeAPIServer}
	require.NoError(s.t, s.Client.Get(s.t.Context(), key, deployment))
	deployment.Spec.Replicas = &replicas
	require.NoError(s.t, s.Client.Update(s.t.Context(), deployment))
}
