package workertest

import (
	"maps"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
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

// blindfold keeps the stand-in from seeing changes.
func (m *Manager) blindfold(blind bool) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.blind = blind
}

func moves() []scenario {
	return []scenario{
		{"move to another seed", func(t T, w *world) {
			servers := NewServers()
			source := newStage(t, w, servers, 1)
			source.create()
			before := servers.All()
			saved := source.leave()
			require.NotNil(t, saved)
			target := newStage(t, w, servers, 0)
			target.foreign = source.foreign
			target.arrive(saved)
			target.ready()
			assert.Equal(t, before, servers.All(), "the machines are the same")
			assert.Equal(t, int32(1), target.managers())
			require.NoError(t, target.PatchStatus(t.Context(), func(object *extensionsv1alpha1.Worker) { object.Status.State = nil }))
			target.again()

			// gardenlet asks once more when a later step of its own has failed, with what it saved then.
			target.reconcile(func(object *extensionsv1alpha1.Worker) {
				object.Spec.Pools[0].NodeAgentSecretName = new("gardener-node-agent-next-00001")
			})
			after := servers.All()
			require.NoError(t, target.PatchStatus(t.Context(), func(object *extensionsv1alpha1.Worker) { object.Status.State = saved }))
			target.order(v1beta1constants.GardenerOperationRestore)
			target.ready()
			assert.Equal(t, after, servers.All(), "machines that are gone stay gone")
			target.delete()
		}},
		{"move while machines are being replaced", moveWhileReplacing},
		{"move asleep", func(t T, w *world) {
			servers := NewServers()
			source := newStage(t, w, servers, 1)
			source.create()
			source.reshape(hibernated)
			source.reconcile()
			saved := source.leave()
			target := newStage(t, w, servers, 0, asleep)
			target.foreign = source.foreign
			target.arrive(saved)
			target.ready()
			assert.Empty(t, servers.All())
			assert.Zero(t, target.managers())
			target.reshape()
			target.scale(1)
			target.reconcile()
			assert.NotEmpty(t, servers.All())
			target.delete()
		}},
		{"move with nothing saved", func(t T, w *world) {
			servers := NewServers()
			s := newStage(t, w, servers, 0)
			s.arrive(nil)
			object := s.fails("nothing tells of the machines")
			assert.Equal(t, []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorConfigurationProblem}, object.Status.LastError.Codes)
			assert.Zero(t, s.managers())
			s.change(func(object *extensionsv1alpha1.Worker) {
				metav1.SetMetaDataAnnotation(&object.ObjectMeta, "worker.trellis.garden/restore-without-machines", "true")
			})
			s.ready()
			assert.NotEmpty(t, servers.All())
			s.delete()
		}},
		{"delete in the middle of a move", deleteWhileMoving},
		{"take over from another extension", takeOver},
	}
}

// moveWhileReplacing moves a shoot that has machines of two classes in one pool.
func moveWhileReplacing(t T, w *world) {
	servers := NewServers()
	source := newStage(t, w, servers, 1)
	source.create()
	source.manager.Hinder(source.firstDeployment(), &Trouble{Code: "Unavailable", What: "no new ones"})
	next := func(object *extensionsv1alpha1.Worker) {
		object.Spec.Pools[0].NodeAgentSecretName = new("gardener-node-agent-next-00001")
	}
	source.change(next)
	source.order(v1beta1constants.GardenerOperationReconcile)
	source.waits("no new ones")
	before := servers.All()
	saved := source.leave()

	target := newStage(t, w, servers, 0)
	target.foreign = source.foreign
	next(target.object)
	target.arrive(saved)
	target.ready()
	after := servers.All()
	replaced := 0
	for id := range before {
		if after[id] == "" {
			replaced++
		}
	}
	assert.Equal(t, 1, replaced, "what was begun is brought to an end, and nothing else happens")
	assert.Len(t, after, len(before))
	target.delete()
}

// deleteWhileMoving deletes a shoot of which machine-controller-manager has not seen the restored machines.
func deleteWhileMoving(t T, w *world) {
	servers := NewServers()
	source := newStage(t, w, servers, 1)
	source.create()
	saved := source.leave()
	target := newStage(t, w, servers, 0)
	target.foreign = source.foreign
	target.manager.pause()
	target.arrive(saved)
	target.wait("machines are waited for", func(object *extensionsv1alpha1.Worker) bool {
		return object.Status.MachineDeploymentsLastUpdateTime != nil
	})
	require.NoError(t, target.Destroy(t.Context()))
	target.stop()
	target.start()
	target.waits("has yet to look at machine")
	target.manager.resume()
	target.wait("it is gone", func(object *extensionsv1alpha1.Worker) bool { return object == nil })
	require.Empty(t, target.gone(t.Context()))
}

