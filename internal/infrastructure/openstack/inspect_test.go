package openstack

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/inspect"
	inspectopenstack "github.com/trellis-garden/trellis/internal/inspect/openstack"
)

// inspected returns the origins of the resources that trellis-inspect finds in what is recorded, by ID.
func (env *environment) inspected() map[string]inspect.Origin {
	env.t.Helper()
	recorded := inspect.Recorded{Config: env.marshal(env.config).Raw, State: env.infra.Status.State.Raw}
	if env.infra.Status.ProviderStatus != nil {
		recorded.Status = env.infra.Status.ProviderStatus.Raw
	}
	trees, err := inspectopenstack.Cloud{}.Resources(recorded)
	require.NoError(env.t, err)
	origins := map[string]inspect.Origin{}
	var collect func([]inspect.Resource)
	collect = func(resources []inspect.Resource) {
		for _, r := range resources {
			assert.Empty(env.t, r.Note, r.Kind)
			origins[r.ID] = r.Origin
			collect(r.Children)
		}
	}
	collect(trees)
	return origins
}

// trellis-inspect does not link the driver, so this test holds its reader against what the driver writes.
func TestState_Inspected(t *testing.T) {
	kinds := []kind{kindNetwork, kindRouter, kindSubnet, kindSecurityGroup, kindKeyPair}
	want := func(env *environment, origin inspect.Origin) map[string]inspect.Origin {
		origins := map[string]inspect.Origin{env.floatingNetwork(): inspect.OriginShared}
		for _, k := range kinds {
			origins[env.state()[string(k)]] = origin
		}
		return origins
	}
	t.Run("created by this driver", func(t *testing.T) {
		env := newEnvironment(t)
		env.mustReconcile()
		assert.Equal(t, want(env, inspect.OriginTrellis), env.inspected())
	})
	t.Run("with a router of the user", func(t *testing.T) {
		env := newEnvironment(t)
		id := env.plantRouter("theirs")
		env.config.Networks.Router = &openstackv1alpha1.Router{ID: id}
		env.mustReconcile()
		origins := want(env, inspect.OriginTrellis)
		origins[id] = inspect.OriginUser
		assert.Equal(t, origins, env.inspected())
	})
	t.Run("created by the upstream extension, before and after it is adopted", func(t *testing.T) {
		env, _ := upstreamShoot(t)
		assert.Equal(t, want(env, inspect.OriginFormerExtension), env.inspected())
		env.mustReconcile()
		assert.Equal(t, want(env, inspect.OriginAdopted), env.inspected())
	})
}
