package network

import (
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/trellis-garden/trellis/e2e/internal/ground/groundtest"
)

const (
	stageRoutes  = "waiting for the cloud to route to the pods of all nodes"
	stageNodes   = "preparing all nodes for the new way between pods"
	stageTypha   = "starting Typha before nodes use it"
	stageNoTypha = "making nodes go without Typha before it ends"
)

func wrapped() map[string]pool {
	return map[string]pool{"default-ipv4-ippool": {"100.96.0.0/11", "Always", "Never", false}}
}

func inVXLAN() map[string]pool {
	return map[string]pool{"default-ipv4-ippool": {"100.96.0.0/11", "Never", "Always", false}}
}

// native are the pools of a shoot whose packets go as they are. Packets to nodes keep the address of their pod.
func native() map[string]pool {
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
func testOverlayOff(t *testing.T, w *world) {
	w.configure(routedByCloud())
	w.order(t)
	w.awaitStage(t, stageRoutes)
	w.route(t, first)
	require.NoError(t, w.component(t).Wait(t.Context()))
	w.assertWaits(t, stageRoutes, "the route controller has made routes to the pods of 1 of 2 ready nodes, not of "+second)
	assert.Equal(t, wrapped(), w.pools(t), "there is a node without a route")
	assert.Equal(t, "bird", w.config(t, "calico_backend"))

	w.route(t, second)
	w.awaitArrived(t)
	assert.Equal(t, native(), w.pools(t))
	assert.Equal(t, "none", w.config(t, "calico_backend"))
	w.awaitRolledOut(t)
}

// testOverlayOn switches the overlay back on. Packets go as they are until all nodes understand wrapped ones. Meanwhile the user
// changes the mind, twice, the controller ends by force, and a node is lost.
func testOverlayOn(t *testing.T, w *world) {
	kubelets := w.Cluster.Kubelets()
	on := map[string]any{"overlay": map[string]any{"enabled": true}}
	kubelets.HoldNode(second)
	w.configure(on)
	w.order(t)
	w.awaitStage(t, stageNodes)
	groundtest.Eventually(t, "nodes prepare", func() bool { return w.config(t, "calico_backend") == "bird" })
	assert.Equal(t, native(), w.pools(t))

	t.Run("a change of mind", func(t *testing.T) {
		kubelets.ReleaseNode(second)
		w.configure(routedByCloud())
		w.fulfil(t)
		w.awaitArrived(t)
		assert.Equal(t, native(), w.pools(t))
		assert.Equal(t, "none", w.config(t, "calico_backend"))
		w.awaitRolledOut(t)
	})

	kubelets.HoldNode(second)
	w.configure(on)
	w.order(t)
	w.awaitStage(t, stageNodes)
	w.killController()
	assert.Equal(t, native(), w.pools(t))
	w.startController(t)
	require.NoError(t, w.component(t).Wait(t.Context()))
	w.assertWaits(t, stageNodes, "DaemonSet kube-system/calico-node runs in its newest version on 1 of 2 ready nodes, not on "+second)
	w.killController()
	// A node on which nothing goes on does not go its own way either.
	require.NoError(t, kubelets.Say(t.Context(), second, corev1.NodeReady, corev1.ConditionFalse, "KubeletNotReady"))
	w.startController(t)
	w.awaitArrived(t)
	assert.Equal(t, wrapped(), w.pools(t))
	require.NoError(t, kubelets.Say(t.Context(), second, corev1.NodeReady, corev1.ConditionTrue, "KubeletReady"))
	kubelets.ReleaseNode(second)
	w.awaitRolledOut(t)
}

// testTypha takes Typha away, which nodes have to leave before, and brings it back, which has to run before nodes use it.
func testTypha(t *testing.T, w *world) {
	kubelets := w.Cluster.Kubelets()
	kubelets.HoldNode(second)
	w.configure(map[string]any{"overlay": map[string]any{"enabled": true}, "typha": map[string]any{"enabled": false}})
	w.order(t)
	w.awaitStage(t, stageNoTypha)
	groundtest.Eventually(t, "nodes are to go without Typha", func() bool { return w.config(t, "typha_service_name") == "none" })
	assert.True(t, w.deployed(t, typha), "a node uses it")
	kubelets.ReleaseNode(second)
	require.NoError(t, w.component(t).Wait(t.Context()))
	w.awaitArrived(t)
	assert.False(t, w.deployed(t, typha))

	kubelets.Hold("kube-system", typha)
	w.configure(map[string]any{"overlay": map[string]any{"enabled": true}})
	w.order(t)
	w.awaitStage(t, stageTypha)
	groundtest.Eventually(t, "Typha starts", func() bool { return w.deployed(t, typha) })
	assert.Equal(t, "none", w.config(t, "typha_service_name"), "it does not run yet")
	kubelets.Release("kube-system", typha)
	require.NoError(t, w.component(t).Wait(t.Context()))
	w.awaitArrived(t)
	assert.Equal(t, "calico-typha", w.config(t, "typha_service_name"))
	w.awaitRolledOut(t)
}

// testVXLAN goes from IP-in-IP to VXLAN, and with that to calico-ipam, from which there is no way back.
func testVXLAN(t *testing.T, w *world) {
	kubelets := w.Cluster.Kubelets()
	require.Equal(t, "true", w.environment(t, "USE_POD_CIDR"), "host-local")
	kubelets.HoldNode(first)
	vxlan := map[string]any{"overlay": map[string]any{"enabled": true}, "vxlan": map[string]any{"enabled": true}}
	w.configure(vxlan)
	w.order(t)
	w.awaitStage(t, stageNodes)
	groundtest.Eventually(t, "nodes are told", func() bool { return w.environment(t, "USE_POD_CIDR") != "true" })
	w.awaitApplied(t)
	assert.Equal(t, wrapped(), w.pools(t), "not all nodes have the tunnel")
	kubelets.ReleaseNode(first)
	require.NoError(t, w.component(t).Wait(t.Context()))
	w.awaitArrived(t)
	assert.Equal(t, inVXLAN(), w.pools(t))
	assert.Equal(t, "vxlan", w.config(t, "calico_backend"))
	w.awaitRolledOut(t)

	t.Run("a change that cannot be made is refused", func(t *testing.T) {
		there := w.look(t)
		w.configure(map[string]any{"overlay": map[string]any{"enabled": true}, "ipam": map[string]any{"type": "host-local"}})
		problem := w.assertRefused(t)
		assert.Contains(t, problem, "spec.networking.providerConfig.ipam.type")
		assert.Empty(t, groundtest.OfShoot(w.look(t).ChangedSince(there)), "nothing is changed")
		w.configure(vxlan)
		w.fulfil(t)
		assert.Nil(t, w.object(t).Status.LastError)
	})
}

// assertWaits makes sure that gardenlet has been told success, and of what is still to come.
func (w *world) assertWaits(t *testing.T, stage, reason string) {
	t.Helper()
	object := w.object(t)
	assert.Equal(t, stage, w.stage(t))
	assert.Equal(t, gardencorev1beta1.LastOperationStateSucceeded, object.Status.LastOperation.State)
	assert.Contains(t, object.Status.LastOperation.Description, "the network is being changed, "+stage+": ")
	assert.Contains(t, object.Status.LastOperation.Description, reason)
}

// awaitStage waits until the network is in a stage.
func (w *world) awaitStage(t *testing.T, stage string) {
	t.Helper()
	groundtest.Eventually(t, "the network is "+stage, func() bool { return w.stage(t) == stage })
}

// awaitArrived waits until the network is in no stage any more, and all is applied.
func (w *world) awaitArrived(t *testing.T) {
	t.Helper()
	groundtest.Eventually(t, "the change has arrived", func() bool {
		last := w.object(t).Status.LastOperation
		return last.State == gardencorev1beta1.LastOperationStateSucceeded && w.stage(t) == "" && !strings.Contains(last.Description, "is being changed")
	})
	w.awaitApplied(t)
}

// assertRefused orders the Network and makes sure that gardenlet gives up at once since the user must change something. It returns
// what the user is told.
func (w *world) assertRefused(t *testing.T) string {
	t.Helper()
	w.order(t)
	groundtest.Eventually(t, "the order is refused", func() bool {
		object := w.object(t)
		return object.Status.LastError != nil && object.Status.LastOperation.State == gardencorev1beta1.LastOperationStateError
	})
	problem := w.object(t).Status.LastError
	assert.Equal(t, []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorConfigurationProblem}, problem.Codes)
	return problem.Description
}
