package openstack

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

func TestChooseFloatingNetwork(t *testing.T) {
	networks := []cloudopenstack.Network{
		{ID: "11111111-1111-1111-1111-111111111111", Name: "FloatingIP-external-a"},
		{ID: "22222222-2222-2222-2222-222222222222", Name: "FloatingIP-external-b"},
		{ID: "33333333-3333-3333-3333-333333333333", Name: "twin"},
		{ID: "44444444-4444-4444-4444-444444444444", Name: "twin"},
		{ID: "55555555-5555-5555-5555-555555555555", Name: "a.b"},
	}
	for name, test := range map[string]struct{ pool, want, problem string }{
		"by its name":                    {pool: "FloatingIP-external-a", want: networks[0].ID},
		"by its ID":                      {pool: networks[3].ID, want: networks[3].ID},
		"by a pattern that one fits":     {pool: "*-b", want: networks[1].ID},
		"a dot is a dot":                 {pool: "a.*", want: networks[4].ID},
		"not when nothing fits":          {pool: "nowhere", problem: `no external network "nowhere"`},
		"not when a pattern fits many":   {pool: "FloatingIP-*", problem: "FloatingIP-external-a (11111111"},
		"not when a name is taken twice": {pool: "twin", problem: "give the ID of one"},
	} {
		t.Run(name, func(t *testing.T) {
			chosen, err := chooseFloatingNetwork(test.pool, networks)
			if test.problem != "" {
				require.ErrorContains(t, err, test.problem)
				assert.Equal(t, cloud.Configuration, cloud.KindOf(err))
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.want, chosen.ID)
		})
	}
}

func TestSubnetCandidates(t *testing.T) {
	subnets := []cloudopenstack.Subnet{
		{ID: "id-b", Name: "public-b", IPVersion: 4},
		{ID: "id-a", Name: "public-a", IPVersion: 4},
		{ID: "id-i", Name: "internal", IPVersion: 4},
		{ID: "id-6", Name: "public-6", IPVersion: 6},
	}
	for name, test := range map[string]struct {
		pattern string
		want    []string
	}{
		"a name":                        {"public-b", []string{"id-b"}},
		"a glob, in a stable order":     {"public-*", []string{"id-a", "id-b"}},
		"a regular expression":          {"~public-[ab]", []string{"id-a", "id-b"}},
		"which must fit the whole name": {"~intern(al)?", []string{"id-i"}},
		"a negated glob":                {"!public-*", []string{"id-i"}},
		"a negated regular expression":  {"!~.*-a", []string{"id-i", "id-b"}},
		"an ID":                         {"id-a", []string{"id-a"}},
	} {
		t.Run(name, func(t *testing.T) {
			candidates, err := floatingNetworkSpec{subnet: test.pattern}.subnetCandidates(subnets)
			require.NoError(t, err)
			var ids []string
			for _, candidate := range candidates {
				ids = append(ids, candidate.ID)
			}
			assert.Equal(t, test.want, ids)
		})
	}
	_, err := floatingNetworkSpec{subnet: "private-*"}.subnetCandidates(subnets)
	assert.ErrorContains(t, err, "which has internal, public-6, public-a, public-b")
	_, err = floatingNetworkSpec{subnet: "~("}.subnetCandidates(subnets)
	assert.Equal(t, cloud.Configuration, cloud.KindOf(err))

	const hidden = "11111111-1111-1111-1111-111111111111"
	candidates, err := floatingNetworkSpec{subnet: hidden}.subnetCandidates(nil)
	require.NoError(t, err)
	assert.Equal(t, hidden, candidates[0].ID, "an ID needs no look-up where the cloud shows no subnet")
}

func TestIsID(t *testing.T) {
	assert.True(t, isID("11111111-1111-1111-1111-111111111111"))
	assert.True(t, isID("0123456789abcdef0123456789ABCDEF"))
	assert.False(t, isID("FloatingIP-external"))
	assert.False(t, isID("g1111111-1111-1111-1111-111111111111"))
}

func TestFindFloatingNetwork_PoolCorrected(t *testing.T) {
	wrongPool := func(t *testing.T) (env *environment, other string) {
		env = newEnvironment(t)
		env.profile.Constraints.FloatingPools = []openstackv1alpha1.FloatingPool{{Name: "*"}}
		var err error
		other, err = env.cloud.CreateResource(fake.AdminProject, "networks", fake.Attrs{"name": "other", "router:external": true})
		require.NoError(t, err)
		_, err = env.cloud.CreateResource(fake.AdminProject, "subnets", fake.Attrs{"network_id": other, "ip_version": 4, "cidr": "203.0.113.0/24"})
		require.NoError(t, err)
		env.config.FloatingPoolName = "other"
		return env, other
	}
	fails := func(env *environment, path string) {
		env.cloud.Inject(wire.Fault{Match: wire.Match{WritesOnly: true, Path: path}, Status: 500})
		_, err := env.reconcile()
		require.Error(env.t, err)
	}
	gateway := func(env *environment) string { return env.resources().Routers[0].Gateway.NetworkID }
	t.Run("it counts before there is one", func(t *testing.T) {
		env, other := wrongPool(t)
		fails(env, "/v2.0/routers")
		require.Equal(t, other, env.state()["FloatingNetwork"])
		env.config.FloatingPoolName = fake.ExternalNetwork
		env.mustReconcile()
		assert.NotEqual(t, other, env.state()["FloatingNetwork"])
		assert.Equal(t, env.state()["FloatingNetwork"], gateway(env))
	})
	t.Run("with a given router it counts until the first success", func(t *testing.T) {
		env, other := wrongPool(t)
		env.config.Networks.Router = &openstackv1alpha1.Router{ID: env.plantRouter("theirs")}
		fails(env, "/v2.0/routers/{id}/add_router_interface")
		require.Equal(t, other, env.state()["FloatingNetwork"])
		env.config.FloatingPoolName = fake.ExternalNetwork
		assert.Empty(t, env.mustReconcile().Findings)
		assert.NotEqual(t, other, env.state()["FloatingNetwork"])
	})
	t.Run("afterwards the network counts, whatever its name", func(t *testing.T) {
		env, other := wrongPool(t)
		env.mustReconcile()
		_, err := env.cloud.DoAsOperator(fake.AdminProject, "PUT", services.Neutron, "/v2.0/networks/"+other, map[string]any{"network": fake.Attrs{"name": "renamed"}})
		require.NoError(t, err)
		env.takeCalls()
		env.mustReconcile()
		assert.Len(t, env.takeCalls(), 6)
		assert.Equal(t, other, gateway(env))
	})
}
