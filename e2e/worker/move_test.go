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

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// testMove moves the shoot's control plane to another seed, in the order in which gardenlet does. All that goes along is the ShootState as
// Gardener computes it.
func testMove(t *testing.T, env *environment) {
	there, servers, group := env.inventory(t), ids(env.servers("")), env.assertGroup(t)
	env.Cloud.ResetLog()
	env.removeManager(t)
	component := env.component(t)
	require.NoError(t, component.Migrate(t.Context()))
	require.NoError(t, component.WaitMigrate(t.Context()))
	assert.Empty(t, env.object(t).Finalizers)
	state, err := env.seed.Gardenlet.ShootState(t.Context(), env.Shoot)
	require.NoError(t, err)
	require.NoError(t, component.Destroy(t.Context()))
	require.NoError(t, component.WaitCleanup(t.Context()))
	require.NoError(t, env.seed.Gardenlet.ForgetMachines(t.Context(), env.Shoot))
	clusterstest.Eventually(t, "nothing of the machines is in the seed", func() bool { return len(env.listMachines(t)) == 0 && len(env.classes(t)) == 0 })
	env.stopController(t)
	env.seed.StopShootManager(env.Shoot)

	env.restore(t, state)
	assert.Equal(t, gardencorev1beta1.LastOperationTypeRestore, env.object(t).Status.LastOperation.Type)
	assert.Empty(t, env.Cloud.Log().Where(wire.Call.IsWrite).Where(func(c wire.Call) bool { return !c.IsLogin() }), "nothing is made or changed")
	assert.Equal(t, there, env.inventory(t))
	assert.Equal(t, servers, ids(env.servers("")))
	assert.Equal(t, group, env.assertGroup(t))
	clusterstest.Eventually(t, "all machines are known again", func() bool { return env.running(t) })
	env.assertMachines(t)
	env.assertNodes(t)
	env.Shoot.LastOperationType = gardencorev1beta1.LastOperationTypeReconcile
}

// restore has the shoot's machines found again on the destination seed.
func (env *environment) restore(t *testing.T, state *gardencorev1beta1.ShootState) {
	t.Helper()
	env.seed = env.Destination
	env.Shoot.LastOperationType, env.Shoot.LastOperationState = gardencorev1beta1.LastOperationTypeRestore, gardencorev1beta1.LastOperationStateProcessing
	require.NoError(t, env.seed.Host(t.Context(), env.Shoot, env.Cluster))
	require.NoError(t, env.seed.Gardenlet.RestoreSecrets(t.Context(), env.Shoot, state))
	env.startController(t)
	env.prepare(t)
	assert.Zero(t, env.replicas(t), "whoever starts it must know the machines")
	component := env.component(t)
	require.NoError(t, component.Restore(t.Context(), state))
	require.NoError(t, component.WaitUntilWorkerStatusMachineDeploymentsUpdated(t.Context()))
	require.NoError(t, component.Wait(t.Context()))
	assert.Nil(t, env.object(t).Status.State, "gardenlet takes it away when it has been read")
	assert.EqualValues(t, 1, env.replicas(t))
}

// replicas returns those that machine-controller-manager is to have.
func (env *environment) replicas(t *testing.T) int32 {
	t.Helper()
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
		Name: v1beta1constants.DeploymentNameMachineControllerManager, Namespace: env.Shoot.Namespace(),
	}}
	require.True(t, clusterstest.Get(t, env.seed.Client, deployment))
	return *deployment.Spec.Replicas
}

// testHibernation sends the shoot to sleep and wakes it, in the order in which gardenlet does both.
func testHibernation(t *testing.T, env *environment) {
	group := env.assertGroup(t)
	env.Shoot.Hibernated = true
	before := time.Now()
	env.reconcile(t)
	t.Logf("going to sleep took %s", time.Since(before).Round(time.Second))
	assert.Empty(t, env.servers(""))
	assert.Empty(t, env.listMachines(t))
	assert.Zero(t, env.replicas(t))
	require.NoError(t, env.seed.Gardenlet.ScaleMachineControllerManager(t.Context(), env.Shoot, 0))
	env.Shoot.IsHibernated = true
	env.seed.StopShootManager(env.Shoot)
	require.NoError(t, env.seed.Gardenlet.ScaleAPIServer(t.Context(), env.Shoot, 0))
	require.NoError(t, env.Cluster.Hibernate())
	env.reconcile(t) // as in every maintenance window
	assert.Zero(t, env.replicas(t))
	assert.Empty(t, env.servers(""))

	env.Shoot.Hibernated = false
	require.NoError(t, env.Cluster.WakeUp(t.Context()))
	require.NoError(t, env.seed.Gardenlet.ScaleAPIServer(t.Context(), env.Shoot, 1))
	require.NoError(t, env.seed.StartShootManager(t.Context(), env.Shoot, env.Cluster))
	env.reconcile(t)
	env.Shoot.IsHibernated = false
	assert.EqualValues(t, 1, env.replicas(t))
	env.assertMachines(t)
	assert.Equal(t, group, env.assertGroup(t))
}
