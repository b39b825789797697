package workertest

import (
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// scenario is a sequence of operations without faults.
type scenario struct {
	name string
	run  func(T, *environment)
}

func scenarios() []scenario {
	return slices.Concat(lifecycleScenarios(), migrateScenarios(), deleteScenarios(), updateScenarios())
}

func lifecycleScenarios() []scenario {
	return []scenario{
		{"create, again, delete", func(t T, env *environment) {
			s := newHarness(t, env, NewServers(), 1)
			object := s.create()
			checkStatus(t, s, object)
			h, _ := s.read(t.Context())
			assert.Empty(t, env.expected.differences(h), "the cloud has the shared resources")
			s.reconcileNoop()
			s.delete()
		}},
		{"change the limits", changeLimits},
		{"replace the machines of one pool", replaceOnePool},
		{"remove a pool", removePool},
		{"remove and restore a pool", removeAndRestorePool},
		{"hibernate and wake up", hibernateAndWakeUp},
		{"create hibernated", createHibernated},
		{"failing creations", failingCreations},
		{"slow machine-controller-manager", slowManager},
	}
}

// checkStatus compares the status with what gardenlet reads of it.
func checkStatus(t T, s *harness, object *extensionsv1alpha1.Worker) {
	t.Helper()
	zones := 0
	for _, pool := range object.Spec.Pools {
		zones += len(pool.Zones)
	}
	require.Len(t, object.Status.MachineDeployments, zones)
	for _, d := range object.Status.MachineDeployments {
		assert.LessOrEqual(t, d.Minimum, s.deployment(d.Name).Spec.Replicas)
	}
	require.NotNil(t, object.Status.MachineDeploymentsLastUpdateTime)
	assert.Nil(t, object.Status.State, "gardenlet owns the state")
	assert.Empty(t, object.Status.Resources)
}

// changeLimits changes the limits after the cluster-autoscaler has set a number between them.
func changeLimits(t T, env *environment) {
	s := newHarness(t, env, NewServers(), 1)
	s.create()
	d := s.deployment(s.firstDeployment())
	patch := client.MergeFrom(d.DeepCopy())
	d.Spec.Replicas = 2
	metav1.SetMetaDataAnnotation(&d.ObjectMeta, "example.org/note", "a user's")
	require.NoError(t, s.client.Patch(t.Context(), d, patch))
	s.manager.Settle(t.Context())

	s.reconcileNoop()
	limits := func(minimum, maximum int32) func(*extensionsv1alpha1.Worker) {
		return func(object *extensionsv1alpha1.Worker) {
			object.Spec.Pools[0].Minimum, object.Spec.Pools[0].Maximum = minimum, maximum
		}
	}
	for _, step := range []struct{ minimum, maximum, want int32 }{{1, 4, 2}, {3, 4, 3}, {1, 2, 2}, {1, 1, 1}} {
		object := s.reconcile(limits(step.minimum, step.maximum))
		assert.Equal(t, step.want, s.deployment(d.Name).Spec.Replicas, "between %d and %d", step.minimum, step.maximum)
		assert.Equal(t, step.maximum, object.Status.MachineDeployments[0].Maximum)
	}
	assert.Equal(t, "a user's", s.deployment(d.Name).Annotations["example.org/note"])
	s.delete()
}

// replaceOnePool changes the identity of nodes in one pool of two.
func replaceOnePool(t T, env *environment) {
	s := newHarness(t, env, NewServers(), 1)
	before := s.create()
	rolled, others := before.Spec.Pools[0].Name, before.Spec.Pools[1].Name
	old, kept := s.serversOf(rolled), s.serversOf(others)
	s.reconcile(func(object *extensionsv1alpha1.Worker) {
		object.Spec.Pools[0].NodeAgentSecretName = new("gardener-node-agent-next-00001")
	})
	for _, id := range s.serversOf(rolled) {
		assert.NotContains(t, old, id, "the machine is replaced")
	}
	assert.ElementsMatch(t, kept, s.serversOf(others), "machines of the other pool are kept")
	s.reconcileNoop()
	s.delete()
}

// removePool removes the last pool.
func removePool(t T, env *environment) {
	s := newHarness(t, env, NewServers(), 1)
	s.create()
	last := len(s.object.Spec.Pools) - 1
	h, violations := s.read(t.Context())
	require.NotNil(t, h, violations)
	before := len(h.resources)
	removed, kept := s.object.Spec.Pools[last].Name, s.serversOf(s.object.Spec.Pools[0].Name)
	object := s.reconcile(func(object *extensionsv1alpha1.Worker) { object.Spec.Pools = object.Spec.Pools[:last] })
	assert.Empty(t, s.serversOf(removed))
	assert.ElementsMatch(t, kept, s.serversOf(s.object.Spec.Pools[0].Name), "machines of other pools are kept")
	checkStatus(t, s, object)
	h, _ = s.read(t.Context())
	assert.LessOrEqual(t, len(h.resources), before)
	assert.NotEmpty(t, s.servers.Drained(), "nodes are drained before their machines are deleted")
	s.reconcileNoop()
	s.reconcile(func(object *extensionsv1alpha1.Worker) { object.Spec.Pools = s.object.Spec.Pools })
	h, _ = s.read(t.Context())
	assert.Len(t, h.resources, before, "a restored pool has all its resources")
	s.delete()
}

// removeAndRestorePool adds a pool again while it is being deleted.
func removeAndRestorePool(t T, env *environment) {
	s := newHarness(t, env, NewServers(), 1)
	s.create()
	before := s.servers.All()
	first := s.object.Spec.Pools[0].Name
	kept := s.serversOf(first)
	s.manager.pause()
	s.change(func(object *extensionsv1alpha1.Worker) { object.Spec.Pools = object.Spec.Pools[:1] })
	s.requestOperation(v1beta1constants.GardenerOperationReconcile)
	s.waitForProgress("being deleted")
	s.change(func(object *extensionsv1alpha1.Worker) { object.Spec.Pools = s.object.Spec.Pools })
	require.NoError(t, s.Request(t.Context(), v1beta1constants.GardenerOperationReconcile))
	s.waitForProgress("is wanted again")
	s.manager.resume()
	s.waitReady()
	assert.Len(t, s.servers.All(), len(before))
	assert.ElementsMatch(t, kept, s.serversOf(first))
	s.reconcileNoop()
	s.delete()
}

func enableHibernation(shoot *gardencorev1beta1.Shoot) {
	shoot.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: new(true)}
}

