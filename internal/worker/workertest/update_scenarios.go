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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func updateScenarios() []scenario {
	return []scenario{
		{"update in place", func(t T, env *environment) {
			s := newHarness(t, env, NewServers(), 1)
			s.object.Spec.Pools[0].UpdateStrategy = new(gardencorev1beta1.AutoInPlaceUpdate)
			before := hashOf(s.create(), s)
			servers := s.servers.All()
			object := s.reconcile(func(object *extensionsv1alpha1.Worker) { object.Spec.Pools[0].KubernetesVersion = new("1.35.1") })
			assert.NotEqual(t, before, hashOf(object, s))
			assert.True(t, maps.Equal(servers, s.servers.All()), "no machine is replaced")
			s.reconcileNoop()
			s.delete()
		}},
		{"update in place manually", manualUpdateInPlace},
	}
}

func hashOf(object *extensionsv1alpha1.Worker, s *harness) string {
	if object.Status.InPlaceUpdates == nil {
		return ""
	}
	return object.Status.InPlaceUpdates.WorkerPoolToHashMap[s.object.Spec.Pools[0].Name]
}

// manualUpdateInPlace asserts that the hash is recorded when the last machine is updated, without a request.
func manualUpdateInPlace(t T, env *environment) {
	s := newHarness(t, env, NewServers(), 1)
	pool := &s.object.Spec.Pools[0]
	pool.UpdateStrategy, pool.Minimum, pool.Maximum = new(gardencorev1beta1.ManualInPlaceUpdate), 2, 2
	before := hashOf(s.create(), s)
	require.NotEmpty(t, before)
	servers := s.servers.All()
	s.change(func(object *extensionsv1alpha1.Worker) { object.Spec.Pools[0].KubernetesVersion = new("1.35.1") })
	s.requestOperation(v1beta1constants.GardenerOperationReconcile)
	object, err := s.WaitReady(s.timeoutContext())
	require.NoError(t, err, "the reconciliation does not wait for users")
	assert.Equal(t, before, hashOf(object, s), "the hash is kept while updates are pending")

	for _, name := range slices.Sorted(maps.Values(servers)) {
		machine := &machinev1alpha1.Machine{}
		require.NoError(t, s.client.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, machine))
		if machine.Labels[labelName] != s.firstDeployment() {
			continue
		}
		object, err = s.Get(t.Context())
		require.NoError(t, err)
		assert.Equal(t, before, hashOf(object, s), "the hash is kept until the last machine is updated")
		patch := client.MergeFrom(machine.DeepCopy())
		metav1.SetMetaDataLabel(&machine.ObjectMeta, machinev1alpha1.LabelKeyNodeSelectedForUpdate, "true")
		require.NoError(t, s.client.Patch(t.Context(), machine, patch))
		s.manager.Settle(t.Context())
	}
	s.wait("the hash is recorded", func(object *extensionsv1alpha1.Worker) bool {
		operation := object.Status.LastOperation
		return hashOf(object, s) != before && operation.State == gardencorev1beta1.LastOperationStateSucceeded
	})
	s.waitReady()
	assert.True(t, maps.Equal(servers, s.servers.All()), "no machine is replaced")
	s.reconcileNoop()
	s.delete()
}
