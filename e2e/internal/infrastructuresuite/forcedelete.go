package infrastructuresuite

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/testenv"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// testForceDelete deletes a shoot that cannot use its cloud: without success, and then by force. What that leaves in the cloud has the
// shoot's tags or names, so that an object without state finds all of it again.
func testForceDelete(t *testing.T, f *testenv.Fixture) {
	wrong := cloudFailures(f.Provider.Type)[wrongCredentials]
	for description, c := range map[string]struct {
		shoot      string
		begin, end func(*testenv.Env, *gardenlet.Shoot)
		codes      []gardencorev1beta1.ErrorCode
	}{
		"the cloud is unreachable": {
			shoot: "force-delete",
			begin: func(env *testenv.Env, _ *gardenlet.Shoot) {
				env.Cloud.SetHook(func(wire.Event) wire.HookResult { return wire.DropConnection })
			},
			end:   func(env *testenv.Env, _ *gardenlet.Shoot) { env.Cloud.SetHook(nil) },
			codes: []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorRetryableInfraDependencies},
		},
		wrongCredentials: {
			shoot: "force-delete-credentials", begin: wrong.begin, end: wrong.end, codes: []gardencorev1beta1.ErrorCode{wrong.code},
		},
	} {
		t.Run(description, func(t *testing.T) {
			env := f.NewEnv(t)
			env.StartController()
			shoot := env.NewReconciledShoot(c.shoot)
			c.begin(env, shoot)

			env.RequestDeletion(shoot)
			object := env.WaitForError(shoot)
			assert.Equal(t, gardencorev1beta1.LastOperationTypeDelete, object.Status.LastOperation.Type)
			assert.Equal(t, c.codes, object.Status.LastError.Codes)
			assert.NotEmpty(t, object.Finalizers, "what cannot be deleted is not forgotten")

			shoot.Annotations = map[string]string{v1beta1constants.AnnotationConfirmationForceDeletion: "true"}
			env.Update(shoot)
			env.Destroy(shoot)
			assertOneOfEach(env)

			c.end(env, shoot)
			shoot.Annotations = nil
			env.Update(shoot)
			env.StopController() // which would take an object without a status for a new one
			createUpstreamObject(env, shoot, nil)
			env.StartController()
			env.Destroy(shoot)
			assertEmpty(env)
		})
	}
}
