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

const annotationAsleep = "controlplane.trellis.garden/asleep"

func hibernation(enabled bool) func(*gardencorev1beta1.Shoot) {
	return func(shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: &enabled}
	}
}

// isAsleep reports whether the control plane is scaled down and says so.
func isAsleep(t *testing.T, s *controlplanetest.Stage) bool {
	t.Helper()
	resource := &resourcesv1alpha1.ManagedResource{}
	require.NoError(t, s.Client.Get(t.Context(), client.ObjectKey{Namespace: s.Namespace, Name: controlplanetest.Seed}, resource))
	says := resource.Annotations[annotationAsleep] == "true"
	for _, deployment := range s.Manager.Seed().OfKind("Deployment") {
		replicas, found, err := unstructured.NestedInt64(deployment.Object, "spec", "replicas")
		require.NoError(t, err)
		require.True(t, found)
		require.Contains(t, []int64{0, 1}, replicas)
		if (replicas == 0) != says {
			return false // on the way
		}
	}
	return says
}

// fallAsleep has the shoot hibernated while its kube-apiserver still runs.
func fallAsleep(t *testing.T, s *controlplanetest.Stage) {
	t.Helper()
	s.Manager.Sleep(true)
	s.ChangeShoot(hibernation(true))
	s.Order(v1beta1constants.GardenerOperationReconcile)
	s.Succeeded()
	require.False(t, isAsleep(t, s))
}

func eventually(t *testing.T, condition func() bool) {
	t.Helper()
	require.Eventually(t, condition, time.Minute, 20*time.Millisecond)
}

func TestASleepingShootIsNotWaitedFor(t *testing.T) {
	s := newStage(t, &driver{}).Start()
	s.Create()
	s.Manager.Sleep(true)
	s.ScaleKubeAPIServer(0)
	s.ChangeShoot(hibernation(true), func(shoot *gardencorev1beta1.Shoot) { shoot.Spec.Kubernetes.Version = "1.36.0" })
	s.Order(v1beta1constants.GardenerOperationReconcile)
	object := s.Succeeded()
	assert.True(t, isAsleep(t, s), "with the kube-apiserver gone there is nothing to wait for")
	assert.NotContains(t, string(object.Status.ProviderStatus.Raw), "fallingAsleep")

	s.Writes()
	s.Order(v1beta1constants.GardenerOperationReconcile)
	s.Succeeded()
	assert.Equal(t, []string{"PATCH /controlplanes/one", "PATCH /controlplanes/one/status"}, contracttest.WithoutProgress(s.Writes()), "sleeping on costs no more")

	s.ScaleKubeAPIServer(1)
	s.Manager.Sleep(false)
	s.ChangeShoot(hibernation(false))
	s.Order(v1beta1constants.GardenerOperationReconcile)
	s.Ready()
	assert.False(t, isAsleep(t, s))
	s.Delete()
}

func TestASequelSurvivesTheEndOfTheProcess(t *testing.T) {
	s := newStage(t, &driver{}).Start()
	s.Create()
	fallAsleep(t, s)
	s.Stop()
	s.ScaleKubeAPIServer(0)
	s.Start()
	eventually(t, func() bool { return isAsleep(t, s) })
	s.Succeeded()
}

func TestAShootThatWakesUpBeforeItSleptStaysAwake(t *testing.T) {
	s := newStage(t, &driver{}).Start()
	s.Create()
	fallAsleep(t, s)
	s.Manager.Sleep(false)
	s.ChangeShoot(hibernation(false))
	s.Order(v1beta1constants.GardenerOperationReconcile)
	object := s.Ready()
	assert.NotContains(t, string(object.Status.ProviderStatus.Raw), "fallingAsleep")
	s.Writes()
	time.Sleep(100 * time.Millisecond)
	assert.Empty(t, s.Writes())
	assert.False(t, isAsleep(t, s))
}

func TestAShootIsAwakeWhileItGoes(t *testing.T) {
	for sentence, goes := range map[string]func(*gardencorev1beta1.Shoot){
		"to be deleted": func(shoot *gardencorev1beta1.Shoot) { shoot.DeletionTimestamp = new(metav1.Now()) },
		"to another seed": func(shoot *gardencorev1beta1.Shoot) {
			shoot.Status.LastOperation.Type = gardencorev1beta1.LastOperationTypeMigrate
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newStage(t, &driver{}).Start()
			s.Create()
			s.ScaleKubeAPIServer(0)
			s.ChangeShoot(hibernation(true), goes)
			s.Order(v1beta1constants.GardenerOperationReconcile)
			s.Succeeded()
			assert.False(t, isAsleep(t, s))
		})
	}
}

func TestASleepingShootMoves(t *testing.T) {
	s := newStage(t, &driver{}).Start()
	s.Create()
	fallAsleep(t, s)
	s.Stop()
	other := s.OtherSeed()
	other.Manager.Sleep(true)
	other.Start()
	other.Deploy(v1beta1constants.GardenerOperationWaitForState)
	require.NoError(t, other.Request(t.Context(), v1beta1constants.GardenerOperationRestore))
	other.Succeeded()
	assert.False(t, isAsleep(t, other), "gardenlet has started the kube-apiserver there for the time being")
	other.ScaleKubeAPIServer(0)
	eventually(t, func() bool { return isAsleep(t, other) })
}
