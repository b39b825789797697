package worker

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/upstream"
)

// testAdoption takes over machines that the upstream extension has had made. None is replaced, although their pool has a data volume,
// which that extension ignores.
func testAdoption(t *testing.T, env *environment) {
	env.Shoot.LastOperationType = gardencorev1beta1.LastOperationTypeReconcile
	pool := openstack.NewPool(cpu, 2, 2)
	pool.DataVolumes = []gardencorev1beta1.DataVolume{{Name: "data", VolumeSize: "10Gi"}}
	env.Shoot.Workers = []gardencorev1beta1.Worker{pool}
	env.startController(t)
	env.prepare(t) // the machine controller gets where the upstream webhook would put it
	env.stopController(t)
	require.NoError(t, env.component(t).Deploy(t.Context()))
	env.createAsUpstream(t)
	clusterstest.Eventually(t, "the machines run", func() bool { return len(env.listMachines(t)) == 2 && env.running(t) })
	servers, classes := ids(env.servers("")), env.classes(t)
	before := env.machineSets(t)
	require.Len(t, before, 1)

	env.startController(t)
	env.reconcile(t)
	assert.Equal(t, servers, ids(env.servers("")))
	assert.Equal(t, classes, env.classes(t))
	assert.Equal(t, before, env.machineSets(t))
	env.assertMachines(t)
	env.assertNodes(t)
	assert.Empty(t, env.Cloud.Fake.State(env.Account.Project).Volumes)
	assert.Contains(t, env.object(t).Status.LastOperation.Description, "data volume", "whoever reads it learns when they come")
}

// machineSets returns the UIDs of all sets of machines.
func (env *environment) machineSets(t *testing.T) (uids []string) {
	t.Helper()
	list := &machinev1alpha1.MachineSetList{}
	env.list(t, list)
	for _, set := range list.Items {
		uids = append(uids, string(set.UID))
	}
	return uids
}

// createAsUpstream makes for the only pool what the upstream extension makes.
func (env *environment) createAsUpstream(t *testing.T) {
	t.Helper()
	object := env.object(t)
	by := &upstream.Shoot{Shoot: env.Shoot, Gardenlet: env.seed.Gardenlet, Account: env.Account, Cloud: env.Cloud}
	_, err := by.MakeMachines(t.Context(), object.Spec.Pools[0])
	require.NoError(t, err)

	patch := client.MergeFrom(object.DeepCopy())
	object.Finalizers = []string{"extensions.gardener.cloud/worker"}
	require.NoError(t, env.seed.Client.Patch(t.Context(), object, patch))
}
