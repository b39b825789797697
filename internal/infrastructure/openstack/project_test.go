package openstack

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// moveTo gives the shoot the credentials of a user in a project.
func (w *world) moveTo(project, user string) {
	w.secret["tenantName"], w.secret["username"] = []byte(project), []byte(user)
}

func TestCredentialsOfAnotherProjectAreRefused(t *testing.T) {
	refused := func(w *world, err error) {
		w.t.Helper()
		require.Error(w.t, err)
		assert.Equal(w.t, cloud.Configuration, cloud.KindOf(err))
		assert.ErrorContains(w.t, err, "lives in the OpenStack project "+w.cloud.ProjectID(fake.DefaultProject))
		assert.ErrorContains(w.t, err, "are those of project "+w.cloud.ProjectID("elsewhere"))
		assert.ErrorContains(w.t, err, "restore credentials of project")
	}
	elsewhere := func(w *world) {
		w.cloud.AddProject("elsewhere")
		_, err := w.cloud.AddUser("mover", fake.DefaultPassword, "elsewhere")
		require.NoError(w.t, err)
		w.moveTo("elsewhere", "mover")
	}
	for name, before := range map[string]func(w *world){
		"of a fulfilled shoot": func(w *world) { w.mustReconcile() },
		"of a shoot whose first pass failed half-way": func(w *world) {
			w.cloud.Inject(wire.Fault{Match: wire.Match{Path: "/v2.0/routers", WritesOnly: true}, Status: 500})
			_, err := w.reconcile()
			require.Error(w.t, err)
		},
	} {
		t.Run(name+", before anything is done with them", func(t *testing.T) {
			w := newWorld(t)
			empty := w.there()
			before(w)
			there, state := w.there(), w.state()
			elsewhere(w)
			nothing := w.cloud.State("elsewhere")
			w.calls()
			_, err := w.reconcile()
			refused(w, err)
			refused(w, w.delete())
			for _, call := range w.calls() {
				assert.True(t, call.IsLogin(), call)
			}
			w.unchanged(there)
			assert.Equal(t, nothing, w.cloud.State("elsewhere"))
			assert.Equal(t, state, w.state())

			w.moveTo(fake.DefaultProject, fake.DefaultUser)
			w.mustReconcile()
			w.mustDelete()
			w.unchanged(empty)
		})
	}
	t.Run("of an adopted shoot once it was fulfilled here", func(t *testing.T) {
		w, _ := upstreamShoot(t)
		w.mustReconcile()
		elsewhere(w)
		_, err := w.reconcile()
		refused(w, err)
		refused(w, w.delete())
	})
}
