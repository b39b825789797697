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

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/mcm"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

// ownLease is what our controllers lead by.
const ownLease = controllerName + "/" + controllerName + "-leader-election"

// testLeaders has two instances of everything, and kills all leaders in the middle of a roll, which the others complete.
func testLeaders(t *testing.T, env *environment) {
	env.stopController(t)
	env.startOneMore(t, controller.Options{LeaderElection: true})
	env.startOneMore(t, controller.Options{LeaderElection: true})
	pods := env.doubleMachineControllerManager(t)

	pool := env.pool(t, cpu)
	pool.Machine.Image.Version, pool.MaxSurge = new(openstack.LatestImage), new(intstr.FromInt32(pool.Minimum))
	before := ids(env.servers(""))
	require.NoError(t, env.seed.Gardenlet.Prepare(t.Context(), env.Shoot))
	require.NoError(t, env.seed.Gardenlet.PrepareWorker(t.Context(), env.Shoot))
	env.waitNextSecond(t)
	component := env.component(t)
	require.NoError(t, component.Deploy(t.Context()))
	clusterstest.Eventually(t, "a machine of the new kind is there", func() bool { return len(env.servers("")) > len(before) })

	led := env.leaders(t)
	require.NotEmpty(t, led[ownLease])
	if pods {
		leading := []string{led[env.Shoot.Namespace()+"/"+mcm.Manager], led[env.Shoot.Namespace()+"/machine-controller"]}
		for _, name := range slices.Compact(leading) {
			require.NoError(t, env.seed.Machines.SimulateNodeLoss(t.Context(), env.Shoot.Namespace(), name))
		}
	}
	env.killLeader(t)
	env.await(t, component)
	env.assertMachines(t)
	assert.Empty(t, slices.DeleteFunc(ids(env.servers("")), func(id string) bool { return !slices.Contains(before, id) }), "all machines are new")
	now := env.leaders(t)
	assert.NotEqual(t, led[ownLease], now[ownLease])
	if pods {
		assert.NotEqual(t, led[env.Shoot.Namespace()+"/"+mcm.Manager], now[env.Shoot.Namespace()+"/"+mcm.Manager])
	}
	require.NoError(t, env.seed.Gardenlet.ScaleMachineControllerManager(t.Context(), env.Shoot, 1))
	env.stopController(t)
	env.startController(t)
}

// doubleMachineControllerManager has two pods of it run, as in a shoot whose control plane is highly available. It tells whether that is
// possible here.
func (env *environment) doubleMachineControllerManager(t *testing.T) bool {
	t.Helper()
	if err := mcm.CanRunTwice(t.Context()); err != nil {
		t.Logf("one machine-controller-manager only: %v", err)
		return false
	}
	require.NoError(t, env.seed.Gardenlet.ScaleMachineControllerManager(t.Context(), env.Shoot, 2))
	clusterstest.Eventually(t, "two of each run", func() bool {
		return len(env.seed.Machines.PIDs(env.Shoot.Namespace(), mcm.Manager)) == 2 && len(env.seed.Machines.PIDs(env.Shoot.Namespace(), openstack.MachineController)) == 2
	})
	clusterstest.Eventually(t, "each has a leader", func() bool {
		led := env.leaders(t)
		return led[env.Shoot.Namespace()+"/"+mcm.Manager] != "" && led[env.Shoot.Namespace()+"/machine-controller"] != ""
	})
	return true
}

// leaders are those who lead, by the namespace and the name of what they lead.
func (env *environment) leaders(t *testing.T) map[string]string {
	t.Helper()
	leaders := map[string]string{}
	leases := &coordinationv1.LeaseList{}
	require.NoError(t, env.seed.Client.List(t.Context(), leases))
	for _, lease := range leases.Items {
		if lease.Spec.HolderIdentity != nil {
			leaders[client.ObjectKeyFromObject(&lease).String()] = *lease.Spec.HolderIdentity
		}
	}
	return leaders
}

// killLeader kills the instance of the controller that leads: the one that was ready first.
func (env *environment) killLeader(t *testing.T) {
	t.Helper()
	require.Len(t, env.controllers, 2)
	env.controllers[0].Kill()
	env.controllers = env.controllers[1:]
}

// testQuota lets a pool grow beyond what the project may have. It is said what is missing, and heals as soon as it is there.
func testQuota(t *testing.T, env *environment) {
	there := len(env.servers(""))
	require.NoError(t, env.openstack.Cloud.Fake.SetQuota(env.openstack.Account.Project, "instances", there))
	pool := env.pool(t, cpu)
	pool.Minimum, pool.Maximum = pool.Minimum+1, pool.Maximum+1
	component := env.requestReconcile(t)
	clusterstest.Eventually(t, "the Worker tells of it", func() bool {
		failure := env.object(t).Status.LastError
		return failure != nil && len(failure.Codes) > 0
	})
	failure := env.object(t).Status.LastError
	t.Log(failure.Description)
	assert.Contains(t, failure.Description, "uota")
	codes := map[gardencorev1beta1.ErrorCode]bool{gardencorev1beta1.ErrorInfraResourcesDepleted: true, gardencorev1beta1.ErrorInfraQuotaExceeded: true}
	for _, code := range failure.Codes {
		assert.True(t, codes[code], "%s is none of %v", code, slices.Collect(maps.Keys(codes)))
	}
	assert.Len(t, env.servers(""), there)

	require.NoError(t, env.openstack.Cloud.Fake.SetQuota(env.openstack.Account.Project, "instances", there+1))
	clusterstest.Eventually(t, "the machine comes", func() bool { return len(env.servers("")) == there+1 })
	clusterstest.Eventually(t, "the error is gone", func() bool {
		status := env.object(t).Status
		return status.LastError == nil && status.LastOperation.State == gardencorev1beta1.LastOperationStateSucceeded
	})
	require.NoError(t, component.Wait(t.Context()))
	env.assertMachines(t)
	require.NoError(t, env.openstack.Cloud.Fake.SetQuota(env.openstack.Account.Project, "instances", -1))
}
