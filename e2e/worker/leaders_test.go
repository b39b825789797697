package worker

import (
	"maps"
	"slices"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/ground/groundtest"
	"github.com/trellis-garden/trellis/e2e/internal/mcm"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

// ownLease is what our controllers lead by.
const ownLease = controllerName + "/" + controllerName + "-leader-election"

// testLeaders has two instances of everything, and kills all leaders in the middle of a roll, which the others complete.
func testLeaders(t *testing.T, w *world) {
	w.stopController(t)
	w.startOneMore(t, controller.Options{LeaderElection: true})
	w.startOneMore(t, controller.Options{LeaderElection: true})
	pods := w.doubleMachineControllerManager(t)

	pool := w.pool(t, cpu)
	pool.Machine.Image.Version, pool.MaxSurge = new(openstack.LatestImage), new(intstr.FromInt32(pool.Minimum))
	before := ids(w.servers(""))
	require.NoError(t, w.seed.Gardenlet.Prepare(t.Context(), w.Shoot))
	require.NoError(t, w.seed.Gardenlet.PrepareWorker(t.Context(), w.Shoot))
	w.passSecond(t)
	component := w.component(t)
	require.NoError(t, component.Deploy(t.Context()))
	groundtest.Eventually(t, "a machine of the new kind is there", func() bool { return len(w.servers("")) > len(before) })

	led := w.leaders(t)
	require.NotEmpty(t, led[ownLease])
	if pods {
		leading := []string{led[w.Shoot.Namespace()+"/"+mcm.Manager], led[w.Shoot.Namespace()+"/machine-controller"]}
		for _, name := range slices.Compact(leading) {
			require.NoError(t, w.machines.Lose(t.Context(), w.Shoot.Namespace(), name))
		}
	}
	w.killLeader(t)
	w.await(t, component)
	w.assertMachines(t)
	assert.Empty(t, slices.DeleteFunc(ids(w.servers("")), func(id string) bool { return !slices.Contains(before, id) }), "all machines are new")
	now := w.leaders(t)
	assert.NotEqual(t, led[ownLease], now[ownLease])
	if pods {
		assert.NotEqual(t, led[w.Shoot.Namespace()+"/"+mcm.Manager], now[w.Shoot.Namespace()+"/"+mcm.Manager])
	}
	require.NoError(t, w.seed.Gardenlet.ScaleMachineControllerManager(t.Context(), w.Shoot, 1))
	w.stopController(t)
	w.startController(t)
}

// doubleMachineControllerManager has two pods of it run, as in a shoot whose control plane is highly available. It tells whether that is
// possible here.
func (w *world) doubleMachineControllerManager(t *testing.T) bool {
	t.Helper()
	if err := mcm.CanRunTwice(t.Context()); err != nil {
		t.Logf("one machine-controller-manager only: %v", err)
		return false
	}
	require.NoError(t, w.seed.Gardenlet.ScaleMachineControllerManager(t.Context(), w.Shoot, 2))
	groundtest.Eventually(t, "two of each run", func() bool {
		return len(w.machines.PIDs(w.Shoot.Namespace(), mcm.Manager)) == 2 && len(w.machines.PIDs(w.Shoot.Namespace(), mcm.MachineController)) == 2
	})
	groundtest.Eventually(t, "each has a leader", func() bool {
		led := w.leaders(t)
		return led[w.Shoot.Namespace()+"/"+mcm.Manager] != "" && led[w.Shoot.Namespace()+"/machine-controller"] != ""
	})
	return true
}

// leaders are those who lead, by the namespace and the name of what they lead.
func (w *world) leaders(t *testing.T) map[string]string {
	t.Helper()
	leaders := map[string]string{}
	leases := &coordinationv1.LeaseList{}
	require.NoError(t, w.seed.Client.List(t.Context(), leases))
	for _, lease := range leases.Items {
		if lease.Spec.HolderIdentity != nil {
			leaders[client.ObjectKeyFromObject(&lease).String()] = *lease.Spec.HolderIdentity
		}
	}
	return leaders
}

// killLeader kills the instance of the controller that leads: the one that was ready first.
func (w *world) killLeader(t *testing.T) {
	t.Helper()
	require.Len(t, w.controllers, 2)
	w.controllers[0].Kill()
	w.controllers = w.controllers[1:]
}

// testQuota lets a pool grow beyond what the project may have. It is said what is missing, and heals as soon as it is there.
func testQuota(t *testing.T, w *world) {
	there := len(w.servers(""))
	require.NoError(t, w.Cloud.StandIn.SetQuota(w.Account.Project, "instances", there))
	pool := w.pool(t, cpu)
	pool.Minimum, pool.Maximum = pool.Minimum+1, pool.Maximum+1
	component := w.order(t)
	groundtest.Eventually(t, "the Worker tells of it", func() bool {
		failure := w.object(t).Status.LastError
		return failure != nil && len(failure.Codes) > 0
	})
	failure := w.object(t).Status.LastError
	t.Log(failure.Description)
	assert.Contains(t, failure.Description, "uota")
	codes := map[gardencorev1beta1.ErrorCode]bool{gardencorev1beta1.ErrorInfraResourcesDepleted: true, gardencorev1beta1.ErrorInfraQuotaExceeded: true}
	for _, code := range failure.Codes {
		assert.True(t, codes[code], "%s is none of %v", code, slices.Collect(maps.Keys(codes)))
	}
	assert.Len(t, w.servers(""), there)

	require.NoError(t, w.Cloud.StandIn.SetQuota(w.Account.Project, "instances", there+1))
	groundtest.Eventually(t, "the machine comes", func() bool { return len(w.servers("")) == there+1 })
	groundtest.Eventually(t, "the error is gone", func() bool {
		status := w.object(t).Status
		return status.LastError == nil && status.LastOperation.State == gardencorev1beta1.LastOperationStateSucceeded
	})
	require.NoError(t, component.Wait(t.Context()))
	w.assertMachines(t)
	require.NoError(t, w.Cloud.StandIn.SetQuota(w.Account.Project, "instances", -1))
}
