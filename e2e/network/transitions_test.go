package network

import (
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
)

const (
	stageRoutes  = "waiting for the cloud to route to the pods of all nodes"
	stageNodes   = "preparing all nodes for the new way between pods"
	stageTypha   = "starting Typha before nodes use it"
	stageNoTypha = "making nodes go without Typha before it ends"
)

func poolsIPIP() map[string]pool {
	return map[string]pool{"default-ipv4-ippool": {"100.96.0.0/11", "Always", "Never", false}}
}

func poolsVXLAN() map[string]pool {
	return map[string]pool{"default-ipv4-ippool": {"100.96.0.0/11", "Never", "Always", false}}
}

// poolsNative are the pools of a shoot whose packets go as they are. Packets to nodes keep the address of their pod.
func poolsNative() map[string]pool {
	return map[string]pool{
		"default-ipv4-ippool":   {"100.96.0.0/11", "Never", "Never", false},
		"no-snat-for-node-cidr": {"10.250.0.0/16", "Never", "Never", true},
	}
}

// routedByCloud is a configuration in which the cloud has to know the way to pods.
func routedByCloud() map[string]any {
	return map[string]any{"overlay": map[string]any{"enabled": false, "createPodRoutes": false}}
}

// testOverlayOff switches the overlay of a living shoot off. Packets are wrapped until the cloud routes to the pods of all nodes.
func testOverlayOff(t *testing.T, env *environment) {
	env.configure(routedByCloud())
	env.requestReconcile(t)
	env.awaitStage(t, stageRoutes)
	env.route(t, first)
	require.NoError(t, env.component(t).Wait(t.Context()))
	env.assertWaits(t, stageRoutes, "the route controller has made routes to the pods of 1 of 2 ready nodes, not of "+second)
	assert.Equal(t, poolsIPIP(), env.pools(t), "there is a node without a route")
	assert.Equal(t, "bird", env.config(t, "calico_backend"))

	env.route(t, second)
	env.awaitTransitionDone(t)
	assert.Equal(t, poolsNative(), env.pools(t))
	assert.Equal(t, "none", env.config(t, "calico_backend"))
	env.awaitRolledOut(t)
}

// testOverlayOn switches the overlay back on. Packets go as they are until all nodes understand wrapped ones. Meanwhile the user
// changes the mind, twice, the controller ends by force, and a node is lost.
func testOverlayOn(t *testing.T, env *environment) {
	kubelets := env.Cluster.Kubelets()
	on := map[string]any{"overlay": map[string]any{"enabled": true}}
	kubelets.HoldNode(second)
	env.configure(on)
	env.requestReconcile(t)
	env.awaitStage(t, stageNodes)
	clusterstest.Eventually(t, "nodes prepare", func() bool { return env.config(t, "calico_backend") == "bird" })
	assert.Equal(t, poolsNative(), env.pools(t))

	t.Run("a change of mind", func(t *testing.T) {
		kubelets.ReleaseNode(second)
		env.configure(routedByCloud())
		env.reconcile(t)
		env.awaitTransitionDone(t)
		assert.Equal(t, poolsNative(), env.pools(t))
		assert.Equal(t, "none", env.config(t, "calico_backend"))
		env.awaitRolledOut(t)
	})

	kubelets.HoldNode(second)
	env.configure(on)
	env.requestReconcile(t)
	env.awaitStage(t, stageNodes)
	env.killController()
	assert.Equal(t, poolsNative(), env.pools(t))
	env.startController(t)
	require.NoError(t, env.component(t).Wait(t.Context()))
	env.assertWaits(t, stageNodes, "DaemonSet kube-system/calico-node runs in its newest version on 1 of 2 ready nodes, not on "+second)
	env.killController()
	// A node on which nothing goes on does not go its own way either.
	require.NoError(t, kubelets.SetNodeCondition(t.Context(), second, corev1.NodeReady, corev1.ConditionFalse, "KubeletNotReady"))
	env.startController(t)
	env.awaitTransitionDone(t)
	assert.Equal(t, poolsIPIP(), env.pools(t))
	require.NoError(t, kubelets.SetNodeCondition(t.Context(), second, corev1.NodeReady, corev1.ConditionTrue, "KubeletReady"))
	kubelets.ReleaseNode(second)
	env.awaitRolledOut(t)
}

