package network

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/ground/groundtest"
)

// testMove moves the shoot's control plane to another seed while its network is between two stages. All that goes along is the
// ShootState as Gardener computes it.
func testMove(t *testing.T, w *world) {
	w.Cluster.Kubelets().HoldNode(second)
	w.configure(map[string]any{"overlay": map[string]any{"enabled": true}})
	w.fulfil(t)
	w.assertWaits(t, stageNodes, "not on "+second)
	require.Equal(t, inVXLAN(), w.pools(t))

	there := w.look(t)
	state, err := w.seed.Gardenlet.ShootState(t.Context(), w.Shoot)
	require.NoError(t, err)
	component := w.component(t)
	require.NoError(t, component.Migrate(t.Context()))
	require.NoError(t, component.WaitMigrate(t.Context()))
	assert.Empty(t, w.object(t).Finalizers)
	w.destroy(t)
	w.stopController(t)
	left := w.look(t)
	assert.Empty(t, groundtest.OfShoot(left.LostSince(there)), "everything in the shoot stays")
	assert.Empty(t, groundtest.OfShoot(left.ChangedSince(there)), "as it is")
	assert.Empty(t, groundtest.OfSeed(left.Since(w.untouched)), "nothing stays in the seed")
	w.seed.StopShootManager(w.Shoot)

	w.restore(t, state)
	w.awaitStage(t, stageNodes)
	groundtest.Eventually(t, "it is deployed from here", func() bool { return w.isApplied(t, resourceShoot) })
	assert.Equal(t, inVXLAN(), w.pools(t), "a node has not followed yet")
	w.Cluster.Kubelets().ReleaseNode(second)
	require.NoError(t, w.component(t).Wait(t.Context()))
	assert.Equal(t, gardencorev1beta1.LastOperationTypeRestore, w.object(t).Status.LastOperation.Type)
	w.awaitArrived(t)
	assert.Equal(t, wrapped(), w.pools(t))
	w.awaitRolledOut(t)
	assert.Empty(t, ofCalico(groundtest.OfShoot(w.look(t).LostSince(there))), "nothing in the shoot was deleted or made anew")
	w.Shoot.LastOperationType = gardencorev1beta1.LastOperationTypeReconcile
}

// restore has the shoot brought to life on the destination seed.
func (w *world) restore(t *testing.T, state *gardencorev1beta1.ShootState) {
	t.Helper()
	w.seed = w.Destination
	w.Shoot.LastOperationType = gardencorev1beta1.LastOperationTypeRestore
	require.NoError(t, w.seed.Host(t.Context(), w.Shoot, w.Cluster))
	w.untouched = w.look(t).SeedWithShootOf(w.untouched)
	w.startController(t)
	require.NoError(t, w.component(t).Restore(t.Context(), state))
}
