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

// Run tests the life of a control plane without faults.
func Run(t *testing.T, server *contracttest.APIServer, subject Subject) {
	t.Helper()
	for _, s := range []struct {
		name string
		run  func(*Harness)
	}{
		{"create, again, delete", createReconcileDelete},
		{"create and delete while the resource manager takes its time", slowResourceManager},
		{"hibernate and wake up", hibernateAndWake},
		{"move to another seed", moveToAnotherSeed},
		{"move away from a seed that is lost", restoreFromLostSeed},
		{"delete what never came to be", deleteUnreconciled},
		{"delete what is half-made", deleteIncomplete},
		{"delete by force when nobody acts any more", deleteByForce},
	} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.run(NewHarness(t, server, subject))
		})
	}
}

// createReconcileDelete holds the second reconciliation to two writes: that of the order, and that of the result.
func createReconcileDelete(h *Harness) {
	h.Start()
	h.Create()
	require.NoError(h.t, h.Backdate(h.t.Context(), time.Minute))
	h.Writes()
	require.NoError(h.t, h.Request(h.t.Context(), v1beta1constants.GardenerOperationReconcile))
	h.Ready()
	assert.Equal(h.t, []string{"PATCH /controlplanes/one", "PATCH /controlplanes/one/status"}, contracttest.WithoutProgress(h.Writes()))
	h.Delete()
}

func slowResourceManager(h *Harness) {
	h.Slow().Start()
	h.Create()
	h.Delete()
}

// hibernateAndWake goes in gardenlet's order: its own resource manager is gone before the kube-apiserver is, and nobody asks
// for a second pass.
func hibernateAndWake(h *Harness) {
	h.Start()
	h.Create()
	h.Manager.SetHibernated(true)
	h.ChangeShoot(withHibernation(true))
	h.RequestOperation(v1beta1constants.GardenerOperationReconcile)
	h.Succeeded()
	assert.Equal(h.t, []int64{1}, replicas(h.Manager.Seed()), "while the kube-apiserver runs, everything does")

	h.ScaleKubeAPIServer(0)
	require.Eventually(h.t, func() bool { return assert.ObjectsAreEqual([]int64{0}, replicas(h.Manager.Seed())) }, operationTimeout, 20*time.Millisecond)
	h.Succeeded()
	assert.Empty(h.t, h.Manager.Violations())

	h.ScaleKubeAPIServer(1)
	h.Manager.SetHibernated(false)
	h.ChangeShoot(withHibernation(false))
	h.RequestOperation(v1beta1constants.GardenerOperationReconcile)
	h.Ready()
	assert.Equal(h.t, []int64{1}, replicas(h.Manager.Seed()))
	h.Delete()
}

func withHibernation(enabled bool) func(*gardencorev1beta1.Shoot) {
	return func(shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: &enabled}
	}
}

// replicas returns what Deployments in a record are scaled to, each number once.
func replicas(record *contracttest.ObjectTracker) []int64 {
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

func moveToAnotherSeed(h *Harness) {
	h.Start()
	h.Create()
	h.RequestOperation(v1beta1constants.GardenerOperationMigrate)
	migrated := h.Wait(isMigrated)
	assert.Empty(h.t, migrated.Finalizers)
	for _, leftover := range h.Leftovers() {
		assert.Regexp(h.t, `^left behind: Secret .*(-server-|-service-|-controlplane-)`, leftover, "certificates may stay, nothing else")
	}
	assert.Empty(h.t, h.Manager.Seed().Keys())
	require.NoError(h.t, h.Destroy(h.t.Context()))
	require.NoError(h.t, h.WaitGone(h.timeoutContext()))
	h.restoreIn(h.OtherSeed())
}

// restoreFromLostSeed has nobody let go of anything.
func restoreFromLostSeed(h *Harness) {
	h.Start()
	h.Create()
	h.Stop()
	h.Manager.Stop()
	h.restoreIn(h.OtherSeed())
}

// restoreIn restores the ControlPlane in another seed, and then deletes it there.
func (h *Harness) restoreIn(other *Harness) {
	h.t.Helper()
	other.Start()
	other.Deploy(v1beta1constants.GardenerOperationWaitForState)
	require.NoError(h.t, other.Request(h.t.Context(), v1beta1constants.GardenerOperationRestore))
	restored := other.Ready()
	assert.Equal(h.t, gardencorev1beta1.LastOperationTypeRestore, restored.Status.LastOperation.Type)
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

// deleteUnreconciled deletes an object that was never reconciled, and finds nothing.
func deleteUnreconciled(h *Harness) {
	h.Start()
	h.Deploy(v1beta1constants.GardenerOperationWaitForState, func(object *extensionsv1alpha1.ControlPlane) {
		object.Finalizers = []string{finalizer}
	})
	h.Delete()
}

// finalizer is upstream's.
const finalizer = "extensions.gardener.cloud/controlplane"

// deleteIncomplete deletes an object of which nobody has applied anything.
func deleteIncomplete(h *Harness) {
	h.Manager.Stop()
	h.Start()
	h.Deploy(v1beta1constants.GardenerOperationReconcile)
	h.Wait(func(object *extensionsv1alpha1.ControlPlane) error {
		operation := object.Status.LastOperation
		if operation != nil && strings.Contains(operation.Description, "gardener-resource-manager has not applied") {
			return nil
		}
		return errors.New("it does not say what it waits for")
	})
	h.Stop()
	h.Manager.Start()
	require.NoError(h.t, h.Destroy(h.t.Context()))
	h.Start()
	h.Gone()
}

// deleteByForce leaves what has a finalizer to gardenlet.
func deleteByForce(h *Harness) {
	h.Start()
	h.Create()
	h.Manager.Stop()
	h.ChangeShoot(func(shoot *gardencorev1beta1.Shoot) {
		shoot.Annotations = map[string]string{v1beta1constants.AnnotationConfirmationForceDeletion: "true"}
	})
	require.NoError(h.t, h.Destroy(h.t.Context()))
	require.NoError(h.t, h.WaitGone(h.timeoutContext()))
	list := &resourcesv1alpha1.ManagedResourceList{}
	require.NoError(h.t, h.Client.List(h.t.Context(), list, client.InNamespace(h.Namespace)))
	assert.NotEmpty(h.t, list.Items)
	for _, resource := range list.Items {
		assert.NotNil(h.t, resource.DeletionTimestamp, resource.Name)
	}
	for _, leftover := range h.Leftovers() {
		assert.Contains(h.t, leftover, "ManagedResource")
	}
}
