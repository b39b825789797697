package infrastructuresuite

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/testenv"
)

// testMove migrates a shoot's control plane to another seed. Only the ShootState, computed by Gardener's code, is transferred.
func testMove(t *testing.T, f *testenv.Fixture) {
	t.Run("with the source seed's help", func(t *testing.T) {
		source := f.NewEnv(t)
		source.StartController()
		shoot := source.NewReconciledShoot("move")
		state, err := source.Gardenlet.ShootState(t.Context(), shoot)
		require.NoError(t, err)

		source.StopController()
		existing, known := source.Inventory(), source.Get(shoot).Status
		source.Cloud.ResetLog()
		source.StartController()
		component := source.Gardenlet.Infrastructure(shoot)
		require.NoError(t, component.Migrate(t.Context()))
		require.NoError(t, component.WaitMigrate(t.Context()))
		assert.Empty(t, source.Get(shoot).Finalizers)
		source.Destroy(shoot)
		assert.Empty(t, source.Cloud.Log(), "the source leaves the cloud alone")

		destination := moveTo(f, source, shoot, state)
		assert.Equal(t, known.ProviderStatus, destination.Get(shoot).Status.ProviderStatus, "ControlPlane and Worker read the same as before")
		assert.Equal(t, existing, source.Inventory(), "the cloud is as it was")
		destination.Destroy(shoot)
		assertEmpty(source)
	})
	t.Run("after the source seed was lost", func(t *testing.T) {
		source := f.NewEnv(t)
		source.StartController()
		shoot := source.NewReconciledShoot("move-lost")
		state, err := source.Gardenlet.ShootState(t.Context(), shoot)
		require.NoError(t, err)
		source.KillController()
		existing := source.Inventory()

		destination := moveTo(f, source, shoot, state)
		assert.Equal(t, existing, source.Inventory(), "the cloud is as it was")
		destination.Destroy(shoot)
		assertEmpty(source) // what was made from one seed is removed from the other
	})
}

// moveTo restores the shoot on the destination seed and returns the Env there.
func moveTo(f *testenv.Fixture, source *testenv.Env, shoot *gardenlet.Shoot, state *gardencorev1beta1.ShootState) *testenv.Env {
	t := source.T
	t.Helper()
	destination := f.MoveTo(t, source)
	destination.StartController()
	destination.Prepare(shoot)
	component := destination.Gardenlet.Infrastructure(shoot)
	require.NoError(t, component.Restore(t.Context(), state))
	require.NoError(t, component.Wait(t.Context()))
	assert.Equal(t, gardencorev1beta1.LastOperationTypeRestore, destination.Get(shoot).Status.LastOperation.Type)
	return destination
}
