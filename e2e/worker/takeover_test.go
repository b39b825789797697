package worker

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/ground/groundtest"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/upstream"
)

// testTakeOver takes over machines that the upstream extension has had made. None is replaced, although their pool has a data volume,
// which that extension ignores.
func testTakeOver(t *testing.T, w *world) {
	w.Shoot.LastOperationType = gardencorev1beta1.LastOperationTypeReconcile
	pool := openstack.NewPool(cpu, 2, 2)
	pool.DataVolumes = []gardencorev1beta1.DataVolume{{Name: "data", VolumeSize: "10Gi"}}
	w.Shoot.Workers = []gardencorev1beta1.Worker{pool}
	w.startController(t)
	w.prepare(t) // the machine controller gets where the upstream webhook would put it
	w.stopController(t)
	require.NoError(t, w.component(t).Deploy(t.Context()))
	w.makeAsUpstream(t)
	groundtest.Eventually(t, "the machines run", func() bool { return len(w.listMachines(t)) == 2 && w.running(t) })
	servers, classes := ids(w.servers("")), w.classes(t)
	before := w.machineSets(t)
	require.Len(t, before, 1)

	w.startController(t)
	w.fulfil(t)
	assert.Equal(t, servers, ids(w.servers("")))
	assert.Equal(t, classes, w.classes(t))
	assert.Equal(t, before, w.machineSets(t))
	w.assertMachines(t)
	w.assertNodes(t)
	assert.Empty(t, w.Cloud.StandIn.State(w.Account.Project).Volumes)
	assert.Contains(t, w.object(t).Status.LastOperation.Description, "data volume", "whoever reads it learns when they come")
}

// machineSets returns the UIDs of all sets of machines.
func (w *world) machineSets(t *testing.T) (uids []string) {
	t.Helper()
	list := &machinev1alpha1.MachineSetList{}
	w.list(t, list)
	for _, set := range list.Items {
		uids = append(uids, string(set.UID))
	}
	return uids
}

// makeAsUpstream makes for the only pool what the upstream extension makes.
func (w *world) makeAsUpstream(t *testing.T) {
	t.Helper()
	object := w.object(t)
	by := &upstream.Shoot{Shoot: w.Shoot, Gardenlet: w.seed.Gardenlet, Account: w.Account, Cloud: w.Cloud}
	_, err := by.MakeMachines(t.Context(), object.Spec.Pools[0])
	require.NoError(t, err)

	patch := client.MergeFrom(object.DeepCopy())
	object.Finalizers = []string{"extensions.gardener.cloud/worker"}
	require.NoError(t, w.seed.Client.Patch(t.Context(), object, patch))
}
