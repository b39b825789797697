package workload

import (
	"context"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/seeds"
)

func (s *testSeed) remove() string {
	s.Helper()
	waitingFor, err := Remove(s.Context(), s.cluster, s.installation.Name)
	require.NoError(s, err)
	return waitingFor
}

// holdManagedResource puts a finalizer on it, as gardener-resource-manager does.
func (s *testSeed) holdManagedResource() {
	s.Helper()
	resource := s.managedResource()
	resource.Finalizers = []string{"resources.gardener.cloud/gardener-resource-manager"}
	require.NoError(s, s.admin.Update(s.Context(), resource))
}

// setResourcesApplied sets the condition of which gardener-resource-manager says how far it is.
func (s *testSeed) setResourcesApplied(status gardencorev1beta1.ConditionStatus, reason, message string) {
	s.Helper()
	resource := s.managedResource()
	resource.Status.Conditions = []gardencorev1beta1.Condition{{
		Type: resourcesv1alpha1.ResourcesApplied, Status: status, Reason: reason, Message: message,
		LastTransitionTime: metav1.Now(), LastUpdateTime: metav1.Now(),
	}}
	require.NoError(s, s.admin.Status().Update(s.Context(), resource))
}

func (s *testSeed) releaseManagedResource() {
	s.Helper()
	resource := s.managedResource()
	resource.Finalizers = nil
	require.NoError(s, s.admin.Update(s.Context(), resource))
}

// finishNamespace does what Kubernetes' namespace controller does, which the API server lacks.
func (s *testSeed) finishNamespace() {
	s.Helper()
	namespace := s.namespace()
	namespace.Spec.Finalizers = nil
	require.NoError(s, s.admin.SubResource("finalize").Update(s.Context(), namespace))
}

func TestRemove(t *testing.T) {
	s := newTestSeed(t)
	require.NoError(t, s.apply(s.deployment()))
	s.holdManagedResource()
	content := s.managedResource().Spec.SecretRefs[0].Name
	s.takeWrites()

	managedResource, namespace := "ManagedResource "+s.installation.Name, "namespace extension-"+s.installation.Name
	assert.Equal(t, managedResource+" to go: gardener-resource-manager has not begun with its objects", s.remove())
	assert.Equal(t, []string{"delete " + managedResource}, s.takeWrites())
	s.setResourcesApplied(gardencorev1beta1.ConditionProgressing, resourcesv1alpha1.ConditionDeletionPending, "Deployment controller still exists")
	assert.Equal(t, managedResource+" to go: Deployment controller still exists", s.remove())
	s.setResourcesApplied(gardencorev1beta1.ConditionFalse, resourcesv1alpha1.ConditionDeletionFailed, "forbidden")
	assert.Equal(t, managedResource+" to go: forbidden", s.remove())
	s.setResourcesApplied(gardencorev1beta1.ConditionProgressing, resourcesv1alpha1.ConditionDeletionPending, "")
	assert.Equal(t, managedResource+" to go: gardener-resource-manager deletes its objects", s.remove())
	assert.Equal(t, []string{content}, s.secrets(), "they are needed as long as it is there")
	assert.True(t, s.namespace().DeletionTimestamp.IsZero())
	assert.Empty(t, s.takeWrites())

	s.releaseManagedResource()
	assert.Equal(t, namespace+" to go", s.remove())
	assert.Equal(t, []string{"delete Secret " + content, "delete Namespace extension-" + s.installation.Name}, s.takeWrites())
	terminating := s.namespace()
	terminating.Status.Conditions = []corev1.NamespaceCondition{
		{Type: corev1.NamespaceContentRemaining, Status: corev1.ConditionTrue, Message: "Some resources are remaining: pods. has 1 resource instances"},
		{Type: corev1.NamespaceDeletionDiscoveryFailure, Status: corev1.ConditionFalse, Message: "All resources successfully discovered"},
		{Type: corev1.NamespaceFinalizersRemaining, Status: corev1.ConditionTrue, Message: "x in 1 resource instances"},
	}
	require.NoError(t, s.admin.Status().Update(t.Context(), terminating))
	assert.Equal(t, namespace+" to go: Some resources are remaining: pods. has 1 resource instances; x in 1 resource instances", s.remove())
	assert.Empty(t, s.takeWrites())

	s.finishNamespace()
	assert.Empty(t, s.remove())
	assert.Empty(t, s.remove(), "what is gone is gone")
	assert.Empty(t, s.takeWrites())
}

