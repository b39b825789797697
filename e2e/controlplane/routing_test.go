package controlplane

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
)

const calico = "system:serviceaccount:kube-system:calico-node"

// testNativeRouting disables the overlay of an existing shoot. From then on the cloud-controller-manager reports whether a node's network is
// available, and Calico must neither have reported it before nor do so again.
func testNativeRouting(t *testing.T, env *environment) {
	env.setNodeCondition(t, calico, corev1.NodeNetworkUnavailable, corev1.ConditionFalse, "CalicoIsUp")
	env.setNodeCondition(t, "kubelet", corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure")
	env.Shoot.NetworkConfig = map[string]any{
		"apiVersion": "calico.networking.extensions.gardener.cloud/v1alpha1", "kind": "NetworkConfig",
		"overlay": map[string]any{"enabled": false},
	}
	env.reconcile(t)
	assert.Nil(t, env.nodeCondition(t, corev1.NodeNetworkUnavailable), "what Calico has said is forgotten")
	assert.NotNil(t, env.nodeCondition(t, corev1.NodeDiskPressure), "what others have said is not")
	assert.Subset(t, env.dryRunLive(t), []string{
		"MutatingAdmissionPolicy block-calico-network-unavailable", "MutatingAdmissionPolicyBinding block-calico-network-unavailable-binding",
	})
	t.Run("Calico has no say", func(t *testing.T) { env.assertCalicoConditionDenied(t) })

	env.setNodeCondition(t, "somebody", corev1.NodeNetworkUnavailable, corev1.ConditionTrue, "CalicoIsDown")
	env.reconcile(t)
	assert.Equal(t, "CalicoIsDown", env.nodeCondition(t, corev1.NodeNetworkUnavailable).Reason, "nodes are looked through once and not for ever")

	env.awaitRolledOut(t)
	env.ccm.rollOut(t)
	clusterstest.Eventually(t, "the node's pods are routed to", func() bool {
		return slices.Contains(env.routes(t), podsOfNode+" via "+env.site.address)
	})
	clusterstest.Eventually(t, "the route controller has spoken", func() bool {
		return env.nodeCondition(t, corev1.NodeNetworkUnavailable).Reason == "RouteCreated"
	})
	env.setNodeCondition(t, calico, corev1.NodeNetworkUnavailable, corev1.ConditionTrue, "CalicoIsDown")
	assert.Equal(t, "RouteCreated", env.nodeCondition(t, corev1.NodeNetworkUnavailable).Reason, "and nobody contradicts it")
	env.assertNothingForbidden(t)
}

// assertCalicoConditionDenied lets several users set the node's condition. A policy takes effect a moment after its creation.
func (env *environment) assertCalicoConditionDenied(t *testing.T) {
	clusterstest.Eventually(t, "the policy is in force", func() bool {
		env.setNodeCondition(t, "somebody", corev1.NodeNetworkUnavailable, corev1.ConditionTrue, "NoRouteCreated")
		env.setNodeCondition(t, calico, corev1.NodeNetworkUnavailable, corev1.ConditionFalse, "CalicoIsUp")
		return env.nodeCondition(t, corev1.NodeNetworkUnavailable).Reason == "NoRouteCreated"
	})
	env.setNodeCondition(t, calico, corev1.NodePIDPressure, corev1.ConditionFalse, "CalicoCounts")
	assert.Equal(t, "CalicoCounts", env.nodeCondition(t, corev1.NodePIDPressure).Reason, "Calico may speak about anything else")
	assert.Equal(t, "NoRouteCreated", env.nodeCondition(t, corev1.NodeNetworkUnavailable).Reason)
	env.setNodeCondition(t, "somebody", corev1.NodeNetworkUnavailable, corev1.ConditionFalse, "RouteCreated")
	assert.Equal(t, corev1.ConditionFalse, env.nodeCondition(t, corev1.NodeNetworkUnavailable).Status, "anybody else may speak about the network")

	env.removeNodeCondition(t, corev1.NodeNetworkUnavailable)
	env.setNodeCondition(t, calico, corev1.NodeNetworkUnavailable, corev1.ConditionFalse, "CalicoIsUp")
	assert.Nil(t, env.nodeCondition(t, corev1.NodeNetworkUnavailable), "where nobody has spoken Calico is not the first")
}

// nodeCondition returns the node's condition, or nil.
func (env *environment) nodeCondition(t *testing.T, kind corev1.NodeConditionType) *corev1.NodeCondition {
	t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName}}
	require.True(t, clusterstest.Get(t, env.Cluster.Client, node))
	for _, condition := range node.Status.Conditions {
		if condition.Type == kind {
			return &condition
		}
	}
	return nil
}

// setNodeCondition lets a user set a condition of the node, with a patch as Calico and kubelets send it.
func (env *environment) setNodeCondition(t *testing.T, user string, kind corev1.NodeConditionType, status corev1.ConditionStatus, reason string) {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": []corev1.NodeCondition{{
		Type: kind, Status: status, Reason: reason, LastTransitionTime: metav1.Now(), LastHeartbeatTime: metav1.NewTime(time.Now()),
	}}}})
	require.NoError(t, err)
	env.patchNode(t, user, types.StrategicMergePatchType, patch)
}

// removeNodeCondition removes a condition of the node.
func (env *environment) removeNodeCondition(t *testing.T, kind corev1.NodeConditionType) {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": []map[string]any{{"type": kind, "$patch": "delete"}}}})
	require.NoError(t, err)
	env.patchNode(t, "somebody", types.StrategicMergePatchType, patch)
}

func (env *environment) patchNode(t *testing.T, user string, kind types.PatchType, patch []byte) {
	t.Helper()
	config := rest.CopyConfig(env.Cluster.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:masters", "system:authenticated"}}
	c, err := client.New(config, client.Options{Scheme: env.Cluster.Client.Scheme()})
	require.NoError(t, err)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName}}
	require.NoError(t, c.Status().Patch(t.Context(), node, client.RawPatch(kind, patch)))
}
