package controlplane

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/ground/groundtest"
)

// testHibernation sends the shoot to sleep and wakes it, in the order in which gardenlet does both.
func testHibernation(t *testing.T, w *world) {
	there := w.look(t)
	w.Shoot.Hibernated = true
	w.fulfil(t)
	for name, deployment := range w.deployments(t) {
		assert.EqualValues(t, 1, *deployment.Spec.Replicas, "%s goes on until nobody needs it any more", name)
	}

	w.seed.StopShootManager(w.Shoot)
	require.NoError(t, w.seed.Gardenlet.ScaleAPIServer(t.Context(), w.Shoot, 0))
	require.NoError(t, w.Cluster.Sleep())
	groundtest.Eventually(t, "everything sleeps, without an order", func() bool {
		for _, deployment := range w.deployments(t) {
			if *deployment.Spec.Replicas != 0 || deployment.Status.Replicas != 0 {
				return false
			}
		}
		return true
	})
	w.fulfil(t) // as in every maintenance window; the shoot is not waited for
	for name, deployment := range w.deployments(t) {
		assert.Zero(t, *deployment.Spec.Replicas, name)
		assert.Empty(t, w.pods(t, deployment), name)
	}
	for _, condition := range w.object(t).Status.Conditions {
		assert.NotEqual(t, gardencorev1beta1.ConditionFalse, condition.Status, "%s: whoever sleeps is not sick", condition.Type)
	}

	w.Shoot.Hibernated = false
	require.NoError(t, w.Cluster.Wake(t.Context()))
	require.NoError(t, w.seed.Gardenlet.ScaleAPIServer(t.Context(), w.Shoot, 1))
	require.NoError(t, w.seed.StartShootManager(t.Context(), w.Shoot, w.Cluster))
	w.fulfil(t)
	w.awaitRolledOut(t)
	w.assertRunning(t, ccm, csiController, manilaController, snapshotController)
	assert.Empty(t, groundtest.OfShoot(w.look(t).LostSince(there)), "nothing in the shoot was touched")
}
