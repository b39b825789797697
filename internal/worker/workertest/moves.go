package workertest

import (
	"maps"
	"slices"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

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

// leave migrates the shoot away and returns what gardenlet has saved of it.
func (s *stage) leave() *runtime.RawExtension {
	s.t.Helper()
	saved, err := saveMachines(s.t.Context(), s.client, s.namespace)
	require.NoError(s.t, err)
	s.scale(0)
	require.NoError(s.t, s.Request(s.t.Context(), v1beta1constants.GardenerOperationMigrate))
	s.wait("migrated", func(object *extensionsv1alpha1.Worker) bool {
		operation := object.Status.LastOperation
		return operation != nil && operation.Type == gardencorev1beta1.LastOperationTypeMigrate &&
			operation.State == gardencorev1beta1.LastOperationStateSucceeded && object.Annotations[v1beta1constants.GardenerOperation] == ""
	})
	require.NoError(s.t, forgetMachines(s.t.Context(), s.client, s.namespace))
	require.NoError(s.t, s.Destroy(s.t.Context()))
	require.NoError(s.t, s.WaitGone(s.patience()))
	s.stop()
	return saved
}

// arrive brings the shoot with what was saved of it, and does not wait.
func (s *stage) arrive(saved *runtime.RawExtension) {
	s.t.Helper()
	s.deploy(v1beta1constants.GardenerOperationWaitForState)
	require.NoError(s.t, s.PatchStatus(s.t.Context(), func(object *extensionsv1alpha1.Worker) { object.Status.State = saved }))
	require.NoError(s.t, s.Request(s.t.Context(), v1beta1constants.GardenerOperationRestore))
}
