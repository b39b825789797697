package worker

import (
	"maps"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	gardenerutils "github.com/gardener/gardener/pkg/utils/gardener"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

// Pools whose nodes are updated in place, one after another by machine-controller-manager, or when an operator says so.
const (
	auto   = "auto"
	manual = "manual"
)

// testCreateInPlace brings both kinds of pools into being.
func testCreateInPlace(t *testing.T, env *environment) {
	env.Shoot.Workers = []gardencorev1beta1.Worker{openstack.NewPool(auto, 2, 2), openstack.NewPool(manual, 1, 1)}
	for name, strategy := range map[string]gardencorev1beta1.MachineUpdateStrategy{
		auto: gardencorev1beta1.AutoInPlaceUpdate, manual: gardencorev1beta1.ManualInPlaceUpdate,
	} {
		pool := env.pool(t, name)
		pool.UpdateStrategy, pool.MaxSurge, pool.MaxUnavailable = &strategy, new(intstr.FromInt32(0)), new(intstr.FromInt32(1))
	}
	env.startController(t)
	env.reconcile(t)
	env.assertMachines(t)
	assert.Equal(t, env.wantedHashes(t), env.hashes(t))
}

// testInPlaceAuto gives a pool another version of its operating system. All its machines stay, also those on which it fails at first.
func testInPlaceAuto(t *testing.T, env *environment) {
	servers, before := ids(env.servers("")), env.hashes(t)
	env.pool(t, auto).Machine.Image.Version = new(openstack.LatestImage)
	env.Nodes.FailUpdates("the disk is full")
	component := env.requestReconcile(t)
	clusterstest.Eventually(t, "it is said what has failed", func() bool {
		return strings.Contains(env.object(t).Status.LastOperation.Description, "the disk is full")
	})
	t.Log(env.object(t).Status.LastOperation.Description)
	env.Nodes.FailUpdates("")
	env.await(t, component)
	assert.Equal(t, servers, ids(env.servers("")))
	clusterstest.Eventually(t, "all is well again", func() bool { return env.running(t) })
	env.assertMachines(t)
	now := env.hashes(t)
	assert.NotEqual(t, before[auto], now[auto])
	assert.Equal(t, env.wantedHashes(t), now)
}

// testInPlaceManual does so with a pool whose updates an operator starts: the Worker is done without, and tells when the last machine has
// followed.
func testInPlaceManual(t *testing.T, env *environment) {
	servers, before := ids(env.servers("")), env.hashes(t)
	env.pool(t, manual).Machine.Image.Version = new(openstack.LatestImage)
	env.reconcile(t)
	assert.Equal(t, before[manual], env.hashes(t)[manual], "no machine is updated yet")

	for _, node := range env.listNodes(t, manual) {
		require.NoError(t, env.Nodes.SelectForUpdate(t.Context(), node.Name))
	}
	wanted := env.wantedHashes(t)
	clusterstest.Eventually(t, "it is told that all machines are updated", func() bool { return maps.Equal(wanted, env.hashes(t)) })
	assert.Equal(t, servers, ids(env.servers("")))
	clusterstest.Eventually(t, "all is well again", func() bool { return env.running(t) })
	env.assertMachines(t)
}

// hashes are those that the Worker tells of its pools.
func (env *environment) hashes(t *testing.T) map[string]string {
	t.Helper()
	if updates := env.object(t).Status.InPlaceUpdates; updates != nil {
		return updates.WorkerPoolToHashMap
	}
	return nil
}

// wantedHashes are those that gardenlet waits for.
func (env *environment) wantedHashes(t *testing.T) map[string]string {
	t.Helper()
	hashes := map[string]string{}
	for _, pool := range env.object(t).Spec.Pools {
		hash, err := gardenerutils.CalculateWorkerPoolHashForInPlaceUpdate(
			pool.Name, pool.KubernetesVersion, pool.KubeletConfig, pool.MachineImage.Version, &gardencorev1beta1.ShootCredentials{},
		)
		require.NoError(t, err)
		hashes[pool.Name] = hash
	}
	return hashes
}
