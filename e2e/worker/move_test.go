package worker

import (
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/e2e/internal/ground/groundtest"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// testMove moves the shoot's control plane to another seed, in the order in which gardenlet does. All that goes along is the ShootState as
// Gardener computes it.
func testMove(t *testing.T, w *world) {
	there, servers, group := w.inventory(t), ids(w.servers("")), w.assertGroup(t)
	w.Cloud.ResetLog()
	w.removeManager(t)
	component := w.component(t)
	require.NoError(t, component.Migrate(t.Context()))
	require.NoError(t, component.WaitMigrate(t.Context()))
	assert.Empty(t, w.object(t).Finalizers)
	state, err := w.seed.Gardenlet.ShootState(t.Context(), w.Shoot)
	require.NoError(t, err)
	require.NoError(t, component.Destroy(t.Context()))
	require.NoError(t, component.WaitCleanup(t.Context()))
	require.NoError(t, w.seed.Gardenlet.ForgetMachines(t.Context(), w.Shoot))
	groundtest.Eventually(t, "nothing of the machines is in the seed", func() bool { return len(w.listMachines(t)) == 0 && len(w.classes(t)) == 0 })
	w.stopController(t)
	w.seed.StopShootManager(w.Shoot)

	w.restore(t, state)
	assert.Equal(t, gardencorev1beta1.LastOperationTypeRestore, w.object(t).Status.LastOperation.Type)
	assert.Empty(t, w.Cloud.Log().Where(wire.Call.Writes).Where(func(c wire.Call) bool { return !c.IsLogin() }), "nothing is made or changed")
	assert.Equal(t, there, w.inventory(t))
	assert.Equal(t, servers, ids(w.servers("")))
	assert.Equal(t, group, w.assertGroup(t))
	groundtest.Eventually(t, "all machines are known again", func() bool { return w.running(t) })
	w.assertMachines(t)
	w.assertNodes(t)
	w.Shoot.LastOperationType = gardencorev1beta1.LastOperationTypeReconcile
}

// restore has the shoot's machines found again on the destination seed.
func (w *world) restore(t *testing.T, state *gardencorev1beta1.ShootState) {
	t.Helper()
	w.seed, w.machines = w.Destination, w.machinesThere
	w.Shoot.LastOperationType, w.Shoot.LastOperationState = gardencorev1beta1.LastOperationTypeRestore, gardencorev1beta1.LastOperationStateProcessing
	require.NoError(t, w.seed.Host(t.Context(), w.Shoot, w.Cluster))
	require.NoError(t, w.seed.Gardenlet.RestoreSecrets(t.Context(), w.Shoot, state))
	w.startController(t)
	w.prepare(t)
	assert.Zero(t, w.replicas(t), "whoever starts it must know the machines")
	component := w.component(t)
	require.NoError(t, component.Restore(t.Context(), state))
	require.NoError(t, component.WaitUntilWorkerStatusMachineDeploymentsUpdated(t.Context()))
	require.NoError(t, component.Wait(t.Context()))
	assert.Nil(t, w.object(t).Status.State, "gardenlet takes it away when it has been read")
	assert.EqualValues(t, 1, w.replicas(t))
}

// replicas returns those that machine-controller-manager is to have.
func (w *world) replicas(t *testing.T) int32 {
	t.Helper()
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
		Name: v1beta1constants.DeploymentNameMachineControllerManager, Namespace: w.Shoot.Namespace(),
	}}
	require.True(t, groundtest.Get(t, w.seed.Client, deployment))
	return *deployment.Spec.Replicas
}

// testHibernation sends the shoot to sleep and wakes it, in the order in which gardenlet does both.
func testHibernation(t *testing.T, w *world) {
	group := w.assertGroup(t)
	w.Shoot.Hibernated = true
	before := time.Now()
	w.fulfil(t)
	t.Logf("going to sleep took %s", time.Since(before).Round(time.Second))
	assert.Empty(t, w.servers(""))
	assert.Empty(t, w.listMachines(t))
	assert.Zero(t, w.replicas(t))
	require.NoError(t, w.seed.Gardenlet.ScaleMachineControllerManager(t.Context(), w.Shoot, 0))
	w.Shoot.IsHibernated = true
	w.seed.StopShootManager(w.Shoot)
	require.NoError(t, w.seed.Gardenlet.ScaleAPIServer(t.Context(), w.Shoot, 0))
	require.NoError(t, w.Cluster.Sleep())
	w.fulfil(t) // as in every maintenance window
	assert.Zero(t, w.replicas(t))
	assert.Empty(t, w.servers(""))

	w.Shoot.Hibernated = false
	require.NoError(t, w.Cluster.Wake(t.Context()))
	require.NoError(t, w.seed.Gardenlet.ScaleAPIServer(t.Context(), w.Shoot, 1))
	require.NoError(t, w.seed.StartShootManager(t.Context(), w.Shoot, w.Cluster))
	w.fulfil(t)
	w.Shoot.IsHibernated = false
	assert.EqualValues(t, 1, w.replicas(t))
	w.assertMachines(t)
	assert.Equal(t, group, w.assertGroup(t))
}
