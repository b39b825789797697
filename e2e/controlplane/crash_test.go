package controlplane

import (
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
)

// testCreateAfterCrash ends the controller by force in the middle of a create, where it waits for somebody who is away for the
// moment. Its successor goes on without another word from gardenlet.
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

// awaitMessage waits until the ControlPlane says what keeps its operation.
func (env *environment) awaitMessage(t *testing.T, operation gardencorev1beta1.LastOperationType, word string) {
	t.Helper()
	clusterstest.Eventually(t, "it is said that something "+word, func() bool {
		last := env.object(t).Status.LastOperation
		return last != nil && last.Type == operation && last.State == gardencorev1beta1.LastOperationStateProcessing &&
			strings.Contains(last.Description, word)
	})
}
