package openstack

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

// waitForServers bounds how long the fake takes to delete a server.
const waitForServers = 10 * time.Second

// newGroupName is the name of a new group.
func (env *environment) newGroupName(pool, policy string) string {
	return ownerOf(env.shootInput()).names(groupWant{pool, policy})[0]
}

// createServerGroup creates a group, and returns its ID.
func (env *environment) createServerGroup(name, policy string) string {
	env.t.Helper()
	group, err := env.session().CreateServerGroup(env.t.Context(), name, policy)
	require.NoError(env.t, err)
	env.cloud.ResetLog()
	return group.ID
}

// createServer creates a server in a group.
func (env *environment) createServer(group, ofShoot string) string {
	env.t.Helper()
	session := env.session()
	images, err := session.ListImages(env.t.Context(), cloudopenstack.ImageFilter{Name: "tiny"})
	require.NoError(env.t, err)
	flavors, err := session.ListFlavors(env.t.Context())
	require.NoError(env.t, err)
	network, err := env.cloud.CreateResource(fake.DefaultProject, "networks", fake.Attrs{"name": ofShoot})
	require.NoError(env.t, err)
	_, err = env.cloud.CreateResource(fake.DefaultProject, "subnets", fake.Attrs{"network_id": network, "cidr": "10.0.0.0/24", "ip_version": 4})
	require.NoError(env.t, err)
	server, err := session.CreateServer(env.t.Context(), cloudopenstack.ServerCreate{
		Name: "machine", FlavorID: flavors[0].ID, ImageID: images[0].ID, ServerGroupID: group, NetworkIDs: []string{network},
		Metadata: map[string]string{"kubernetes.io-cluster-" + ofShoot: "1", "kubernetes.io-role-node": "1"},
	})
	require.NoError(env.t, err)
	env.cloud.ResetLog()
	return server.ID
}

// groupID is the recorded group of a pool.
func (env *environment) groupID(pool string) string {
	env.t.Helper()
	found, err := recordedGroup(env.dependencies(), pool)
	require.NoError(env.t, err)
	return found.ID
}

func TestServerGroups_NoneRequested(t *testing.T) {
	env := newCloudEnvironment(t)
	env.driver = New(cloudopenstack.NewSessions(cloudopenstack.Options{})) // not even a login
	env.mustReconcile()
	env.mustReconcile()
	assert.Empty(t, env.calls())
}

func TestServerGroups_Lifecycle(t *testing.T) {
	env := newCloudEnvironment(t)
	env.addPool("gpu")
	env.addPool("plain")
	env.setServerGroup("cpu", "soft-anti-affinity")
	env.setServerGroup("gpu", "anti-affinity")
	theirs := env.createServerGroup("database", "affinity")

	env.mustReconcile()
	first := env.dependencies()
	assert.Equal(t, map[string]int{"GET /os-server-groups": 1, "POST /os-server-groups": 2}, env.countCalls())
	assert.ElementsMatch(t, []string{"database", env.newGroupName("cpu", "soft-anti-affinity"), env.newGroupName("gpu", "anti-affinity")}, env.serverGroupNames())
	assert.Equal(t, []string{"cpu", "gpu"}, []string{first[0].PoolName, first[1].PoolName})
	assert.Equal(t, env.newGroupName("cpu", "soft-anti-affinity"), first[0].Name)

	env.mustReconcile()
	assert.Equal(t, first, env.dependencies())
	assert.Equal(t, map[string]int{"GET /os-server-groups": 1}, env.countCalls(), "one call without a change")

	env.setServerGroup("cpu", "anti-affinity")
	env.mustReconcile()
	assert.ElementsMatch(t, []string{"database", env.newGroupName("cpu", "anti-affinity"), env.newGroupName("gpu", "anti-affinity")}, env.serverGroupNames())
	assert.NotEqual(t, first[0].ID, env.groupID("cpu"))
	assert.Equal(t, first[1].ID, env.groupID("gpu"))
	assert.Equal(t, map[string]int{
		"GET /os-server-groups": 1, "POST /os-server-groups": 1, "GET /os-server-groups/{id}": 1, "DELETE /os-server-groups/{id}": 1,
	}, env.countCalls())

	env.removePool("gpu")
	env.setServerGroup("cpu", "")
	env.mustReconcile()
	assert.Equal(t, []string{"database"}, env.serverGroupNames())
	assert.Empty(t, env.dependencies())
	assert.Equal(t, map[string]int{"GET /os-server-groups/{id}": 2, "DELETE /os-server-groups/{id}": 2}, env.countCalls())

	env.setServerGroup("cpu", "affinity")
	env.pools[0].Zones = env.pools[0].Zones[:1]
	env.mustReconcile()
	env.calls()
	require.NoError(t, env.delete())
	assert.Equal(t, map[string]int{"GET /os-server-groups": 1, "DELETE /os-server-groups/{id}": 1}, env.countCalls())
	require.NoError(t, env.delete(), "the second deletion succeeds")
	assert.Equal(t, theirs, env.cloud.State(fake.DefaultProject).ServerGroups[0].ID)
}

// countCalls counts calls by name.
func (env *environment) countCalls() map[string]int {
	counted := map[string]int{}
	for _, call := range env.calls() {
		counted[call.Method+" "+strings.TrimPrefix(call.Path, "/v2.1")]++
	}
	return counted
}