// testTypha takes Typha away, which nodes have to leave before, and brings it back, which has to run before nodes use it.
func testTypha(t *testing.T, env *environment) {
	kubelets := env.Cluster.Kubelets()
	kubelets.HoldNode(second)
	env.configure(map[string]any{"overlay": map[string]any{"enabled": true}, "typha": map[string]any{"enabled": false}})
	env.requestReconcile(t)
	env.awaitStage(t, stageNoTypha)
	clusterstest.Eventually(t, "nodes are to go without Typha", func() bool { return env.config(t, "typha_service_name") == "none" })
	assert.True(t, env.deployed(t, typha), "a node uses it")
	kubelets.ReleaseNode(second)
	require.NoError(t, env.component(t).Wait(t.Context()))
	env.awaitTransitionDone(t)
	assert.False(t, env.deployed(t, typha))

	kubelets.Hold("kube-system", typha)
	env.configure(map[string]any{"overlay": map[string]any{"enabled": true}})
	env.requestReconcile(t)
	env.awaitStage(t, stageTypha)
	clusterstest.Eventually(t, "Typha starts", func() bool { return env.deployed(t, typha) })
	assert.Equal(t, "none", env.config(t, "typha_service_name"), "it does not run yet")
	kubelets.Release("kube-system", typha)
	require.NoError(t, env.component(t).Wait(t.Context()))
	env.awaitTransitionDone(t)
	assert.Equal(t, "calico-typha", env.config(t, "typha_service_name"))
	env.awaitRolledOut(t)
}

// testVXLAN goes from IP-in-IP to VXLAN, and with that to calico-ipam, from which there is no way back.
func testVXLAN(t *testing.T, env *environment) {
	kubelets := env.Cluster.Kubelets()
	require.Equal(t, "true", env.variable(t, "USE_POD_CIDR"), "host-local")
	kubelets.HoldNode(first)
	vxlan := map[string]any{"overlay": map[string]any{"enabled": true}, "vxlan": map[string]any{"enabled": true}}
	env.configure(vxlan)
	env.requestReconcile(t)
	env.awaitStage(t, stageNodes)
	clusterstest.Eventually(t, "nodes are told", func() bool { return env.variable(t, "USE_POD_CIDR") != "true" })
	env.awaitApplied(t)
	assert.Equal(t, poolsIPIP(), env.pools(t), "not all nodes have the tunnel")
	kubelets.ReleaseNode(first)
	require.NoError(t, env.component(t).Wait(t.Context()))
	env.awaitTransitionDone(t)
	assert.Equal(t, poolsVXLAN(), env.pools(t))
	assert.Equal(t, "vxlan", env.config(t, "calico_backend"))
	env.awaitRolledOut(t)

	t.Run("a change that cannot be made is refused", func(t *testing.T) {
		there := env.snapshot(t)
		env.configure(map[string]any{"overlay": map[string]any{"enabled": true}, "ipam": map[string]any{"type": "host-local"}})
		problem := env.assertRefused(t)
		assert.Contains(t, problem, "spec.networking.providerConfig.ipam.type")
		assert.Empty(t, clusterstest.InShoot(env.snapshot(t).ChangedSince(there)), "nothing is changed")
		env.configure(vxlan)
		env.reconcile(t)
		assert.Nil(t, env.object(t).Status.LastError)
	})
}

// assertWaits makes sure that gardenlet has been told success, and of what is still to come.
func (env *environment) assertWaits(t *testing.T, stage, reason string) {
	t.Helper()
	object := env.object(t)
	assert.Equal(t, stage, env.stage(t))
	assert.Equal(t, gardencorev1beta1.LastOperationStateSucceeded, object.Status.LastOperation.State)
	assert.Contains(t, object.Status.LastOperation.Description, "the network is being changed, "+stage+": ")
	assert.Contains(t, object.Status.LastOperation.Description, reason)
}

// awaitStage waits until the network is in a stage.
func (env *environment) awaitStage(t *testing.T, stage string) {
	t.Helper()
	clusterstest.Eventually(t, "the network is "+stage, func() bool { return env.stage(t) == stage })
}

// awaitTransitionDone waits until the network is in no stage any more, and all is applied.
func (env *environment) awaitTransitionDone(t *testing.T) {
	t.Helper()
	clusterstest.Eventually(t, "the change has arrived", func() bool {
		last := env.object(t).Status.LastOperation
		return last.State == gardencorev1beta1.LastOperationStateSucceeded && env.stage(t) == "" && !strings.Contains(last.Description, "is being changed")
	})
	env.awaitApplied(t)
}

// assertRefused orders the Network and makes sure that gardenlet gives up at once since the user must change something. It returns
// what the user is told.
func (env *environment) assertRefused(t *testing.T) string {
	t.Helper()
	env.requestReconcile(t)
	clusterstest.Eventually(t, "the order is refused", func() bool {
		object := env.object(t)
		return object.Status.LastError != nil && object.Status.LastOperation.State == gardencorev1beta1.LastOperationStateError
	})
	problem := env.object(t).Status.LastError
	assert.Equal(t, []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorConfigurationProblem}, problem.Codes)
	return problem.Description
}
