package controlplane_test

import (
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/controlplane/controlplanetest"
)

const annotationHibernated = "controlplane.trellis.garden/hibernated"

func withHibernation(enabled bool) func(*gardencorev1beta1.Shoot) {
	return func(shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: &enabled}
	}
}

// isHibernated reports whether the control plane is scaled down and says so.
func isHibernated(t *testing.T, h *controlplanetest.Harness) bool {
	t.Helper()
	resource := &resourcesv1alpha1.ManagedResource{}
	require.NoError(t, h.Client.Get(t.Context(), client.ObjectKey{Namespace: h.Namespace, Name: controlplanetest.Seed}, resource))
	annotated := resource.Annotations[annotationHibernated] == "true"
	for _, deployment := range h.Manager.Seed().OfKind("Deployment") {
		replicas, found, err := unstructured.NestedInt64(deployment.Object, "spec", "replicas")
		require.NoError(t, err)
		require.True(t, found)
		require.Contains(t, []int64{0, 1}, replicas)
		if (replicas == 0) != annotated {
			return false // on the way
		}
	}
	return annotated
}

// startHibernation has the shoot hibernated while its kube-apiserver still runs.
func startHibernation(t *testing.T, h *controlplanetest.Harness) {
	t.Helper()
	h.Manager.SetHibernated(true)
	h.ChangeShoot(withHibernation(true))
	h.RequestOperation(v1beta1constants.GardenerOperationReconcile)
	h.Succeeded()
	require.False(t, isHibernated(t, h))
}

func eventually(t *testing.T, condition func() bool) {
	t.Helper()
	require.Eventually(t, condition, time.Minute, 20*time.Millisecond)
}

func TestReconcile_Hibernated(t *testing.T) {
	h := newHarness(t, &driver{}).Start()
	h.Create()
	h.Manager.SetHibernated(true)
	h.ScaleKubeAPIServer(0)
	h.ChangeShoot(withHibernation(true), func(shoot *gardencorev1beta1.Shoot) { shoot.Spec.Kubernetes.Version = "1.36.0" })
	h.RequestOperation(v1beta1constants.GardenerOperationReconcile)
	object := h.Succeeded()
	assert.True(t, isHibernated(t, h), "with the kube-apiserver gone there is nothing to wait for")
	assert.NotContains(t, string(object.Status.ProviderStatus.Raw), "hibernating")

	h.Writes()
	h.RequestOperation(v1beta1constants.GardenerOperationReconcile)
	h.Succeeded()
	assert.Equal(t, []string{"PATCH /controlplanes/one", "PATCH /controlplanes/one/status"}, contracttest.WithoutProgress(h.Writes()), "sleeping on costs no more")

	h.ScaleKubeAPIServer(1)
	h.Manager.SetHibernated(false)
	h.ChangeShoot(withHibernation(false))
	h.RequestOperation(v1beta1constants.GardenerOperationReconcile)
	h.Ready()
	assert.False(t, isHibernated(t, h))
	h.Delete()
}

func TestFollowUp_ProcessRestart(t *testing.T) {
	h := newHarness(t, &driver{}).Start()
	h.Create()
	startHibernation(t, h)
	h.Stop()
	h.ScaleKubeAPIServer(0)
	h.Start()
	eventually(t, func() bool { return isHibernated(t, h) })
	h.Succeeded()
}

func TestReconcile_WokenUpWhileHibernating(t *testing.T) {
	h := newHarness(t, &driver{}).Start()
	h.Create()
	startHibernation(t, h)
	h.Manager.SetHibernated(false)
	h.ChangeShoot(withHibernation(false))
	h.RequestOperation(v1beta1constants.GardenerOperationReconcile)
	object := h.Ready()
	assert.NotContains(t, string(object.Status.ProviderStatus.Raw), "hibernating")
	h.Writes()
	time.Sleep(100 * time.Millisecond)
	assert.Empty(t, h.Writes())
	assert.False(t, isHibernated(t, h))
}

func TestReconcile_HibernatedShootDeletedOrMigrated(t *testing.T) {
	for sentence, change := range map[string]func(*gardencorev1beta1.Shoot){
		"to be deleted": func(shoot *gardencorev1beta1.Shoot) { shoot.DeletionTimestamp = new(metav1.Now()) },
		"to another seed": func(shoot *gardencorev1beta1.Shoot) {
			shoot.Status.LastOperation.Type = gardencorev1beta1.LastOperationTypeMigrate
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			h := newHarness(t, &driver{}).Start()
			h.Create()
			h.ScaleKubeAPIServer(0)
			h.ChangeShoot(withHibernation(true), change)
			h.RequestOperation(v1beta1constants.GardenerOperationReconcile)
			h.Succeeded()
			assert.False(t, isHibernated(t, h))
		})
	}
}

func TestRestore_HibernatedShoot(t *testing.T) {
	h := newHarness(t, &driver{}).Start()
	h.Create()
	startHibernation(t, h)
	h.Stop()
	other := h.OtherSeed()
	other.Manager.SetHibernated(true)
	other.Start()
	other.Deploy(v1beta1constants.GardenerOperationWaitForState)
	require.NoError(t, other.Request(t.Context(), v1beta1constants.GardenerOperationRestore))
	other.Succeeded()
	assert.False(t, isHibernated(t, other), "gardenlet has started the kube-apiserver there for the time being")
	other.ScaleKubeAPIServer(0)
	eventually(t, func() bool { return isHibernated(t, other) })
}
