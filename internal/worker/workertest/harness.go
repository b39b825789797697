package workertest

import (
	"context"
	"fmt"
	"strings"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/worker"
)

// settleInterval is the interval at which the simulation acts on its own.
const settleInterval = 50 * time.Millisecond

// harness is a shoot's namespace in a seed, with a simulated gardenlet, a process under test, and a simulated machine-controller-manager.
type harness struct {
	*contracttest.Gardenlet[*extensionsv1alpha1.Worker]
	*inspector
	t       T
	env     *environment
	object  *extensionsv1alpha1.Worker
	host    contracttest.Host
	process *contracttest.Process
	// failing is true in a scenario with intended failures.
	failing bool
}

// newHarness creates a namespace and starts the process. Harnesses that share servers are seeds of the same shoot.
func newHarness(t T, env *environment, servers *Servers, managers int32, changes ...func(*gardencorev1beta1.Shoot)) *harness {
	t.Helper()
	namespace, err := env.server.NewNamespace(t.Context())
	require.NoError(t, err)
	others, err := env.cloud.Resources()
	require.NoError(t, err)
	before, err := env.gardener.prerequisites(namespace, managers, changes...)
	require.NoError(t, err)
	for _, object := range before {
		require.NoError(t, env.server.Client.Create(t.Context(), object))
	}
	object, err := env.gardener.worker(namespace)
	require.NoError(t, err)
	s := &harness{
		Gardenlet: contracttest.NewGardenlet(env.server, client.ObjectKeyFromObject(object), newWorker),
		inspector: &inspector{
			client: env.server.Client, namespace: namespace, servers: servers, manager: NewManager(env.server, namespace, servers),
			cloud: env.cloud, others: others,
		},
		t: t, env: env, object: object,
	}
	s.host = contracttest.Host{
		Server: env.server, Namespace: namespace, Faults: &contracttest.Faults{}, Journal: &contracttest.Journal{}, OnWrite: s.manager.OnWrite,
		CacheTransform: worker.CacheTransform,
	}
	s.start()
	s.settlePeriodically()
	return s
}

func (s *harness) start() {
	s.t.Helper()
	process, err := s.host.Run(context.WithoutCancel(s.t.Context()), func(mgr manager.Manager, cloud contracttest.Transport) error {
		return addController(s.env.subject, s.env.cloud, mgr, cloud)
	}, nil)
	require.NoError(s.t, err)
	s.process = process
	s.t.Cleanup(s.stop)
}

func (s *harness) stop() {
	if s.process == nil {
		return
	}
	failures := s.host.Journal.Failures() // before the end, which cancels pending calls, e.g. those that write events
	assert.NoError(s.t, s.process.Stop())
	s.process = nil
	if !s.failing {
		assert.Empty(s.t, failures, "the scenario has no failed calls")
	}
	if s.t.Failed() {
		s.t.Errorf("journal of %s:\n%s", s.namespace, s.host.Journal)
	}
}

// settlePeriodically makes the simulation act on its own until the test ends.
func (s *harness) settlePeriodically() {
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.t.Context()))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ticker := time.NewTicker(settleInterval); ; {
			select {
			case <-ctx.Done():
				ticker.Stop()
				return
			case <-ticker.C:
				s.manager.Settle(context.WithoutCancel(ctx))
			}
		}
	}()
	s.t.Cleanup(func() { cancel(); <-ended })
}

func (s *harness) timeoutContext() context.Context {
	ctx, cancel := context.WithTimeout(s.t.Context(), s.env.timeout)
	s.t.Cleanup(cancel)
	return ctx
}

func (s *harness) deploy(operation string) {
	s.t.Helper()
	require.NoError(s.t, s.Deploy(s.t.Context(), s.object.DeepCopy(), operation))
}

// create creates the Worker, waits until it is ready, and inspects everything.
func (s *harness) create() *extensionsv1alpha1.Worker {
	s.t.Helper()
	s.deploy(v1beta1constants.GardenerOperationReconcile)
	return s.waitReady()
}

func (s *harness) waitReady() *extensionsv1alpha1.Worker {
	s.t.Helper()
	object, err := s.WaitReady(s.timeoutContext())
	require.NoError(s.t, err)
	require.Empty(s.t, s.inspector.checkReady(s.t.Context()))
	return object
}

// change changes the Worker's spec as gardenlet does, without an operation annotation.
func (s *harness) change(change func(*extensionsv1alpha1.Worker)) {
	s.t.Helper()
	object, err := s.Get(s.t.Context())
	require.NoError(s.t, err)
	patch := client.MergeFrom(object.DeepCopy())
	change(object)
	require.NoError(s.t, s.client.Patch(s.t.Context(), object, patch))
}

// updateShoot changes the shoot in the Cluster.
func (s *harness) updateShoot(changes ...func(*gardencorev1beta1.Shoot)) {
	s.t.Helper()
	wanted, err := s.env.gardener.cluster(s.namespace, changes...)
	require.NoError(s.t, err)
	cluster := &extensionsv1alpha1.Cluster{}
	require.NoError(s.t, s.client.Get(s.t.Context(), client.ObjectKey{Name: s.namespace}, cluster))
	cluster.Spec = wanted.Spec
	require.NoError(s.t, s.client.Update(s.t.Context(), cluster))
}

