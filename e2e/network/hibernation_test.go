package network

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
)

// testHibernation hibernates the shoot and wakes it up, in gardenlet's order. A change in between needs no stages: there are no nodes.
func testHibernation(t *testing.T, env *environment) {
	there := env.snapshot(t)
	env.removeNodes(t)
	env.Shoot.Hibernated = true
	env.reconcile(t)
	env.seed.StopShootManager(env.Shoot)
	require.NoError(t, env.seed.Gardenlet.ScaleAPIServer(t.Context(), env.Shoot, 0))
	require.NoError(t, env.Cluster.Hibernate())
	env.reconcile(t) // as in every maintenance window; the shoot is not waited for
	assert.Empty(t, env.stage(t))
	clusterstest.Eventually(t, "whoever sleeps is well", func() bool {
		return env.awaitCondition(t, systemHealthy, gardencorev1beta1.ConditionTrue).Message == "The shoot is hibernated, nothing has to run."
	})
	env.configure(map[string]any{"overlay": map[string]any{"enabled": false, "createPodRoutes": true}})
	env.reconcile(t)
	assert.Empty(t, env.stage(t), "no node has to be waited for")
	for _, condition := range env.object(t).Status.Conditions {
		assert.NotEqual(t, gardencorev1beta1.ConditionFalse, condition.Status, "%s: whoever sleeps is not sick", condition.Type)
	}

	env.Shoot.Hibernated = false
	require.NoError(t, env.Cluster.WakeUp(t.Context()))
	require.NoError(t, env.seed.Gardenlet.ScaleAPIServer(t.Context(), env.Shoot, 1))
	require.NoError(t, env.seed.StartShootManager(t.Context(), env.Shoot, env.Cluster))
	env.reconcile(t)
	env.awaitTransitionDone(t)
	assert.Equal(t, poolsNative(), env.pools(t))
	env.addNodes(t)
	env.awaitRolledOut(t)
	assert.Empty(t, ofCalico(clusterstest.InShoot(env.snapshot(t).RemovedSince(there))), "nothing in the shoot was made anew")
}
