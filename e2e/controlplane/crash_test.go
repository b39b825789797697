package controlplane

import (
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
)

// testCreateAfterCrash kills the controller during a creation that waits for a stopped program. The next process continues without a new request of
// gardenlet.
func testCreateAfterCrash(t *testing.T, env *environment) {
	env.startController(t)
	env.seed.StopShootManager(env.Shoot)
	env.requestReconcile(t)
	env.awaitMessage(t, gardencorev1beta1.LastOperationTypeCreate, "gardener-resource-manager has not applied")
	env.killController()
	env.startController(t)
	require.NoError(t, env.seed.StartShootManager(t.Context(), env.Shoot, env.Cluster))
	require.NoError(t, env.seed.Gardenlet.ControlPlane(env.Shoot).Wait(t.Context()))
	env.awaitRolledOut(t)
	env.assertRunning(t, ccm, csiController, snapshotController)
}

// awaitMessage waits until the ControlPlane reports what it waits for.
func (env *environment) awaitMessage(t *testing.T, operation gardencorev1beta1.LastOperationType, word string) {
	t.Helper()
	clusterstest.Eventually(t, "it is said that something "+word, func() bool {
		last := env.object(t).Status.LastOperation
		return last != nil && last.Type == operation && last.State == gardencorev1beta1.LastOperationStateProcessing &&
			strings.Contains(last.Description, word)
	})
}
