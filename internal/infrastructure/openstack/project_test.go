package openstack

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// useProject gives the shoot the credentials of a user in a project.
func (env *environment) useProject(project, user string) {
	env.secret["tenantName"], env.secret["username"] = []byte(project), []byte(user)
}

func TestCheckProject(t *testing.T) {
	refused := func(env *environment, err error) {
		env.t.Helper()
		require.Error(env.t, err)
		assert.Equal(env.t, cloud.Configuration, cloud.KindOf(err))
		assert.ErrorContains(env.t, err, "lives in the OpenStack project "+env.cloud.ProjectID(fake.DefaultProject))
		assert.ErrorContains(env.t, err, "are those of project "+env.cloud.ProjectID("elsewhere"))
		assert.ErrorContains(env.t, err, "restore credentials of project")
	}
	elsewhere := func(env *environment) {
		env.cloud.AddProject("elsewhere")
		_, err := env.cloud.AddUser("mover", fake.DefaultPassword, "elsewhere")
		require.NoError(env.t, err)
		env.useProject("elsewhere", "mover")
	}
	for name, before := range map[string]func(env *environment){
		"of a fulfilled shoot": func(env *environment) { env.mustReconcile() },
		"of a shoot whose first pass failed half-way": func(env *environment) {
			env.cloud.Inject(wire.Fault{Match: wire.Match{Path: "/v2.0/routers", WritesOnly: true}, Status: 500})
			_, err := env.reconcile()
			require.Error(env.t, err)
		},
	} {
		t.Run(name+", before anything is done with them", func(t *testing.T) {
			env := newEnvironment(t)
			empty := env.resources()
			before(env)
			resources, state := env.resources(), env.state()
			elsewhere(env)
			nothing := env.cloud.State("elsewhere")
			env.takeCalls()
			_, err := env.reconcile()
			refused(env, err)
			refused(env, env.delete())
			for _, call := range env.takeCalls() {
				assert.True(t, call.IsLogin(), call)
			}
			env.assertUnchanged(resources)
			assert.Equal(t, nothing, env.cloud.State("elsewhere"))
			assert.Equal(t, state, env.state())

			env.useProject(fake.DefaultProject, fake.DefaultUser)
			env.mustReconcile()
			env.mustDelete()
			env.assertUnchanged(empty)
		})
	}
	t.Run("of an adopted shoot once it was fulfilled here", func(t *testing.T) {
		env, _ := upstreamShoot(t)
		env.mustReconcile()
		elsewhere(env)
		_, err := env.reconcile()
		refused(env, err)
		refused(env, env.delete())
	})
}
