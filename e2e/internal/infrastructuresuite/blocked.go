package infrastructuresuite

import (
	"net/http"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/e2e/internal/testenv"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
)

// testBlocked creates a foreign resource in a shoot's network. The deletion names it, and continues once it is gone.
func testBlocked(t *testing.T, f *testenv.Fixture) {
	env := f.NewEnv(t)
	env.StartController()
	shoot := env.NewReconciledShoot("blocked")
	port := makePort(env, "precious", env.Find("network").ID)

	env.RequestDeletion(shoot)
	object := env.WaitForError(shoot)
	t.Log(object.Status.LastError.Description)
	assert.Contains(t, object.Status.LastError.Description, port)
	assert.Contains(t, object.Status.LastError.Description, "precious")
	assert.Equal(t, []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorInfraDependencies}, object.Status.LastError.Codes)
	assert.Equal(t, gardencorev1beta1.LastOperationTypeDelete, object.Status.LastOperation.Type)
	env.Do(http.MethodGet, conformance.Network, ports+"/"+port, nil) // it is there

	remove(env, ports+"/"+port)
	env.WaitGone(shoot)
	assertEmpty(env)
}