func TestRemove_PartiallyApplied(t *testing.T) {
	for broken := 1; broken <= 5; broken++ {
		s := newTestSeed(t)
		s.failingWrite = broken
		require.ErrorIs(t, s.apply(s.deployment()), errBroken)
		s.failingWrite = 0
		if broken > 1 {
			assert.Contains(t, s.remove(), "namespace extension-")
			s.finishNamespace()
		}
		assert.Empty(t, s.remove(), "after write %d", broken)
		assert.Empty(t, s.secrets(), "after write %d", broken)
	}
}

// A ManagedResource that nobody has seen yet goes at once, and the rest with it.
func TestRemove_ManagedResourceWithoutFinalizer(t *testing.T) {
	s := newTestSeed(t)
	require.NoError(t, s.apply(s.deployment()))
	assert.Contains(t, s.remove(), "namespace extension-")
	assert.Empty(t, s.secrets())
}

func TestRemove_ResumesAfterError(t *testing.T) {
	for broken := 1; broken <= 3; broken++ {
		s := newTestSeed(t)
		require.NoError(t, s.apply(s.deployment()))
		s.takeWrites()
		s.failingWrite = broken
		_, err := Remove(t.Context(), s.cluster, s.installation.Name)
		require.ErrorIs(t, err, errBroken)
		s.failingWrite = 0
		assert.Contains(t, s.remove(), "namespace extension-")
		s.finishNamespace()
		assert.Empty(t, s.remove())
		assert.Empty(t, s.secrets())
	}
}

func TestRemove_OwnedByOther(t *testing.T) {
	s := newTestSeed(t)
	resource := &resourcesv1alpha1.ManagedResource{
		ObjectMeta: metav1.ObjectMeta{Namespace: v1beta1constants.GardenNamespace, Name: s.installation.Name},
		Spec:       resourcesv1alpha1.ManagedResourceSpec{SecretRefs: []corev1.LocalObjectReference{{Name: "theirs"}}},
	}
	require.NoError(t, s.admin.Create(t.Context(), resource))
	assert.Empty(t, s.remove())
	assert.Empty(t, s.takeWrites())
	assert.True(t, s.managedResource().DeletionTimestamp.IsZero())
}

// withoutManagedResources is a seed that Gardener has not been brought to.
func (s *testSeed) withoutManagedResources() *seeds.Cluster {
	return &seeds.Cluster{Client: interceptor.NewClient(s.admin, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if _, ok := object.(*resourcesv1alpha1.ManagedResource); ok {
				return &meta.NoKindMatchError{}
			}
			return c.Get(ctx, key, object, options...)
		},
	})}
}

func TestRemoveAndObserve_NoManagedResourceKind(t *testing.T) {
	s := newTestSeed(t)
	waitingFor, err := Remove(t.Context(), s.withoutManagedResources(), s.installation.Name)
	require.NoError(t, err)
	assert.Empty(t, waitingFor)
	observed, err := Observe(t.Context(), s.withoutManagedResources(), s.installation.Name)
	require.NoError(t, err)
	assert.Equal(t, &Observation{}, observed)
	assert.ErrorContains(t, Apply(t.Context(), s.withoutManagedResources(), s.installation, s.garden, s.facts, nil), "reading ManagedResource "+s.installation.Name)
	assert.Error(t, s.admin.Get(t.Context(), client.ObjectKey{Name: Namespace(s.installation.Name)}, &corev1.Namespace{}), "nothing was made")
}