func setHibernated(shoot *gardencorev1beta1.Shoot) {
	enableHibernation(shoot)
	shoot.Status.IsHibernated = true
}

func hibernateAndWakeUp(t T, env *environment) {
	s := newHarness(t, env, NewServers(), 1)
	s.create()
	s.updateShoot(enableHibernation)
	s.reconcile()
	assert.Empty(t, s.servers.All())
	assert.Empty(t, s.servers.Drained(), "nodes are not drained before hibernation")
	assert.Zero(t, s.managerReplicas(), "machine-controller-manager is stopped")
	s.updateShoot(setHibernated)
	s.reconcileNoop()

	s.updateShoot()
	s.scale(1)
	s.reconcile()
	assert.NotEmpty(t, s.serversOf(s.object.Spec.Pools[0].Name))
	assert.Equal(t, int32(1), s.managerReplicas())
	s.updateShoot(enableHibernation)
	s.reconcile()
	s.scale(1) // as gardenlet does to delete a shoot
	s.delete()
}

func createHibernated(t T, env *environment) {
	s := newHarness(t, env, NewServers(), 0, enableHibernation)
	s.create()
	assert.Empty(t, s.servers.All())
	s.reconcileNoop()
	s.scale(1)
	s.delete()
}

// failingCreations has creations of machines fail, with errors that need the user and with others.
func failingCreations(t T, env *environment) {
	s := newHarness(t, env, NewServers(), 1)
	s.manager.SetCreateFailure(s.firstDeployment(), &CreateFailure{Code: "Unavailable", Message: "the cloud is unavailable"})
	s.deploy(v1beta1constants.GardenerOperationReconcile)
	object := s.waitForProgress("pool "+s.object.Spec.Pools[0].Name, "the cloud is unavailable")
	assert.NotEmpty(t, object.Status.MachineDeployments, "gardenlet waits for them")
	assert.NotNil(t, object.Status.MachineDeploymentsLastUpdateTime)
	assert.NotNil(t, object.Status.ProviderStatus)
	assert.Nil(t, object.Status.LastError)

	s.manager.SetCreateFailure(s.firstDeployment(), &CreateFailure{Code: "PermissionDenied", Message: "creating servers is forbidden"})
	object = s.waitForError("creating servers is forbidden")
	assert.Equal(t, []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorInfraUnauthorized}, object.Status.LastError.Codes)
	s.manager.SetCreateFailure(s.firstDeployment(), nil)
	s.waitReady()
	s.delete()
}

// slowManager has a slow machine-controller-manager, which must not be restarted.
func slowManager(t T, env *environment) {
	s := newHarness(t, env, NewServers(), 1)
	s.create()
	template := managerDeployment(s.namespace, 1).Spec.Template
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: nameManager + "-1", Labels: template.Labels}, Spec: template.Spec,
	}
	require.NoError(t, s.client.Create(t.Context(), pod))
	s.manager.setStalled(true)
	s.change(func(object *extensionsv1alpha1.Worker) {
		object.Spec.Pools[0].NodeAgentSecretName = new("gardener-node-agent-next-00001")
	})
	s.requestOperation(v1beta1constants.GardenerOperationReconcile)
	s.waitForProgress("machine-controller-manager has not observed the change yet")
	// This is longer than the time after which a stuck one is restarted.
	require.Never(t, func() bool {
		return s.client.Get(t.Context(), client.ObjectKeyFromObject(pod), &corev1.Pod{}) != nil
	}, 2*restartManagerAfter, restartManagerAfter/10)
	s.manager.setStalled(false)
	s.waitReady()
	s.delete()
}
