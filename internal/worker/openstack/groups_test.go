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

// waitForServers is how long the fake may take to let go of a server.
const waitForServers = 10 * time.Second

// nameOf is the name of a new group.
func (w *world) nameOf(pool, policy string) string {
	return ownerOf(w.input()).names(groupWant{pool, policy})[0]
}

// plantGroup makes a group that was there before, and returns its ID.
func (w *world) plantGroup(name, policy string) string {
	w.t.Helper()
	group, err := w.session().CreateServerGroup(w.t.Context(), name, policy)
	require.NoError(w.t, err)
	w.cloud.ResetLog()
	return group.ID
}

// plantServer makes a server in a group.
func (w *world) plantServer(group, ofShoot string) string {
	w.t.Helper()
	session := w.session()
	images, err := session.ListImages(w.t.Context(), cloudopenstack.ImageFilter{Name: "tiny"})
	require.NoError(w.t, err)
	flavors, err := session.ListFlavors(w.t.Context())
	require.NoError(w.t, err)
	network, err := w.cloud.Plant(fake.DefaultProject, "networks", fake.Attrs{"name": ofShoot})
	require.NoError(w.t, err)
	_, err = w.cloud.Plant(fake.DefaultProject, "subnets", fake.Attrs{"network_id": network, "cidr": "10.0.0.0/24", "ip_version": 4})
	require.NoError(w.t, err)
	server, err := session.CreateServer(w.t.Context(), cloudopenstack.ServerCreate{
		Name: "machine", FlavorID: flavors[0].ID, ImageID: images[0].ID, ServerGroupID: group, NetworkIDs: []string{network},
		Metadata: map[string]string{"kubernetes.io-cluster-" + ofShoot: "1", "kubernetes.io-role-node": "1"},
	})
	require.NoError(w.t, err)
	w.cloud.ResetLog()
	return server.ID
}

// idOf is the group on record for a pool.
func (w *world) idOf(pool string) string {
	w.t.Helper()
	found, err := lastOf(w.dependencies(), pool)
	require.NoError(w.t, err)
	return found.ID
}

func TestAShootWithoutServerGroupsCostsNothing(t *testing.T) {
	w := newCloudWorld(t)
	w.driver = New(cloudopenstack.NewSessions(cloudopenstack.Options{})) // not even logged in
	w.mustReconcile()
	w.mustReconcile()
	assert.Empty(t, w.calls())
}

func TestServerGroupsAreMadeAndUnmade(t *testing.T) {
	w := newCloudWorld(t)
	w.addPool("gpu")
	w.addPool("plain")
	w.ask("cpu", "soft-anti-affinity")
	w.ask("gpu", "anti-affinity")
	theirs := w.plantGroup("database", "affinity")

	w.mustReconcile()
	first := w.dependencies()
	assert.Equal(t, map[string]int{"GET /os-server-groups": 1, "POST /os-server-groups": 2}, w.count())
	assert.ElementsMatch(t, []string{"database", w.nameOf("cpu", "soft-anti-affinity"), w.nameOf("gpu", "anti-affinity")}, w.there())
	assert.Equal(t, []string{"cpu", "gpu"}, []string{first[0].PoolName, first[1].PoolName})
	assert.Equal(t, w.nameOf("cpu", "soft-anti-affinity"), first[0].Name)

	w.mustReconcile()
	assert.Equal(t, first, w.dependencies())
	assert.Equal(t, map[string]int{"GET /os-server-groups": 1}, w.count(), "one call when there is nothing to do")

	w.ask("cpu", "anti-affinity")
	w.mustReconcile()
	assert.ElementsMatch(t, []string{"database", w.nameOf("cpu", "anti-affinity"), w.nameOf("gpu", "anti-affinity")}, w.there())
	assert.NotEqual(t, first[0].ID, w.idOf("cpu"))
	assert.Equal(t, first[1].ID, w.idOf("gpu"))
	assert.Equal(t, map[string]int{
		"GET /os-server-groups": 1, "POST /os-server-groups": 1, "GET /os-server-groups/{id}": 1, "DELETE /os-server-groups/{id}": 1,
	}, w.count())

	w.removePool("gpu")
	w.ask("cpu", "")
	w.mustReconcile()
	assert.Equal(t, []string{"database"}, w.there())
	assert.Empty(t, w.dependencies())
	assert.Equal(t, map[string]int{"GET /os-server-groups/{id}": 2, "DELETE /os-server-groups/{id}": 2}, w.count())

	w.ask("cpu", "affinity")
	w.pools[0].Zones = w.pools[0].Zones[:1]
	w.mustReconcile()
	w.calls()
	require.NoError(t, w.delete())
	assert.Equal(t, map[string]int{"GET /os-server-groups": 1, "DELETE /os-server-groups/{id}": 1}, w.count())
	require.NoError(t, w.delete(), "a second time")
	assert.Equal(t, theirs, w.cloud.State(fake.DefaultProject).ServerGroups[0].ID)
}

// count counts calls by what they are.
func (w *world) count() map[string]int {
	counted := map[string]int{}
	for _, call := range w.calls() {
		counted[call.Method+" "+strings.TrimPrefix(call.Path, "/v2.1")]++
	}
	return counted
}

