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

func migrateScenarios() []scenario {
	return []scenario{
		{"migrate to another seed", func(t T, env *environment) {
			servers := NewServers()
			source := newHarness(t, env, servers, 1)
			source.create()
			before := servers.All()
			saved := source.migrate()
			require.NotNil(t, saved)
			target := newHarness(t, env, servers, 0)
			target.others = source.others
			target.restore(saved)
			target.waitReady()
			assert.Equal(t, before, servers.All(), "machines are kept")
			assert.Equal(t, int32(1), target.managerReplicas())
			require.NoError(t, target.PatchStatus(t.Context(), func(object *extensionsv1alpha1.Worker) { object.Status.State = nil }))
			target.reconcileNoop()

			// gardenlet requests another restore with the saved state if one of its later steps has failed.
			target.reconcile(func(object *extensionsv1alpha1.Worker) {
				object.Spec.Pools[0].NodeAgentSecretName = new("gardener-node-agent-next-00001")
			})
			after := servers.All()
			require.NoError(t, target.PatchStatus(t.Context(), func(object *extensionsv1alpha1.Worker) { object.Status.State = saved }))
			target.requestOperation(v1beta1constants.GardenerOperationRestore)
			target.waitReady()
			assert.Equal(t, after, servers.All(), "deleted machines are not restored")
			target.delete()
		}},
		{"migrate during a rolling update", migrateWhileReplacing},
		{"migrate while hibernated", func(t T, env *environment) {
			servers := NewServers()
			source := newHarness(t, env, servers, 1)
			source.create()
			source.updateShoot(enableHibernation)
			source.reconcile()
			saved := source.migrate()
			target := newHarness(t, env, servers, 0, setHibernated)
			target.others = source.others
			target.restore(saved)
			target.waitReady()
			assert.Empty(t, servers.All())
			assert.Zero(t, target.managerReplicas())
			target.updateShoot()
			target.scale(1)
			target.reconcile()
			assert.NotEmpty(t, servers.All())
			target.delete()
		}},
		{"restore without saved machines", func(t T, env *environment) {
			servers := NewServers()
			s := newHarness(t, env, servers, 0)
			s.restore(nil)
			object := s.waitForError("it contains no machines of the shoot")
			assert.Equal(t, []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorConfigurationProblem}, object.Status.LastError.Codes)
			assert.Zero(t, s.managerReplicas())
			s.change(func(object *extensionsv1alpha1.Worker) {
				metav1.SetMetaDataAnnotation(&object.ObjectMeta, "worker.trellis.garden/restore-without-machines", "true")
			})
			s.waitReady()
			assert.NotEmpty(t, servers.All())
			s.delete()
		}},
		{"delete during a restore", deleteWhileMigrating},
		{"take over from another extension", takeOverFromUpstream},
	}
}

// migrateWhileReplacing migrates a shoot with machines of two classes in one pool.
func migrateWhileReplacing(t T, env *environment) {
	servers := NewServers()
	source := newHarness(t, env, servers, 1)
	source.create()
	source.manager.SetCreateFailure(source.firstDeployment(), &CreateFailure{Code: "Unavailable", Message: "no new ones"})
	next := func(object *extensionsv1alpha1.Worker) {
		object.Spec.Pools[0].NodeAgentSecretName = new("gardener-node-agent-next-00001")
	}
	source.change(next)
	source.requestOperation(v1beta1constants.GardenerOperationReconcile)
	source.waitForProgress("no new ones")
	before := servers.All()
	saved := source.migrate()

	target := newHarness(t, env, servers, 0)
	target.others = source.others
	next(target.object)
	target.restore(saved)
	target.waitReady()
	after := servers.All()
	replaced := 0
	for id := range before {
		if after[id] == "" {
			replaced++
		}
	}
	assert.Equal(t, 1, replaced, "only the pending replacement is completed")
	assert.Len(t, after, len(before))
	target.delete()
}

// deleteWhileMigrating deletes a shoot before machine-controller-manager has observed the restored machines.
func deleteWhileMigrating(t T, env *environment) {
	servers := NewServers()
	source := newHarness(t, env, servers, 1)
	source.create()
	saved := source.migrate()
	target := newHarness(t, env, servers, 0)
	target.others = source.others
	target.manager.pause()
	target.restore(saved)
	target.wait("waiting for machines", func(object *extensionsv1alpha1.Worker) bool {
		return object.Status.MachineDeploymentsLastUpdateTime != nil
	})
	require.NoError(t, target.Destroy(t.Context()))
	target.stop()
	target.start()
	target.waitForProgress("has not added finalizers yet to machine")
	target.manager.resume()
	target.wait("deleted", func(object *extensionsv1alpha1.Worker) bool { return object == nil })
	require.Empty(t, target.checkDeleted(t.Context()))
}

// takeOverFromUpstream reconciles a pool with a setting that the previous extension ignores: its machines are kept, in this seed and in
// the next, until they are replaced for another reason.
func takeOverFromUpstream(t T, env *environment) {
	if env.gardener.inputs.IgnoredByUpstream == nil {
		return
	}
	servers := NewServers()
	source := newHarness(t, env, servers, 1)
	source.create()
	before := servers.All()
	source.removeOwnerLabels()
	addIgnoredByUpstream := func(object *extensionsv1alpha1.Worker) { env.gardener.inputs.IgnoredByUpstream(&object.Spec.Pools[0]) }
	reconciled := source.reconcile(addIgnoredByUpstream)
	assert.Equal(t, before, servers.All())
	assert.NotRegexp(t, "succeeded$", reconciled.Status.LastOperation.Description, "the description names the ignored setting")
	source.reconcileNoop()
	saved := source.migrate()

	target := newHarness(t, env, servers, 0)
	target.others = source.others
	addIgnoredByUpstream(target.object)
	target.restore(saved)
	target.waitReady()
	assert.Equal(t, before, servers.All())
	require.NoError(t, target.PatchStatus(t.Context(), func(object *extensionsv1alpha1.Worker) { object.Status.State = nil }))
	target.reconcileNoop()

	object := target.reconcile(func(object *extensionsv1alpha1.Worker) {
		object.Spec.Pools[0].NodeAgentSecretName = new("gardener-node-agent-next-00001")
	})
	assert.NotSubset(t, slices.Collect(maps.Keys(before)), target.serversOf(object.Spec.Pools[0].Name))
	assert.Regexp(t, "succeeded$", object.Status.LastOperation.Description)
	after := servers.All()
	target.reconcileNoop()
	assert.Equal(t, after, servers.All())
	target.delete()
}

// removeOwnerLabels removes our marks from classes and their Secrets, as if another extension had created them.
func (s *harness) removeOwnerLabels() {
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

// migrate migrates the shoot away and returns gardenlet's saved state.
func (s *harness) migrate() *runtime.RawExtension {
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
	require.NoError(s.t, deleteMachineObjects(s.t.Context(), s.client, s.namespace))
	require.NoError(s.t, s.Destroy(s.t.Context()))
	require.NoError(s.t, s.WaitGone(s.timeoutContext()))
	s.stop()
	return saved
}

// restore restores the shoot from the saved state, and does not wait.
func (s *harness) restore(saved *runtime.RawExtension) {
	s.t.Helper()
	s.deploy(v1beta1constants.GardenerOperationWaitForState)
	require.NoError(s.t, s.PatchStatus(s.t.Context(), func(object *extensionsv1alpha1.Worker) { object.Status.State = saved }))
	require.NoError(s.t, s.Request(s.t.Context(), v1beta1constants.GardenerOperationRestore))
}
