package e2e

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
)

// testMove moves a shoot's control plane to another seed. All that goes along is the ShootState as Gardener computes it.
func (l *landscape) testMove(t *testing.T) {
	t.Run("with the source seed's help", func(t *testing.T) {
		source := l.newWorld(t)
		source.startController()
		shoot := source.fulfilled("move")
		state, err := source.gardenlet.ShootState(t.Context(), shoot)
		require.NoError(t, err)

		source.stopController()
		existing, known := inventory(source.cloud), source.get(shoot).Status
		source.cloud.ResetLog()
		source.startController()
		component := source.gardenlet.Infrastructure(shoot)
		require.NoError(t, component.Migrate(t.Context()))
		require.NoError(t, component.WaitMigrate(t.Context()))
		assert.Empty(t, source.get(shoot).Finalizers)
		require.NoError(t, component.Destroy(t.Context()))
		require.NoError(t, component.WaitCleanup(t.Context()))
		assert.Empty(t, source.cloud.Log(), "the source leaves the cloud alone")

		destination := l.moveTo(t, source, shoot, state)
		assert.Equal(t, known.ProviderStatus, destination.get(shoot).Status.ProviderStatus, "ControlPlane and Worker read the same as before")
		assert.Equal(t, existing, inventory(source.cloud), "the cloud is as it was")
		destination.destroy(shoot)
		assert.NotEqual(t, existing, inventory(source.cloud))
	})
	t.Run("after the source seed was lost", func(t *testing.T) {
		source := l.newWorld(t)
		before := inventory(source.cloud)
		source.startController()
		shoot := source.fulfilled("move-lost")
		state, err := source.gardenlet.ShootState(t.Context(), shoot)
		require.NoError(t, err)
		source.killController()
		existing := inventory(source.cloud)

		destination := l.moveTo(t, source, shoot, state)
		assert.Equal(t, existing, inventory(source.cloud), "the cloud is as it was")
		destination.destroy(shoot)
		assert.Equal(t, before, inventory(source.cloud), "what was made from one seed is removed from the other")
	})
}

// moveTo restores the shoot on the destination seed and returns the world there.
func (l *landscape) moveTo(t *testing.T, source *world, shoot *gardenlet.Shoot, state *gardencorev1beta1.ShootState) *world {
	t.Helper()
	destination := newWorldIn(t, l.binary, l.destination, source.cloud)
	destination.startController()
	destination.prepare(shoot)
	component := destination.gardenlet.Infrastructure(shoot)
	require.NoError(t, component.Restore(t.Context(), state))
	require.NoError(t, component.Wait(t.Context()))
	assert.Equal(t, gardencorev1beta1.LastOperationTypeRestore, destination.get(shoot).Status.LastOperation.Type)
	return destination
}