// In between, both groups are on record, and machines are of the one that is last: upstream reads it so, too.
func TestWhatLeavesStaysOnRecordUntilItIsGone(t *testing.T) {
	w := newCloudWorld(t)
	w.ask("cpu", "soft-anti-affinity")
	w.mustReconcile()
	old := w.idOf("cpu")
	w.ask("cpu", "anti-affinity")
	for range 2 {
		status, err := w.driver.Prepare(t.Context(), w.input())
		require.NoError(t, err)
		w.record(status)
		require.Len(t, w.dependencies(), 2)
		assert.Equal(t, old, w.dependencies()[0].ID)
		assert.NotEqual(t, old, w.idOf("cpu"))
	}
	w.ask("cpu", "soft-anti-affinity") // a change of mind
	w.mustReconcile()
	assert.Equal(t, old, w.idOf("cpu"))
	assert.Equal(t, []string{w.nameOf("cpu", "soft-anti-affinity")}, w.there())
}

func TestAGroupThatSomebodyDeletedIsMadeAnew(t *testing.T) {
	w := newCloudWorld(t)
	w.ask("cpu", "soft-anti-affinity")
	w.mustReconcile()
	old := w.idOf("cpu")
	require.NoError(t, w.session().DeleteServerGroup(t.Context(), old))
	w.mustReconcile()
	assert.NotEqual(t, old, w.idOf("cpu"))
	assert.Len(t, w.dependencies(), 1)
}

// #1217: a move to another seed loses the record. The groups are found again, so that no node is replaced.
func TestGroupsAreFoundAgainWithoutARecord(t *testing.T) {
	const policy = "soft-anti-affinity"
	for sentence, tc := range map[string]struct {
		pool  string
		plant func(w *world) (want string)
		left  int // how many groups there are in the end
	}{
		"by our name": {"cpu", func(w *world) string { return w.plantGroup(w.nameOf("cpu", policy), policy) }, 1},
		"by the older name, which can be read in one way only": {
			"cpu", func(w *world) string { return w.plantGroup("shoot--dev--one-cpu-0123456789", policy) }, 1,
		},
		"by the older name, when its servers are machines of the shoot": {"cpu-big", func(w *world) string {
			id := w.plantGroup("shoot--dev--one-cpu-big-0123456789", policy)
			w.plantServer(id, technicalID)
			return id
		}, 1},
		"the one with servers, of two with the same name": {"cpu", func(w *world) string {
			w.plantGroup(w.nameOf("cpu", policy), policy)
			id := w.plantGroup(w.nameOf("cpu", policy), policy)
			w.plantServer(id, technicalID)
			w.plantGroup(w.nameOf("cpu", policy), policy)
			return id
		}, 1},
		"the one with servers, of one with the older name and one with the new": {"cpu", func(w *world) string {
			id := w.plantGroup("shoot--dev--one-cpu-0123456789", policy)
			w.plantServer(id, technicalID)
			w.plantGroup(w.nameOf("cpu", policy), policy)
			return id
		}, 1},
		"the new name, of two without servers": {"cpu", func(w *world) string {
			w.plantGroup("shoot--dev--one-cpu-0123456789", policy)
			return w.plantGroup(w.nameOf("cpu", policy), policy)
		}, 1},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := newCloudWorld(t)
			w.pools[0].Name = tc.pool
			w.ask(tc.pool, policy)
			want := tc.plant(w)
			w.mustReconcile()
			assert.Equal(t, want, w.idOf(tc.pool))
			assert.Len(t, w.there(), tc.left)
			assert.Len(t, w.dependencies(), tc.left)
		})
	}
}

func TestWhatIsNotTheShootsIsLeftAlone(t *testing.T) {
	const policy = "soft-anti-affinity"
	w := newCloudWorld(t)
	w.pools[0].Name = "two-x"
	w.ask("two-x", policy)
	w.plantServer(w.plantGroup("shoot--dev--one-two-x-0123456789", policy), "shoot--dev--one-two")
	w.plantGroup("shoot--dev--one-two-x-abcdefghij", policy) // nobody can tell whose it is
	w.plantGroup("shoot--dev--onetwo-x-0123456789", policy)
	w.plantGroup("5f0c9a52-3c1e-4f6c-0123abcd", policy)
	w.plantGroup(w.nameOf("two-x", policy), "affinity") // ours, but of another policy
	w.plantGroup("two-x", policy)
	theirs := []string{
		"5f0c9a52-3c1e-4f6c-0123abcd", "shoot--dev--one-two-x-0123456789", "shoot--dev--one-two-x-abcdefghij", "shoot--dev--onetwo-x-0123456789", "two-x",
	}
	w.mustReconcile()
	assert.ElementsMatch(t, append(theirs, w.nameOf("two-x", policy)), w.there())
	require.NoError(t, w.delete())
	assert.Equal(t, theirs, w.there())
}

func TestAQuotaIsTold(t *testing.T) {
	w := newCloudWorld(t)
	require.NoError(t, w.cloud.SetQuota(fake.DefaultProject, "server_groups", 0))
	w.ask("cpu", "affinity")
	_, err := w.driver.Prepare(t.Context(), w.input())
	assert.Equal(t, cloud.QuotaExceeded, cloud.KindOf(err))
	assert.ErrorContains(t, err, `for pool "cpu"`)
}