// In between, both groups are recorded, and machines use the last one: upstream reads it so, too.
func TestServerGroups_UnusedStaysRecorded(t *testing.T) {
	env := newCloudEnvironment(t)
	env.setServerGroup("cpu", "soft-anti-affinity")
	env.mustReconcile()
	old := env.groupID("cpu")
	env.setServerGroup("cpu", "anti-affinity")
	for range 2 {
		status, err := env.driver.Prepare(t.Context(), env.shootInput())
		require.NoError(t, err)
		env.record(status)
		require.Len(t, env.dependencies(), 2)
		assert.Equal(t, old, env.dependencies()[0].ID)
		assert.NotEqual(t, old, env.groupID("cpu"))
	}
	env.setServerGroup("cpu", "soft-anti-affinity") // the change is reverted
	env.mustReconcile()
	assert.Equal(t, old, env.groupID("cpu"))
	assert.Equal(t, []string{env.newGroupName("cpu", "soft-anti-affinity")}, env.serverGroupNames())
}

func TestServerGroups_RecreatedAfterDeletion(t *testing.T) {
	env := newCloudEnvironment(t)
	env.setServerGroup("cpu", "soft-anti-affinity")
	env.mustReconcile()
	old := env.groupID("cpu")
	require.NoError(t, env.session().DeleteServerGroup(t.Context(), old))
	env.mustReconcile()
	assert.NotEqual(t, old, env.groupID("cpu"))
	assert.Len(t, env.dependencies(), 1)
}

// #1217: a migration loses the record. The groups are found again, so that no node is replaced.
func TestServerGroups_FoundWithoutRecord(t *testing.T) {
	const policy = "soft-anti-affinity"
	for sentence, tc := range map[string]struct {
		pool   string
		create func(env *environment) (want string)
		left   int // the final number of groups
	}{
		"our name": {"cpu", func(env *environment) string { return env.createServerGroup(env.newGroupName("cpu", policy), policy) }, 1},
		"older name, unambiguous": {
			"cpu", func(env *environment) string { return env.createServerGroup("shoot--dev--one-cpu-0123456789", policy) }, 1,
		},
		"older name, ambiguous, with servers of the shoot": {"cpu-big", func(env *environment) string {
			id := env.createServerGroup("shoot--dev--one-cpu-big-0123456789", policy)
			env.createServer(id, technicalID)
			return id
		}, 1},
		"group with servers among equal names": {"cpu", func(env *environment) string {
			env.createServerGroup(env.newGroupName("cpu", policy), policy)
			id := env.createServerGroup(env.newGroupName("cpu", policy), policy)
			env.createServer(id, technicalID)
			env.createServerGroup(env.newGroupName("cpu", policy), policy)
			return id
		}, 1},
		"older name with servers before our name": {"cpu", func(env *environment) string {
			id := env.createServerGroup("shoot--dev--one-cpu-0123456789", policy)
			env.createServer(id, technicalID)
			env.createServerGroup(env.newGroupName("cpu", policy), policy)
			return id
		}, 1},
		"our name before the older name without servers": {"cpu", func(env *environment) string {
			env.createServerGroup("shoot--dev--one-cpu-0123456789", policy)
			return env.createServerGroup(env.newGroupName("cpu", policy), policy)
		}, 1},
	} {
		t.Run(sentence, func(t *testing.T) {
			env := newCloudEnvironment(t)
			env.pools[0].Name = tc.pool
			env.setServerGroup(tc.pool, policy)
			want := tc.create(env)
			env.mustReconcile()
			assert.Equal(t, want, env.groupID(tc.pool))
			assert.Len(t, env.serverGroupNames(), tc.left)
			assert.Len(t, env.dependencies(), tc.left)
		})
	}
}

func TestServerGroups_OfOthersUntouched(t *testing.T) {
	const policy = "soft-anti-affinity"
	env := newCloudEnvironment(t)
	env.pools[0].Name = "two-x"
	env.setServerGroup("two-x", policy)
	env.createServer(env.createServerGroup("shoot--dev--one-two-x-0123456789", policy), "shoot--dev--one-two")
	env.createServerGroup("shoot--dev--one-two-x-abcdefghij", policy) // its owner is unknown
	env.createServerGroup("shoot--dev--onetwo-x-0123456789", policy)
	env.createServerGroup("5f0c9a52-3c1e-4f6c-0123abcd", policy)
	env.createServerGroup(env.newGroupName("two-x", policy), "affinity") // ours, but of another policy
	env.createServerGroup("two-x", policy)
	theirs := []string{
		"5f0c9a52-3c1e-4f6c-0123abcd", "shoot--dev--one-two-x-0123456789", "shoot--dev--one-two-x-abcdefghij", "shoot--dev--onetwo-x-0123456789", "two-x",
	}
	env.mustReconcile()
	assert.ElementsMatch(t, append(theirs, env.newGroupName("two-x", policy)), env.serverGroupNames())
	require.NoError(t, env.delete())
	assert.Equal(t, theirs, env.serverGroupNames())
}

func TestServerGroups_QuotaExceeded(t *testing.T) {
	env := newCloudEnvironment(t)
	require.NoError(t, env.cloud.SetQuota(fake.DefaultProject, "server_groups", 0))
	env.setServerGroup("cpu", "affinity")
	_, err := env.driver.Prepare(t.Context(), env.shootInput())
	assert.Equal(t, cloud.QuotaExceeded, cloud.KindOf(err))
	assert.ErrorContains(t, err, `for pool "cpu"`)
}
