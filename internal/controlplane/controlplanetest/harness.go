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
	"github.com/trellis-garden/trellis/internal/controlplane"
)

// operationTimeout is how long a scenario waits for one operation.
const operationTimeout = 3 * time.Minute

// Harness is a shoot's namespace in a seed, with a gardenlet that asks for operations, a process that fulfils them, and a
// resource manager that acts upon what the process writes before the process goes on. What goes wrong, fails the test.
type Harness struct {
	*contracttest.Gardenlet[*extensionsv1alpha1.ControlPlane]
	// Client is an administrator's.
	Client    client.Client
	Namespace string
	Manager   *contracttest.ResourceManager
	Faults    *contracttest.Faults

	t         *testing.T
	server    *contracttest.APIServer
	fixture   shootFixture
	inspector *inspector
	journal   *contracttest.Journal
	instance  *contracttest.Instance
	changes   []func(*gardencorev1beta1.Shoot)
	slow      bool

	mutex  sync.Mutex
	writes []string
}

// NewHarness makes a namespace. No process runs in it yet.
func NewHarness(t *testing.T, server *contracttest.APIServer, subject Subject) *Harness {
	t.Helper()
	h := newHarness(t, server, subject, &inspector{
		client: server.Client, subject: subject, expected: &expectation{}, identity: &identity{},
		manager: newResourceManager(server, "", contracttest.NewObjectTracker()),
	})
	for _, object := range h.fixture.upstreamObjects() {
		require.NoError(t, server.Client.Create(t.Context(), object))
	}
	require.NoError(t, h.inspector.processExisting(t.Context()))
	return h
}

// OtherSeed returns a stage for the same shoot in another seed, where gardenlet has brought the Secrets that are persisted.
func (h *Harness) OtherSeed() *Harness {
	h.t.Helper()
	_, secrets, err := h.inspector.list(h.t.Context())
	require.NoError(h.t, err)
	other := newHarness(h.t, h.server, h.fixture.subject, h.inspector, h.changes...)
	for _, secret := range secrets {
		if secret.Labels["persist"] != "true" {
			continue
		}
		moved := &corev1.Secret{Data: secret.Data, Type: secret.Type, Immutable: secret.Immutable}
		moved.Namespace, moved.Name, moved.Labels = other.Namespace, secret.Name, secret.Labels
		require.NoError(h.t, h.Client.Create(h.t.Context(), moved))
	}
	return other
}

func newHarness(
	t *testing.T, server *contracttest.APIServer, subject Subject, template *inspector, changes ...func(*gardencorev1beta1.Shoot),
) *Harness {
	t.Helper()
	namespace, err := server.NewNamespace(t.Context())
	require.NoError(t, err)
	f := shootFixture{subject: subject, namespace: namespace}
	existing, err := f.objects()
	require.NoError(t, err)
	for _, object := range existing {
		require.NoError(t, server.Client.Create(t.Context(), object))
	}
	i := template.inOtherSeed(server, namespace)
	i.existing = secretNames(existing)
	h := &Harness{
		Gardenlet: contracttest.NewGardenlet(server, client.ObjectKey{Namespace: namespace, Name: "one"}, newControlPlane),
		Client:    server.Client, Namespace: namespace, Manager: i.manager, Faults: &contracttest.Faults{},
		t: t, server: server, fixture: f, inspector: i, journal: &contracttest.Journal{},
	}
	h.ChangeShoot(changes...)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("what happened in %s lately:\n%s", namespace, h.journal)
		}
	})
	return h
}

// Start starts the process. It ends with the test, or by Stop.
func (h *Harness) Start() *Harness {
	h.t.Helper()
	host := contracttest.Host{
		Server: h.server, Namespace: h.Namespace, Faults: h.Faults, Journal: h.journal, OnWrite: h.onWrite,
		CacheTransform: controlplane.CacheTransform,
	}
	instance, err := host.Start(context.WithoutCancel(h.t.Context()), func(mgr manager.Manager, _ contracttest.Transport) error {
		return program(h.fixture.subject, mgr)
	})
	require.NoError(h.t, err)
	h.instance = instance
	h.t.Cleanup(h.Stop)
	return h
}

// onWrite has the resource manager act upon a write, unless it takes its time.
func (h *Harness) onWrite(call contracttest.Call) {
	h.mutex.Lock()
	h.writes = append(h.writes, strings.TrimPrefix(call.String(), "kube "))
	h.mutex.Unlock()
	if !h.slow {
		h.Manager.OnWrite(call)
	}
}

// Writes returns the writes of the process that have taken effect since it was asked last, in order. Checksums are blotted out.
func (h *Harness) Writes() []string {
	h.t.Helper()
	// What everybody sees already, the process may not have heard of.
	require.Eventually(h.t, func() bool { return h.instance == nil || h.instance.IsIdle() }, operationTimeout, time.Millisecond)
	h.mutex.Lock()
	defer h.mutex.Unlock()
	writes := h.writes
	h.writes = nil
	return writes
}

