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

// scenario is a story with nothing going wrong in it that the controller could be blamed for.
type scenario struct {
	name string
	play func(T, *world)
}

func scenarios() []scenario {
	return slices.Concat(lives(), moves(), departures(), updates())
}

func lives() []scenario {
	return []scenario{
		{"create, again, delete", func(t T, w *world) {
			s := newStage(t, w, NewServers(), 1)
			object := s.create()
			checkStatus(t, s, object)
			h, _ := s.read(t.Context())
			assert.Empty(t, w.expected.differences(h), "the cloud holds what the pools share")
			s.again()
			s.delete()
		}},
		{"grow and shrink, with what others have decided", growAndShrink},
		{"replace the machines of one pool", replaceOnePool},
		{"drop a pool", dropPool},
		{"drop a pool and think better of it", dropPoolAndReturn},
		{"sleep and wake up", sleepAndWakeUp},
		{"born asleep", bornAsleep},
		{"machines that cannot be made", troubled},
		{"a machine-controller-manager that is slow", slowManager},
	}
}

// checkStatus holds the status against what gardenlet reads of it.
func checkStatus(t T, s *stage, object *extensionsv1alpha1.Worker) {
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
	assert.Nil(t, object.Status.State, "the state belongs to gardenlet")
	assert.Empty(t, object.Status.Resources)
}

// growAndShrink changes limits between which the cluster-autoscaler has chosen a number.
func growAndShrink(t T, w *world) {
	s := newStage(t, w, NewServers(), 1)
	s.create()
	d := s.deployment(s.firstDeployment())
	patch := client.MergeFrom(d.DeepCopy())
	d.Spec.Replicas = 2
	metav1.SetMetaDataAnnotation(&d.ObjectMeta, "example.org/note", "a user's")
	require.NoError(t, s.client.Patch(t.Context(), d, patch))
	s.manager.Settle(t.Context())

	s.again()
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

// replaceOnePool changes what makes a node another one, in one pool of two.
func replaceOnePool(t T, w *world) {
	s := newStage(t, w, NewServers(), 1)
	before := s.create()
	rolled, others := before.Spec.Pools[0].Name, before.Spec.Pools[1].Name
	old, kept := s.serversOf(rolled), s.serversOf(others)
	s.reconcile(func(object *extensionsv1alpha1.Worker) {
		object.Spec.Pools[0].NodeAgentSecretName = new("gardener-node-agent-next-00001")
	})
	for _, id := range s.serversOf(rolled) {
		assert.NotContains(t, old, id, "the machine is replaced")
	}
	assert.ElementsMatch(t, kept, s.serversOf(others), "the other pool's are not")
	s.again()
	s.delete()
}

// dropPool removes the last pool.
func dropPool(t T, w *world) {
	s := newStage(t, w, NewServers(), 1)
	s.create()
	last := len(s.object.Spec.Pools) - 1
	h, violations := s.read(t.Context())
	require.NotNil(t, h, violations)
	before := len(h.resources)
	dropped, kept := s.object.Spec.Pools[last].Name, s.serversOf(s.object.Spec.Pools[0].Name)
	object := s.reconcile(func(object *extensionsv1alpha1.Worker) { object.Spec.Pools = object.Spec.Pools[:last] })
	assert.Empty(t, s.serversOf(dropped))
	assert.ElementsMatch(t, kept, s.serversOf(s.object.Spec.Pools[0].Name), "what another pool's machines are like has no say")
	checkStatus(t, s, object)
	h, _ = s.read(t.Context())
	assert.LessOrEqual(t, len(h.resources), before)
	assert.NotEmpty(t, s.servers.Drained(), "nodes are drained before their machines go")
	s.again()
	s.reconcile(func(object *extensionsv1alpha1.Worker) { object.Spec.Pools = s.object.Spec.Pools })
	h, _ = s.read(t.Context())
	assert.Len(t, h.resources, before, "a pool that comes back has all that it had")
	s.delete()
}

// dropPoolAndReturn wants a pool again whose deletion is under way.
func dropPoolAndReturn(t T, w *world) {
	s := newStage(t, w, NewServers(), 1)
	s.create()
	before := s.servers.All()
	first := s.object.Spec.Pools[0].Name
	kept := s.serversOf(first)
	s.manager.pause()
	s.change(func(object *extensionsv1alpha1.Worker) { object.Spec.Pools = object.Spec.Pools[:1] })
	s.order(v1beta1constants.GardenerOperationReconcile)
	s.waits("to go")
	s.change(func(object *extensionsv1alpha1.Worker) { object.Spec.Pools = s.object.Spec.Pools })
	require.NoError(t, s.Request(t.Context(), v1beta1constants.GardenerOperationReconcile))
	s.waits("is wanted again")
	s.manager.resume()
	s.ready()
	assert.Len(t, s.servers.All(), len(before))
	assert.ElementsMatch(t, kept, s.serversOf(first))
	s.again()
	s.delete()
}

func hibernated(shoot *gardencorev1beta1.Shoot) {
	shoot.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: new(true)}
}

