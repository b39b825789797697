package openstack

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

func TestFindFloatingNetwork_Remembered(t *testing.T) {
	newExternal := func(env *environment, name string) string {
		id, err := env.cloud.CreateResource(fake.AdminProject, "networks", fake.Attrs{"name": name, "router:external": true})
		require.NoError(env.t, err)
		_, err = env.cloud.CreateResource(fake.AdminProject, "subnets", fake.Attrs{"network_id": id, "ip_version": 4, "cidr": "203.0.113.0/24"})
		require.NoError(env.t, err)
		return id
	}
	asAdmin := func(env *environment, method, path string, body any) {
		_, err := env.cloud.DoAsOperator(fake.AdminProject, method, services.Neutron, path, body)
		require.NoError(env.t, err)
	}
	warm := func(t *testing.T) (env *environment, external string) {
		env = newEnvironment(t)
		env.config.FloatingPoolName = "other"
		env.profile.Constraints.FloatingPools[0].Name = "*"
		external = newExternal(env, "other")
		env.findFloatingNetworkBefore()
		return env, external
	}
	t.Run("is not looked up again", func(t *testing.T) {
		env, external := warm(t)
		env.mustReconcile()
		assert.Zero(t, env.takeCalls().Count()[getNetworks])
		assert.Equal(t, external, env.state()["FloatingNetwork"])
		assert.Equal(t, external, env.resources().Routers[0].Gateway.NetworkID)
	})
	t.Run("is looked up by another name", func(t *testing.T) {
		env, external := warm(t)
		env.config.FloatingPoolName = fake.ExternalNetwork
		env.mustReconcile()
		assert.Equal(t, 1, env.takeCalls().Count()[getNetworks])
		assert.NotEqual(t, external, env.state()["FloatingNetwork"])
	})
	t.Run("is looked up when it was deleted, and another one has its name", func(t *testing.T) {
		env, external := warm(t)
		asAdmin(env, "DELETE", "/v2.0/networks/"+external, nil)
		replacement := newExternal(env, "other")
		env.mustReconcile()
		assert.Equal(t, replacement, env.state()["FloatingNetwork"])
		assert.Equal(t, replacement, env.resources().Routers[0].Gateway.NetworkID)
		require.Len(t, env.resources().Routers, 1)
	})
	t.Run("is looked up when it is no external network any more", func(t *testing.T) {
		env, external := warm(t)
		asAdmin(env, "PUT", "/v2.0/networks/"+external, map[string]any{"network": fake.Attrs{"router:external": false, "shared": true}})
		replacement := newExternal(env, "other")
		env.mustReconcile()
		assert.Equal(t, replacement, env.resources().Routers[0].Gateway.NetworkID)
	})
	t.Run("names the problem when it was deleted", func(t *testing.T) {
		env, external := warm(t)
		asAdmin(env, "DELETE", "/v2.0/networks/"+external, nil)
		for range 2 {
			_, err := env.reconcile()
			require.ErrorContains(t, err, `no external network "other" can be seen by this project`)
		}
		newExternal(env, "other")
		env.mustReconcile()
	})
	t.Run("is looked up when its subnet cannot be found", func(t *testing.T) {
		env, external := warm(t)
		env.selectFloatingSubnet("public-*")
		asAdmin(env, "DELETE", "/v2.0/networks/"+external, nil)
		asAdmin(env, "PUT", "/v2.0/networks/"+env.floatingNetwork(), map[string]any{"network": fake.Attrs{"name": "other"}})
		env.mustReconcile()
		assert.NotEqual(t, external, env.state()["FloatingNetwork"])
	})
	t.Run("is looked up once when the refusal has another reason", func(t *testing.T) {
		env, _ := warm(t)
		env.cloud.Inject(wire.Fault{Match: wire.Match{Method: "POST", Path: "/v2.0/routers"}, Times: -1, Status: 400})
		_, err := env.reconcile()
		require.ErrorContains(t, err, "creating router")
		assert.Equal(t, map[string]int{getNetworks: 1, postRouter: 1}, only(env.takeCalls().Count(), getNetworks, postRouter))
	})
}

// only returns the counts of some calls.
func only(counts map[string]int, names ...string) map[string]int {
	chosen := map[string]int{}
	for _, name := range names {
		if counts[name] > 0 {
			chosen[name] = counts[name]
		}
	}
	return chosen
}
