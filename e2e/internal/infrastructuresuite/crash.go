package infrastructuresuite

import (
	"net/http"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/rig"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// testCrash ends the controller in the middle of an operation, in ways that EveryCall does not. Its successor brings the
// operation to its end, without another word from gardenlet and without doing anything twice.
func testCrash(t *testing.T, r *rig.Rig) {
	t.Run("between the two writes of a reconcile that has nothing to do", func(t *testing.T) {
		w := r.NewWorld(t)
		w.StartController()
		shoot := w.Fulfilled("crash-no-op")
		existing := w.Inventory()

		w.PassSecond(shoot)
		w.KillAt(wire.Match{Service: wire.Neutron, Method: http.MethodGet}, wire.Before, func() { w.Order(shoot) })
		object := w.Get(shoot)
		assert.NotContains(t, object.Annotations, v1beta1constants.GardenerOperation, "the order was taken")

		w.StartController()
		w.WaitHealthy(shoot)
		assert.Equal(t, existing, w.Inventory())
		w.Destroy(shoot)
	})
	t.Run("when it is asked to end while a slow cloud is at its first creates", func(t *testing.T) {
		w := r.NewWorld(t)
		w.StartController()
		shoot := w.Shoot("interrupted")
		w.Cloud.SetLatency(2 * time.Second)
		w.Order(shoot)
		w.Eventually("creates are under way", func() bool {
			return len(w.Cloud.Log().Where(func(call wire.Call) bool {
				return call.Writes() && call.Status == 0 && !call.IsLogin()
			})) > 2
		})
		w.StopController()
		object := w.Get(shoot)
		assert.Equal(t, gardencorev1beta1.LastOperationStateProcessing, object.Status.LastOperation.State, "the operation goes on")
		assert.Nil(t, object.Status.LastError, "an end in good order is nobody's error")

		// The successor looks at once, and must find what its predecessor had sent.
		w.Cloud.SetLatency(0)
		w.StartController()
		w.WaitHealthy(shoot)
		require.NoError(t, w.Cloud.WaitIdle(t.Context()), "whatever was sent has had its effect")
		assertOneOfEach(w)
		w.Destroy(shoot)
		assertEmpty(w)
	})
}
