package infrastructuresuite

import (
	"net/http"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/testenv"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// testCrash ends the controller during an operation, in other ways than testEveryCall. The next process completes the operation, without a new
// request of gardenlet and without creating anything twice.
func testCrash(t *testing.T, f *testenv.Fixture) {
	t.Run("between the two writes of a reconcile that has nothing to do", func(t *testing.T) {
		env := f.NewEnv(t)
		env.StartController()
		shoot := env.NewReconciledShoot("crash-no-op")
		existing := env.Inventory()

		env.WaitNextSecond(shoot)
		env.KillAt(wire.Match{Service: services.Neutron, Method: http.MethodGet}, wire.Before, func() { env.RequestReconcile(shoot) })
		object := env.Get(shoot)
		assert.NotContains(t, object.Annotations, v1beta1constants.GardenerOperation, "the order was taken")

		env.StartController()
		env.WaitHealthy(shoot)
		assert.Equal(t, existing, env.Inventory())
		env.Destroy(shoot)
	})
	t.Run("when it is asked to end while a slow cloud is at its first creates", func(t *testing.T) {
		env := f.NewEnv(t)
		env.StartController()
		shoot := env.Shoot("interrupted")
		env.Cloud.SetLatency(2 * time.Second)
		env.RequestReconcile(shoot)
		env.Eventually("creates are under way", func() bool {
			return len(env.Cloud.Log().Where(func(call wire.Call) bool {
				return call.IsWrite() && call.Status == 0 && !call.IsLogin()
			})) > 2
		})
		env.StopController()
		object := env.Get(shoot)
		assert.Equal(t, gardencorev1beta1.LastOperationStateProcessing, object.Status.LastOperation.State, "the operation goes on")
		assert.Nil(t, object.Status.LastError, "an end in good order is nobody's error")

		// The next process reads the cloud at once, and must find what the first one had sent.
		env.Cloud.SetLatency(0)
		env.StartController()
		env.WaitHealthy(shoot)
		require.NoError(t, env.Cloud.WaitIdle(t.Context()), "whatever was sent has had its effect")
		assertOneOfEach(env)
		env.Destroy(shoot)
		assertEmpty(env)
	})
}
