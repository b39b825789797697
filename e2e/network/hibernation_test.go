package network

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/ground/groundtest"
)

// testHibernation sends the shoot to sleep and wakes it, in the order in which gardenlet does both. A change in between needs no
// stages: there are no nodes.
func testHibernation(t *testing.T, w *world) {
	there := w.look(t)
	w.removeNodes(t)
	w.Shoot.Hibernated = true
	w.fulfil(t)
	w.seed.StopShootManager(w.Shoot)
	require.NoError(t, w.seed.Gardenlet.ScaleAPIServer(t.Context(), w.Shoot, 0))
	require.NoError(t, w.Cluster.Sleep())
	w.fulfil(t) // as in every maintenance window; the shoot is not waited for
	assert.Empty(t, w.stage(t))
	groundtest.Eventually(t, "whoever sleeps is well", func() bool {
		return w.awaitCondition(t, systemHealthy, gardencorev1beta1.ConditionTrue).Message == "The shoot is hibernated, nothing has to run."
	})
	w.configure(map[string]any{"overlay": map[string]any{"enabled": false, "createPodRoutes": true}})
	w.fulfil(t)
	assert.Empty(t, w.stage(t), "no node has to be waited for")
	for _, condition := range w.object(t).Status.Conditions {
		assert.NotEqual(t, gardencorev1beta1.ConditionFalse, condition.Status, "%s: whoever sleeps is not sick", condition.Type)
	}

	w.Shoot.Hibernated = false
	require.NoError(t, w.Cluster.Wake(t.Context()))
	require.NoError(t, w.seed.Gardenlet.ScaleAPIServer(t.Context(), w.Shoot, 1))
	require.NoError(t, w.seed.StartShootManager(t.Context(), w.Shoot, w.Cluster))
	w.fulfil(t)
	w.awaitArrived(t)
	assert.Equal(t, native(), w.pools(t))
	w.addNodes(t)
	w.awaitRolledOut(t)
	assert.Empty(t, ofCalico(groundtest.OfShoot(w.look(t).LostSince(there))), "nothing in the shoot was made anew")
}
