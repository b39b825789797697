package infrastructuresuite

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/testenv"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
)

// testLogin uses an application credential instead of a password.
func testLogin(t *testing.T, f *testenv.Fixture) {
	env := f.NewEnv(t)
	env.StartController()
	credential, id, err := env.Project().ApplicationCredential(t.Context(), "for-gardener")
	require.NoError(t, err)
	shoot := env.Shoot("application-credential")
	shoot.Credentials = credential
	env.Update(shoot)

	env.Reconcile(shoot)
	env.Cloud.ResetLog()
	env.ReconcileAgain(shoot)
	assertNothingWritten(env)
	env.Destroy(shoot)
	env.Do(http.MethodDelete, conformance.Identity, "/v3/users/"+env.Project().UserID+"/application_credentials/"+id, nil)
	assertEmpty(env)
}
