package infrastructuresuite

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/e2e/internal/rig"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
)

// testLogin lets a user give an application credential instead of a password.
func testLogin(t *testing.T, r *rig.Rig) {
	w := r.NewWorld(t)
	w.StartController()
	credential, id, err := w.Account.ApplicationCredential(t.Context(), "for-gardener")
	require.NoError(t, err)
	shoot := w.Shoot("application-credential")
	shoot.Credentials = credential
	w.Update(shoot)

	w.Fulfil(shoot)
	w.Cloud.ResetLog()
	w.FulfilAgain(shoot)
	assertNothingWritten(w)
	w.Destroy(shoot)
	w.Do(http.MethodDelete, conformance.Identity, "/v3/users/"+w.Account.UserID+"/application_credentials/"+id, nil)
	assertEmpty(w)
}