func asleep(shoot *gardencorev1beta1.Shoot) {
	hibernated(shoot)
	shoot.Status.IsHibernated = true
}

func sleepAndWakeUp(t T, w *world) {
	s := newStage(t, w, NewServers(), 1)
	s.create()
	s.reshape(hibernated)
	s.reconcile()
	assert.Empty(t, s.servers.All())
	assert.Empty(t, s.servers.Drained(), "nobody waits for the workload of a shoot that goes to sleep")
	assert.Zero(t, s.managers(), "machine-controller-manager sleeps, too")
	s.reshape(asleep)
	s.again()

	s.reshape()
	s.scale(1)
	s.reconcile()
	assert.NotEmpty(t, s.serversOf(s.object.Spec.Pools[0].Name))
	assert.Equal(t, int32(1), s.managers())
	s.reshape(hibernated)
	s.reconcile()
	s.scale(1) // gardenlet does so to delete a shoot
	s.delete()
}

func bornAsleep(t T, w *world) {
	s := newStage(t, w, NewServers(), 0, hibernated)
	s.create()
	assert.Empty(t, s.servers.All())
	s.again()
	s.scale(1)
	s.delete()
}

// troubled is about a cloud that does not make machines, for reasons that a user must mend and others.
func troubled(t T, w *world) {
	s := newStage(t, w, NewServers(), 1)
	s.manager.Hinder(s.firstDeployment(), &Trouble{Code: "Unavailable", What: "the cloud is out for lunch"})
	s.deploy(v1beta1constants.GardenerOperationReconcile)
	object := s.waits("pool "+s.object.Spec.Pools[0].Name, "out for lunch")
	assert.NotEmpty(t, object.Status.MachineDeployments, "gardenlet needs them to go on")
	assert.NotNil(t, object.Status.MachineDeploymentsLastUpdateTime)
	assert.NotNil(t, object.Status.ProviderStatus)
	assert.Nil(t, object.Status.LastError)

	s.manager.Hinder(s.firstDeployment(), &Trouble{Code: "PermissionDenied", What: "you may not make servers"})
	object = s.fails("you may not make servers")
	assert.Equal(t, []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorInfraUnauthorized}, object.Status.LastError.Codes)
	s.manager.Hinder(s.firstDeployment(), nil)
	s.ready()
	s.delete()
}

// slowManager is one that nobody must take for stuck.
func slowManager(t T, w *world) {
	s := newStage(t, w, NewServers(), 1)
	s.create()
	template := managerDeployment(s.namespace, 1).Spec.Template
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: nameManager + "-1", Labels: template.Labels}, Spec: template.Spec,
	}
	require.NoError(t, s.client.Create(t.Context(), pod))
	s.manager.blindfold(true)
	s.change(func(object *extensionsv1alpha1.Worker) {
		object.Spec.Pools[0].NodeAgentSecretName = new("gardener-node-agent-next-00001")
	})
	s.order(v1beta1constants.GardenerOperationReconcile)
	s.waits("machine-controller-manager has yet to take up the change")
	// Longer than it takes to give another pod to one that is stuck.
	require.Never(t, func() bool {
		return s.client.Get(t.Context(), client.ObjectKeyFromObject(pod), &corev1.Pod{}) != nil
	}, 2*reviveAfter, reviveAfter/10)
	s.manager.blindfold(false)
	s.ready()
	s.delete()
}