// requestOperation requests an operation that can be distinguished from the previous one. The process must be idle.
func (s *harness) requestOperation(operation string) {
	s.t.Helper()
	require.NoError(s.t, s.Backdate(s.t.Context(), time.Minute))
	require.NoError(s.t, s.Request(s.t.Context(), operation))
}

// reconcile reconciles the Worker after changes.
func (s *harness) reconcile(changes ...func(*extensionsv1alpha1.Worker)) *extensionsv1alpha1.Worker {
	s.t.Helper()
	for _, change := range changes {
		s.change(change)
	}
	s.requestOperation(v1beta1constants.GardenerOperationReconcile)
	return s.waitReady()
}

// reconcileNoop asserts that a reconciliation without changes makes no write to the cloud, and two to the API server.
func (s *harness) reconcileNoop() {
	s.t.Helper()
	s.manager.Settle(s.t.Context())
	s.host.Faults.Arm(nil)
	s.reconcile()
	calls, _, _ := s.host.Faults.Disarm()
	assert.Empty(s.t, contracttest.WritesTo(contracttest.Cloud, calls), "a no-op changes the cloud")
	writes := contracttest.WithoutProgress(contracttest.WritesTo(contracttest.KubeAPI, calls))
	assert.LessOrEqual(s.t, len(writes), 2, "writes of a no-op to the API server: %v", writes)
}

// scale scales machine-controller-manager as gardenlet does.
func (s *harness) scale(replicas int32) {
	s.t.Helper()
	require.NoError(s.t, scaleManager(s.t.Context(), s.client, s.namespace, replicas))
	s.manager.waitIdle()
}

func (s *harness) delete() {
	s.t.Helper()
	drained := s.servers.Drained()
	require.NoError(s.t, s.Destroy(s.t.Context()))
	s.wait("deleted", func(object *extensionsv1alpha1.Worker) bool { return object == nil })
	require.Empty(s.t, s.checkDeleted(s.t.Context()))
	assert.Equal(s.t, drained, s.servers.Drained(), "machines of a deleted shoot are not drained")
}

// wait waits until the object, nil if it is gone, satisfies a condition.
func (s *harness) wait(what string, is func(*extensionsv1alpha1.Worker) bool) *extensionsv1alpha1.Worker {
	s.t.Helper()
	object, err := s.WaitFor(s.timeoutContext(), func(object *extensionsv1alpha1.Worker) error {
		if is(object) {
			return nil
		}
		return fmt.Errorf("not yet: %s; last operation: %+v; last error: %+v", what, object.Status.LastOperation, object.Status.LastError)
	})
	if client.IgnoreNotFound(err) == nil && err != nil && is(nil) {
		return nil
	}
	require.NoError(s.t, err)
	return object
}

// waitForError waits for an error that contains all texts.
func (s *harness) waitForError(words ...string) *extensionsv1alpha1.Worker {
	s.t.Helper()
	s.failing = true
	return s.wait("an error with "+strings.Join(words, ", "), func(object *extensionsv1alpha1.Worker) bool {
		return object != nil && object.Status.LastError != nil && containsAll(object.Status.LastError.Description, words)
	})
}

// waitForProgress waits for a progress that contains all texts.
func (s *harness) waitForProgress(words ...string) *extensionsv1alpha1.Worker {
	s.t.Helper()
	return s.wait("progress with "+strings.Join(words, ", "), func(object *extensionsv1alpha1.Worker) bool {
		operation := object.Status.LastOperation
		return operation != nil && operation.State == gardencorev1beta1.LastOperationStateProcessing && containsAll(operation.Description, words)
	})
}

func containsAll(text string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// serversOf returns the IDs of the servers of a pool.
func (s *harness) serversOf(pool string) []string {
	s.t.Helper()
	var machines machinev1alpha1.MachineList
	require.NoError(s.t, s.client.List(s.t.Context(), &machines, client.InNamespace(s.namespace)))
	var ids []string
	for _, machine := range machines.Items {
		if strings.HasPrefix(machine.Labels[labelName], shootIdentity().TechnicalID+"-"+pool+"-z") {
			ids = append(ids, machine.Spec.ProviderID)
		}
	}
	return ids
}

func (s *harness) deployment(name string) *machinev1alpha1.MachineDeployment {
	s.t.Helper()
	d := &machinev1alpha1.MachineDeployment{}
	require.NoError(s.t, s.client.Get(s.t.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, d))
	return d
}

// firstDeployment is the name of the first pool's deployment, which has one zone.
func (s *harness) firstDeployment() string {
	return shootIdentity().TechnicalID + "-" + s.object.Spec.Pools[0].Name + "-z1"
}

// managerReplicas is the desired number of machine-controller-manager's replicas.
func (s *harness) managerReplicas() int32 {
	s.t.Helper()
	deployment := managerDeployment(s.namespace, 0)
	require.NoError(s.t, s.client.Get(s.t.Context(), client.ObjectKeyFromObject(deployment), deployment))
	return *deployment.Spec.Replicas
}