// takeOver serves a pool that has something which the extension before has ignored: its machines stay what they are, in this seed and in
// the next, until they are replaced for another reason.
func takeOver(t T, w *world) {
	if w.gardener.inputs.Former == nil {
		return
	}
	servers := NewServers()
	source := newStage(t, w, servers, 1)
	source.create()
	before := servers.All()
	source.disown()
	former := func(object *extensionsv1alpha1.Worker) { w.gardener.inputs.Former(&object.Spec.Pools[0]) }
	remarked := source.reconcile(former)
	assert.Equal(t, before, servers.All())
	assert.NotRegexp(t, "succeeded$", remarked.Status.LastOperation.Description, "users are told what is left out")
	source.again()
	saved := source.leave()

	target := newStage(t, w, servers, 0)
	target.foreign = source.foreign
	former(target.object)
	target.arrive(saved)
	target.ready()
	assert.Equal(t, before, servers.All())
	require.NoError(t, target.PatchStatus(t.Context(), func(object *extensionsv1alpha1.Worker) { object.Status.State = nil }))
	target.again()

	object := target.reconcile(func(object *extensionsv1alpha1.Worker) {
		object.Spec.Pools[0].NodeAgentSecretName = new("gardener-node-agent-next-00001")
	})
	assert.NotSubset(t, slices.Collect(maps.Keys(before)), target.serversOf(object.Spec.Pools[0].Name))
	assert.Regexp(t, "succeeded$", object.Status.LastOperation.Description)
	after := servers.All()
	target.again()
	assert.Equal(t, after, servers.All())
	target.delete()
}

// disown takes our marks from classes and their secrets, so that they are as another extension makes them.
func (s *stage) disown() {
	s.t.Helper()
	h, violations := s.read(s.t.Context())
	require.NotNil(s.t, h, violations)
	var objects []client.Object
	for i := range h.classes.Items {
		objects = append(objects, &h.classes.Items[i])
	}
	for i := range h.secrets.Items {
		objects = append(objects, &h.secrets.Items[i])
	}
	for _, object := range objects {
		//nolint:forcetypeassert // a deep copy has the type of its original
		before := object.DeepCopyObject().(client.Object)
		labels := maps.Clone(object.GetLabels())
		maps.DeleteFunc(labels, func(key, _ string) bool { return key != v1beta1constants.GardenerPurpose })
		object.SetLabels(labels)
		require.NoError(s.t, s.client.Patch(s.t.Context(), object, client.MergeFrom(before)))
	}
}

// pause makes the stand-in rest, whatever its Deployment says, until resume.
func (m *Manager) pause() {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.paused = true
}

func (m *Manager) resume() {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.paused = false
}

func departures() []scenario {
	return []scenario{
		{"delete what never came to be", func(t T, w *world) {
			s := newStage(t, w, NewServers(), 1)
			s.object.Finalizers = []string{finalizer}
			s.deploy(v1beta1constants.GardenerOperationWaitForState)
			s.delete()
		}},
		{"delete what is deleted already", func(t T, w *world) {
			s := newStage(t, w, NewServers(), 1)
			status := s.create().Status
			s.delete()
			s.object.Finalizers = []string{finalizer}
			s.deploy(v1beta1constants.GardenerOperationWaitForState)
			require.NoError(t, s.PatchStatus(t.Context(), func(object *extensionsv1alpha1.Worker) { object.Status = status }))
			s.delete()
		}},
		{"delete with the status lost", func(t T, w *world) {
			s := newStage(t, w, NewServers(), 1)
			s.create()
			require.NoError(t, s.PatchStatus(t.Context(), func(object *extensionsv1alpha1.Worker) { object.Status.ProviderStatus = nil }))
			s.delete()
		}},
		{"delete what is half made", func(t T, w *world) {
			s := newStage(t, w, NewServers(), 1)
			s.manager.Hinder(s.firstDeployment(), &Trouble{Code: "Unavailable", What: "not now"})
			s.deploy(v1beta1constants.GardenerOperationReconcile)
			s.waits("not now")
			s.delete()
		}},
		{"delete what machine-controller-manager never saw", func(t T, w *world) {
			s := newStage(t, w, NewServers(), 0)
			s.deploy(v1beta1constants.GardenerOperationReconcile)
			s.waits("machine-controller-manager")
			require.NoError(t, s.Destroy(t.Context()))
			s.stop()
			s.scale(1)
			s.start()
			s.wait("it is gone", func(object *extensionsv1alpha1.Worker) bool { return object == nil })
			require.Empty(t, s.gone(t.Context()))
		}},
		{"delete without classes", deleteWithoutClasses},
		{"delete without credentials", deleteWithoutCredentials},
		{"delete by force", func(t T, w *world) {
			s := newStage(t, w, NewServers(), 1)
			s.create()
			s.scale(0)
			s.reshape(func(shoot *gardencorev1beta1.Shoot) {
				shoot.DeletionTimestamp = new(metav1.Now())
				shoot.Annotations = map[string]string{v1beta1constants.AnnotationConfirmationForceDeletion: "true"}
			})
			require.NoError(t, s.Destroy(t.Context()))
			require.NoError(t, s.WaitGone(s.patience()))
		}},
	}
}

