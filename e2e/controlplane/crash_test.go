package controlplane

import (
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/ground/groundtest"
)

// testCreateAfterCrash ends the controller by force in the middle of a create, where it waits for somebody who is away for the
// moment. Its successor goes on without another word from gardenlet.
func testCreateAfterCrash(t *testing.T, w *world) {
	w.startController(t)
	w.seed.StopShootManager(w.Shoot)
	w.order(t)
	w.awaitWord(t, gardencorev1beta1.LastOperationTypeCreate, "gardener-resource-manager has not applied")
	w.killController()
	w.startController(t)
	require.NoError(t, w.seed.StartShootManager(t.Context(), w.Shoot, w.Cluster))
	require.NoError(t, w.seed.Gardenlet.ControlPlane(w.Shoot).Wait(t.Context()))
	w.awaitRolledOut(t)
	w.assertRunning(t, ccm, csiController, snapshotController)
}

// awaitWord waits until the ControlPlane says what keeps its operation.
func (w *world) awaitWord(t *testing.T, operation gardencorev1beta1.LastOperationType, word string) {
	t.Helper()
	groundtest.Eventually(t, "it is said that something "+word, func() bool {
		last := w.object(t).Status.LastOperation
		return last != nil && last.Type == operation && last.State == gardencorev1beta1.LastOperationStateProcessing &&
			strings.Contains(last.Description, word)
	})
}
