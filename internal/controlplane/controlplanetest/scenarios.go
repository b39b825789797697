package controlplanetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
)

// Run plays the life of a control plane: with nothing going wrong that the controller could be blamed for.
func Run(t *testing.T, server *contracttest.APIServer, subject Subject) {
	t.Helper()
	for _, s := range []struct {
		name string
		play func(*Stage)
	}{
		{"create, again, delete", createAgainDelete},
		{"create and delete while the resource manager takes its time", takeTime},
		{"hibernate and wake up", hibernateAndWake},
		{"move to another seed", moveToAnotherSeed},
		{"move away from a seed that is lost", leaveLostSeed},
		{"delete what never came to be", deleteAtOnce},
		{"delete what is half-made", deleteHalfMade},
		{"delete by force when nobody acts any more", deleteByForce},
	} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.play(NewStage(t, server, subject))
		})
	}
}

// createAgainDelete holds the second reconciliation to two writes: that of the order, and that of the result.
func createAgainDelete(s *Stage) {
	s.Start()
	s.Create()
	require.NoError(s.t, s.Age(s.t.Context(), time.Minute))
	s.Writes()
	require.NoError(s.t, s.Request(s.t.Context(), v1beta1constants.GardenerOperationReconcile))
	s.Ready()
	assert.Equal(s.t, []string{"PATCH /controlplanes/one", "PATCH /controlplanes/one/status"}, contracttest.WithoutProgress(s.Writes()))
	s.Delete()
}

func takeTime(s *Stage) {
	s.Slow().Start()
	s.Create()
	s.Delete()
}

// hibernateAndWake goes in gardenlet's order: its own resource manager is gone before the kube-apiserver is, and nobody asks
// for a second pass.
func hibernateAndWake(s *Stage) {
	s.Start()
	s.Create()
	s.Manager.Sleep(true)
	s.ChangeShoot(hibernated(true))
	s.Order(v1beta1constants.GardenerOperationReconcile)
	s.Succeeded()
	assert.Equal(s.t, []int64{1}, replicas(s.Manager.Seed()), "while the kube-apiserver runs, everything does")

	s.ScaleKubeAPIServer(0)
	require.Eventually(s.t, func() bool { return assert.ObjectsAreEqual([]int64{0}, replicas(s.Manager.Seed())) }, patience, 20*time.Millisecond)
	s.Succeeded()
	assert.Empty(s.t, s.Manager.Complaints())

	s.ScaleKubeAPIServer(1)
	s.Manager.Sleep(false)
	s.ChangeShoot(hibernated(false))
	s.Order(v1beta1constants.GardenerOperationReconcile)
	s.Ready()
	assert.Equal(s.t, []int64{1}, replicas(s.Manager.Seed()))
	s.Delete()
}

func hibernated(enabled bool) func(*gardencorev1beta1.Shoot) {
	return func(shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: &enabled}
	}
}

// replicas returns what Deployments in a record are scaled to, each number once.
func replicas(record *contracttest.Record) []int64 {
	var all []int64
	seen := map[int64]bool{}
	for _, deployment := range record.OfKind("Deployment") {
		n, _, _ := unstructured.NestedInt64(deployment.Object, "spec", "replicas")
		if !seen[n] {
			seen[n], all = true, append(all, n)
		}
	}
	return all
}

func moveToAnotherSeed(s *Stage) {
	s.Start()
	s.Create()
	s.Order(v1beta1constants.GardenerOperationMigrate)
	migrated := s.Wait(isMigrated)
	assert.Empty(s.t, migrated.Finalizers)
	for _, leftover := range s.Leftovers() {
		assert.Regexp(s.t, `^left behind: Secret .*(-server-|-controlplane-)`, leftover, "certificates may stay, nothing else")
	}
	assert.Empty(s.t, s.Manager.Seed().Keys())
	require.NoError(s.t, s.Destroy(s.t.Context()))
	require.NoError(s.t, s.WaitGone(s.patience()))
	s.restoreIn(s.OtherSeed())
}

// leaveLostSeed has nobody let go of anything.
func leaveLostSeed(s *Stage) {
	s.Start()
	s.Create()
	s.Stop()
	s.Manager.Leave()
	s.restoreIn(s.OtherSeed())
}

// restoreIn restores the ControlPlane in another seed, and then deletes it there.
func (s *Stage) restoreIn(other *Stage) {
	s.t.Helper()
	other.Start()
	other.Deploy(v1beta1constants.GardenerOperationWaitForState)
	require.NoError(s.t, other.Request(s.t.Context(), v1beta1constants.GardenerOperationRestore))
	restored := other.Ready()
	assert.Equal(s.t, gardencorev1beta1.LastOperationTypeRestore, restored.Status.LastOperation.Type)
	other.Delete()
}

// isMigrated is how gardenlet knows that a migration is over.
func isMigrated(object *extensionsv1alpha1.ControlPlane) error {
	operation := object.Status.LastOperation
	if operation != nil && operation.Type == gardencorev1beta1.LastOperationTypeMigrate &&
		operation.State == gardencorev1beta1.LastOperationStateSucceeded && object.Annotations[v1beta1constants.GardenerOperation] == "" {
		return nil
	}
	return fmt.Errorf("last operation: %+v", operation)
}

// deleteAtOnce deletes an object that was never reconciled, and finds nothing.
func deleteAtOnce(s *Stage) {
	s.Start()
	s.Deploy(v1beta1constants.GardenerOperationWaitForState, func(object *extensionsv1alpha1.ControlPlane) {
		object.Finalizers = []string{finalizer}
	})
	s.Delete()
}

// finalizer is upstream's.
const finalizer = "extensions.gardener.cloud/controlplane"

// deleteHalfMade deletes an object of which nobody has applied anything.
func deleteHalfMade(s *Stage) {
	s.Manager.Leave()
	s.Start()
	s.Deploy(v1beta1constants.GardenerOperationReconcile)
	s.Wait(func(object *extensionsv1alpha1.ControlPlane) error {
		operation := object.Status.LastOperation
		if operation != nil && strings.Contains(operation.Description, "gardener-resource-manager has not applied") {
			return nil
		}
		return errors.New("it does not say what it waits for")
	})
	s.Stop()
	s.Manager.Return()
	require.NoError(s.t, s.Destroy(s.t.Context()))
	s.Start()
	s.Gone()
}

// deleteByForce leaves what has a finalizer to gardenlet.
func deleteByForce(s *Stage) {
	s.Start()
	s.Create()
	s.Manager.Leave()
	s.ChangeShoot(func(shoot *gardencorev1beta1.Shoot) {
		shoot.Annotations = map[string]string{v1beta1constants.AnnotationConfirmationForceDeletion: "true"}
	})
	require.NoError(s.t, s.Destroy(s.t.Context()))
	require.NoError(s.t, s.WaitGone(s.patience()))
	list := &resourcesv1alpha1.ManagedResourceList{}
	require.NoError(s.t, s.Client.List(s.t.Context(), list, client.InNamespace(s.Namespace)))
	assert.NotEmpty(s.t, list.Items)
	for _, resource := range list.Items {
		assert.NotNil(s.t, resource.DeletionTimestamp, resource.Name)
	}
	for _, leftover := range s.Leftovers() {
		assert.Contains(s.t, leftover, "ManagedResource")
	}
}
