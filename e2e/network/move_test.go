package network

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
)

// testMove migrates the shoot's control plane to another seed while its network is between two stages. Only the ShootState, computed by Gardener's
// code, is transferred.
func testMove(t *testing.T, env *environment) {
	env.Cluster.Kubelets().HoldNode(second)
	env.configure(map[string]any{"overlay": map[string]any{"enabled": true}})
	env.reconcile(t)
	env.assertWaits(t, stageNodes, "not on "+second)
	require.Equal(t, poolsVXLAN(), env.pools(t))

	there := env.snapshot(t)
	state, err := env.seed.Gardenlet.ShootState(t.Context(), env.Shoot)
	require.NoError(t, err)
	component := env.component(t)
	require.NoError(t, component.Migrate(t.Context()))
	require.NoError(t, component.WaitMigrate(t.Context()))
	assert.Empty(t, env.object(t).Finalizers)
	env.destroy(t)
	env.stopController(t)
	left := env.snapshot(t)
	assert.Empty(t, clusterstest.InShoot(left.RemovedSince(there)), "everything in the shoot stays")
	assert.Empty(t, clusterstest.InShoot(left.ChangedSince(there)), "as it is")
	assert.Empty(t, clusterstest.InSeed(left.AddedSince(env.initial)), "nothing stays in the seed")
	env.seed.StopShootManager(env.Shoot)

	env.restore(t, state)
	env.awaitStage(t, stageNodes)
	clusterstest.Eventually(t, "it is deployed from here", func() bool { return env.isApplied(t, resourceShoot) })
	assert.Equal(t, poolsVXLAN(), env.pools(t), "a node has not followed yet")
	env.Cluster.Kubelets().ReleaseNode(second)
	require.NoError(t, env.component(t).Wait(t.Context()))
	assert.Equal(t, gardencorev1beta1.LastOperationTypeRestore, env.object(t).Status.LastOperation.Type)
	env.awaitTransitionDone(t)
	assert.Equal(t, poolsIPIP(), env.pools(t))
	env.awaitRolledOut(t)
	assert.Empty(t, ofCalico(clusterstest.InShoot(env.snapshot(t).RemovedSince(there))), "nothing in the shoot was deleted or made anew")
	env.Shoot.LastOperationType = gardencorev1beta1.LastOperationTypeReconcile
}

// restore restores the shoot on the destination seed.
func (env *environment) restore(t *testing.T, state *gardencorev1beta1.ShootState) {
	t.Helper()
	env.seed = env.Destination
	env.Shoot.LastOperationType = gardencorev1beta1.LastOperationTypeRestore
	require.NoError(t, env.seed.Host(t.Context(), env.Shoot, env.Cluster))
	env.initial = env.snapshot(t).SeedWithShootOf(env.initial)
	env.startController(t)
	require.NoError(t, env.component(t).Restore(t.Context(), state))
}