// Stop ends the process in order.
func (h *Harness) Stop() {
	if h.instance == nil {
		return
	}
	assert.NoError(h.t, h.instance.Stop())
	h.instance = nil
}

// Slow makes the resource manager act some time after the process, as the real one does.
func (h *Harness) Slow() *Harness {
	h.t.Helper()
	h.slow = true
	ctx, cancel := context.WithCancel(context.WithoutCancel(h.t.Context()))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.Manager.Run(ctx)
	}()
	h.t.Cleanup(func() {
		cancel()
		<-ended
	})
	return h
}

// Deploy asks for the ControlPlane, with changes.
func (h *Harness) Deploy(operation string, changes ...func(*extensionsv1alpha1.ControlPlane)) {
	h.t.Helper()
	object, err := h.fixture.controlPlane()
	require.NoError(h.t, err)
	for _, change := range changes {
		change(object)
	}
	require.NoError(h.t, h.Gardenlet.Deploy(h.t.Context(), object, operation))
}

// Create asks for the ControlPlane and waits until it is ready and everything as it must be.
func (h *Harness) Create() *extensionsv1alpha1.ControlPlane {
	h.t.Helper()
	h.Deploy(v1beta1constants.GardenerOperationReconcile)
	return h.Ready()
}

// Reconcile has the ControlPlane reconciled, and waits likewise. The process must rest.
func (h *Harness) Reconcile() *extensionsv1alpha1.ControlPlane {
	h.t.Helper()
	h.RequestOperation(v1beta1constants.GardenerOperationReconcile)
	return h.Ready()
}

// RequestOperation asks for an operation so that it is told from the one before.
func (h *Harness) RequestOperation(operation string) {
	h.t.Helper()
	require.NoError(h.t, h.Backdate(h.t.Context(), time.Minute))
	require.NoError(h.t, h.Request(h.t.Context(), operation))
}

// Ready waits until the ControlPlane is ready and everything as it must be.
func (h *Harness) Ready() *extensionsv1alpha1.ControlPlane {
	h.t.Helper()
	object := h.Succeeded()
	require.Empty(h.t, h.inspector.checkReady(h.t.Context()))
	return object
}

// Succeeded waits until the ControlPlane is ready.
func (h *Harness) Succeeded() *extensionsv1alpha1.ControlPlane {
	h.t.Helper()
	object, err := h.WaitReady(h.timeoutContext())
	require.NoError(h.t, err)
	return object
}

// Wait waits until check finds nothing to object to.
func (h *Harness) Wait(check func(*extensionsv1alpha1.ControlPlane) error) *extensionsv1alpha1.ControlPlane {
	h.t.Helper()
	object, err := h.WaitFor(h.timeoutContext(), check)
	require.NoError(h.t, err)
	return object
}

// Delete has the ControlPlane deleted and waits until it is gone and nothing of it left.
func (h *Harness) Delete() {
	h.t.Helper()
	require.NoError(h.t, h.Destroy(h.t.Context()))
	h.Gone()
}

// Gone waits until the ControlPlane is gone and nothing of it left.
func (h *Harness) Gone() {
	h.t.Helper()
	require.NoError(h.t, h.WaitGone(h.timeoutContext()))
	require.Empty(h.t, h.inspector.checkGone(h.t.Context()))
}

// Leftovers returns the ManagedResources and Secrets that there are besides those that others have made.
func (h *Harness) Leftovers() []string {
	h.t.Helper()
	return h.inspector.leftovers(h.t.Context())
}

func (h *Harness) timeoutContext() context.Context {
	ctx, cancel := context.WithTimeout(h.t.Context(), operationTimeout)
	h.t.Cleanup(cancel)
	return ctx
}

// ChangeShoot changes the shoot in the Cluster, for good. The ControlPlane is not reconciled by that.
func (h *Harness) ChangeShoot(changes ...func(*gardencorev1beta1.Shoot)) {
	h.t.Helper()
	h.changes = append(h.changes, changes...)
	wanted, err := h.fixture.cluster(h.changes...)
	require.NoError(h.t, err)
	current := &extensionsv1alpha1.Cluster{}
	require.NoError(h.t, h.Client.Get(h.t.Context(), client.ObjectKey{Name: h.Namespace}, current))
	current.Spec = wanted.Spec
	require.NoError(h.t, h.Client.Update(h.t.Context(), current))
}

// ScaleKubeAPIServer does to the shoot's kube-apiserver what gardenlet does before and after hibernation.
func (h *Harness) ScaleKubeAPIServer(replicas int32) {
	h.t.Helper()
	deployment := &appsv1.Deployment{}
	key := client.ObjectKey{Namespace: h.Namespace, Name: v1beta1constants.DeploymentNameKubeAPIServer}
	require.NoError(h.t, h.Client.Get(h.t.Context(), key, deployment))
	deployment.Spec.Replicas = &replicas
	require.NoError(h.t, h.Client.Update(h.t.Context(), deployment))
}
