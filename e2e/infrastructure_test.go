package e2e

import (
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/extensions"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

// TestInfrastructure runs the infrastructure-controller. Its parts share the API servers and follow one another.
func TestInfrastructure(t *testing.T) {
	l := newLandscape(t)
	t.Run("Lifecycle", l.testLifecycle)
	t.Run("NoOp", l.testNoOp)
	t.Run("Budget", l.testBudget)
	t.Run("Crash", l.testCrash)
	t.Run("Move", l.testMove)
	t.Run("ForceDelete", l.testForceDelete)
	t.Run("Configuration", l.testConfiguration)
	t.Run("Trouble", l.testTrouble)
	t.Run("LeftAlone", l.testLeftAlone)
	t.Run("Heartbeat", l.testHeartbeat)
	t.Run("Replicas", l.testReplicas)
	t.Run("Many", l.testMany)
}

// testLifecycle lets gardenlet's component create, reconcile, change and delete an Infrastructure, and reads what
// gardenlet reads.
func (l *landscape) testLifecycle(t *testing.T) {
	w := l.newWorld(t)
	w.startController()
	before := inventory(w.cloud)
	shoot := w.shoot("lifecycle")

	component := w.gardenlet.Infrastructure(shoot)
	require.NoError(t, component.Deploy(t.Context()))
	require.NoError(t, component.Wait(t.Context()))
	assert.Equal(t, []string{"10.250.0.0/16"}, component.NodesCIDRs()[:1])
	assert.Equal(t, []string{"100.96.0.0/11"}, component.PodsCIDRs())
	assert.Equal(t, []string{"100.64.0.0/13"}, component.ServicesCIDRs())
	assert.Len(t, component.EgressCIDRs(), 1, "the address of the router")

	object := w.get(shoot)
	assert.Equal(t, gardencorev1beta1.LastOperationTypeCreate, object.Status.LastOperation.Type)
	assert.EqualValues(t, 100, object.Status.LastOperation.Progress)
	assert.Equal(t, []string{"extensions.gardener.cloud/infrastructure"}, object.Finalizers)
	var status openstackv1alpha1.InfrastructureStatus
	require.NoError(t, yaml.UnmarshalStrict(component.ProviderStatus().Raw, &status))
	assert.NotEmpty(t, status.Networks.ID)
	assert.NotEmpty(t, status.Node.KeyName)
	var state openstackv1alpha1.InfrastructureState
	require.NoError(t, yaml.UnmarshalStrict(object.Status.State.Raw, &state))
	assert.Equal(t, status.Networks.ID, state.Data[openstackv1alpha1.StateKeyNetwork])
	created := inventory(w.cloud)
	assert.Greater(t, len(created), len(before))

	config := openstack.InfrastructureConfig()
	config.Networks.NodePortSourceRanges = []string{"192.0.2.0/24"}
	shoot.InfrastructureConfig = config
	w.fulfil(shoot)
	object = w.get(shoot)
	assert.Equal(t, gardencorev1beta1.LastOperationTypeReconcile, object.Status.LastOperation.Type)
	assert.Equal(t, object.Generation, object.Status.ObservedGeneration)
	assert.NotEqual(t, created, inventory(w.cloud), "the changed configuration reached the cloud")

	w.destroy(shoot)
	assert.Equal(t, before, inventory(w.cloud), "nothing is left in the cloud, and nothing else is gone")
}

// testNoOp counts what a reconcile costs that finds nothing to do.
func (l *landscape) testNoOp(t *testing.T) {
	w := l.newWorld(t)
	w.startController()
	shoot := w.fulfilled("no-op")
	w.stopController()
	before := len(w.writes(shoot))
	w.startController()

	w.passSecond(shoot)
	w.cloud.ResetLog()
	w.fulfil(shoot)
	w.stopController()

	writes := w.writes(shoot)[before:]
	if assert.Len(t, writes, 2, "order taken, result reported; no third write, and no Event") {
		assert.Equal(t, "patch infrastructures", writes[0].Verb+" "+writes[0].Resource)
		assert.Equal(t, "patch infrastructures/status", writes[1].Verb+" "+writes[1].Resource)
	}
	calls := w.cloud.Log()
	assert.Equal(t, 1, calls.Logins(), "the process is new")
	for _, call := range calls {
		assert.Truef(t, call.IsLogin() || !call.Writes(), "nothing is written to the cloud: %s", call)
	}
}

// testBudget counts the calls that the binary makes for one shoot. The driver's own tests name each of them.
func (l *landscape) testBudget(t *testing.T) {
	w := l.newWorld(t)
	w.startController()
	w.destroy(w.fulfilled("budget-login")) // from here on the session is there
	w.cloud.ResetLog()

	within := func(what string, most int) {
		t.Helper()
		calls := w.cloud.Log()
		assert.LessOrEqual(t, len(calls), most, "%s:\n%s", what, calls)
		assert.NotEmpty(t, calls, what)
		assert.Zero(t, calls.Logins(), what)
		w.cloud.ResetLog()
	}
	shoot := w.fulfilled("budget")
	within("first", 10)
	w.passSecond(shoot)
	w.fulfil(shoot)
	within("no-op", 6)
	w.destroy(shoot)
	within("delete", 11)
}

// testHeartbeat looks for the sign of life where gardenlet looks for it.
func (l *landscape) testHeartbeat(t *testing.T) {
	w := l.newWorld(t)
	start := time.Now().Add(-time.Second)
	w.startController()
	lease := &coordinationv1.Lease{}
	w.eventually("the heartbeat is there", func() bool {
		err := w.seed.Client.Get(t.Context(), client.ObjectKey{Namespace: controller.Name, Name: extensions.HeartBeatResourceName}, lease)
		require.NoError(t, client.IgnoreNotFound(err))
		return err == nil && lease.Spec.RenewTime != nil && lease.Spec.RenewTime.After(start)
	})
	assert.NotEmpty(t, lease.Spec.HolderIdentity)
}

// testReplicas lets a second replica take over from one that is gone, by leader election.
func (l *landscape) testReplicas(t *testing.T) {
	w := l.newWorld(t)
	w.options.LeaderElection = true
	w.startController()
	first := w.controller
	w.controller = nil
	w.startController()
	shoot := w.fulfilled("replicas")

	ctx := t.Context()
	require.NoError(t, first.Terminate(ctx), "the leader ends and gives up its lease")
	w.passSecond(shoot)
	w.fulfil(shoot)
	w.destroy(shoot)
}
