package controlplane

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
)

// testHibernation hibernates the shoot and wakes it up, in gardenlet's order.
func testHibernation(t *testing.T, env *environment) {
	there := env.snapshot(t)
	env.Shoot.Hibernated = true
	env.reconcile(t)
	for name, deployment := range env.deployments(t) {
		assert.EqualValues(t, 1, *deployment.Spec.Replicas, "%s goes on until nobody needs it any more", name)
	}

	env.seed.StopShootManager(env.Shoot)
	require.NoError(t, env.seed.Gardenlet.ScaleAPIServer(t.Context(), env.Shoot, 0))
	require.NoError(t, env.Cluster.Hibernate())
	clusterstest.Eventually(t, "everything sleeps, without an order", func() bool {
		for _, deployment := range env.deployments(t) {
			if *deployment.Spec.Replicas != 0 || deployment.Status.Replicas != 0 {
				return false
			}
		}
		return true
	})
	env.reconcile(t) // as in every maintenance window; the shoot is not waited for
	for name, deployment := range env.deployments(t) {
		assert.Zero(t, *deployment.Spec.Replicas, name)
		assert.Empty(t, env.pods(t, deployment), name)
	}
	for _, condition := range env.object(t).Status.Conditions {
		assert.NotEqual(t, gardencorev1beta1.ConditionFalse, condition.Status, "%s: whoever sleeps is not sick", condition.Type)
	}

	env.Shoot.Hibernated = false
	require.NoError(t, env.Cluster.WakeUp(t.Context()))
	require.NoError(t, env.seed.Gardenlet.ScaleAPIServer(t.Context(), env.Shoot, 1))
	require.NoError(t, env.seed.StartShootManager(t.Context(), env.Shoot, env.Cluster))
	env.reconcile(t)
	env.awaitRolledOut(t)
	env.assertRunning(t, ccm, csiController, manilaController, snapshotController)
	assert.Empty(t, clusterstest.InShoot(env.snapshot(t).RemovedSince(there)), "nothing in the shoot was touched")
}