const finalizer = "extensions.gardener.cloud/worker"

// deleteWithoutClasses takes away what machine-controller-manager needs to delete machines.
func deleteWithoutClasses(t T, w *world) {
	s := newStage(t, w, NewServers(), 1)
	s.create()
	s.manager.pause()
	h, _ := s.read(t.Context())
	for i := range h.classes.Items {
		require.NoError(t, forget(t.Context(), s.client, &h.classes.Items[i]))
	}
	for i := range h.secrets.Items {
		require.NoError(t, forget(t.Context(), s.client, &h.secrets.Items[i]))
	}
	s.manager.resume()
	s.delete()
}

// deleteWithoutCredentials says what is left until somebody brings them back.
func deleteWithoutCredentials(t T, w *world) {
	s := newStage(t, w, NewServers(), 1)
	s.create()
	s.manager.pause()
	credentials := &corev1.Secret{}
	key := client.ObjectKey{Namespace: s.namespace, Name: v1beta1constants.SecretNameCloudProvider}
	require.NoError(t, s.client.Get(t.Context(), key, credentials))
	credentials.Finalizers = nil
	require.NoError(t, s.client.Update(t.Context(), credentials))
	require.NoError(t, s.client.Delete(t.Context(), credentials))
	require.NoError(t, s.Destroy(t.Context()))
	s.fails("does not exist; restore it", "machine")
	require.NoError(t, s.client.Create(t.Context(), s.world.gardener.fixture(nil).Secret(s.namespace)))
	s.manager.resume()
	s.wait("it is gone", func(object *extensionsv1alpha1.Worker) bool { return object == nil })
	require.Empty(t, s.gone(t.Context()))
}

func updates() []scenario {
	return []scenario{
		{"update in place", func(t T, w *world) {
			s := newStage(t, w, NewServers(), 1)
			s.object.Spec.Pools[0].UpdateStrategy = new(gardencorev1beta1.AutoInPlaceUpdate)
			before := hashOf(s.create(), s)
			servers := s.servers.All()
			object := s.reconcile(func(object *extensionsv1alpha1.Worker) { object.Spec.Pools[0].KubernetesVersion = new("1.35.1") })
			assert.NotEqual(t, before, hashOf(object, s))
			assert.True(t, maps.Equal(servers, s.servers.All()), "no machine is replaced")
			s.again()
			s.delete()
		}},
		{"update in place when users choose to", updateWhenUsersChoose},
	}
}

func hashOf(object *extensionsv1alpha1.Worker, s *stage) string {
	if object.Status.InPlaceUpdates == nil {
		return ""
	}
	return object.Status.InPlaceUpdates.WorkerPoolToHashMap[s.object.Spec.Pools[0].Name]
}

// updateWhenUsersChoose has the hash recorded when the last machine is updated, although nobody orders it.
func updateWhenUsersChoose(t T, w *world) {
	s := newStage(t, w, NewServers(), 1)
	pool := &s.object.Spec.Pools[0]
	pool.UpdateStrategy, pool.Minimum, pool.Maximum = new(gardencorev1beta1.ManualInPlaceUpdate), 2, 2
	before := hashOf(s.create(), s)
	require.NotEmpty(t, before)
	servers := s.servers.All()
	s.change(func(object *extensionsv1alpha1.Worker) { object.Spec.Pools[0].KubernetesVersion = new("1.35.1") })
	s.order(v1beta1constants.GardenerOperationReconcile)
	object, err := s.WaitReady(s.patience())
	require.NoError(t, err, "nobody waits for users")
	assert.Equal(t, before, hashOf(object, s), "gardenlet waits for another hash")

	for _, name := range slices.Sorted(maps.Values(servers)) {
		machine := &machinev1alpha1.Machine{}
		require.NoError(t, s.client.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, machine))
		if machine.Labels[labelName] != s.firstDeployment() {
			continue
		}
		object, err = s.Get(t.Context())
		require.NoError(t, err)
		assert.Equal(t, before, hashOf(object, s), "as long as a machine is not updated")
		patch := client.MergeFrom(machine.DeepCopy())
		metav1.SetMetaDataLabel(&machine.ObjectMeta, machinev1alpha1.LabelKeyNodeSelectedForUpdate, "true")
		require.NoError(t, s.client.Patch(t.Context(), machine, patch))
		s.manager.Settle(t.Context())
	}
	s.wait("the hash is recorded", func(object *extensionsv1alpha1.Worker) bool {
		operation := object.Status.LastOperation
		return hashOf(object, s) != before && operation.State == gardencorev1beta1.LastOperationStateSucceeded
	})
	s.ready()
	assert.True(t, maps.Equal(servers, s.servers.All()), "no machine is replaced")
	s.again()
	s.delete()
}
