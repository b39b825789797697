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

	"github.com/trellis-garden/trellis/e2e/internal/ground/groundtest"
)

const calico = "system:serviceaccount:kube-system:calico-node"

// testNativeRouting switches the overlay network of a living shoot off. From then on the cloud-controller-manager says whether a
// node's network is available, and Calico must neither have said it before nor say it again.
func testNativeRouting(t *testing.T, w *world) {
	w.say(t, calico, corev1.NodeNetworkUnavailable, corev1.ConditionFalse, "CalicoIsUp")
	w.say(t, "kubelet", corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure")
	w.Shoot.NetworkConfig = map[string]any{
		"apiVersion": "calico.networking.extensions.gardener.cloud/v1alpha1", "kind": "NetworkConfig",
		"overlay": map[string]any{"enabled": false},
	}
	w.fulfil(t)
	assert.Nil(t, w.said(t, corev1.NodeNetworkUnavailable), "what Calico has said is forgotten")
	assert.NotNil(t, w.said(t, corev1.NodeDiskPressure), "what others have said is not")
	assert.Subset(t, w.dryRunLive(t), []string{
		"MutatingAdmissionPolicy block-calico-network-unavailable", "MutatingAdmissionPolicyBinding block-calico-network-unavailable-binding",
	})
	t.Run("Calico has no say", func(t *testing.T) { w.assertCalicoIsSilenced(t) })

	w.say(t, "somebody", corev1.NodeNetworkUnavailable, corev1.ConditionTrue, "CalicoIsDown")
	w.fulfil(t)
	assert.Equal(t, "CalicoIsDown", w.said(t, corev1.NodeNetworkUnavailable).Reason, "nodes are looked through once and not for ever")

	w.awaitRolledOut(t)
	w.ccm.rollOut(t)
	groundtest.Eventually(t, "the node's pods are routed to", func() bool {
		return slices.Contains(w.routes(t), podsOfNode+" via "+w.site.address)
	})
	groundtest.Eventually(t, "the route controller has spoken", func() bool {
		return w.said(t, corev1.NodeNetworkUnavailable).Reason == "RouteCreated"
	})
	w.say(t, calico, corev1.NodeNetworkUnavailable, corev1.ConditionTrue, "CalicoIsDown")
	assert.Equal(t, "RouteCreated", w.said(t, corev1.NodeNetworkUnavailable).Reason, "and nobody contradicts it")
	w.assertNothingRefused(t)
}

// assertCalicoIsSilenced lets several speak about the same node. A policy is in force a moment after it is there.
func (w *world) assertCalicoIsSilenced(t *testing.T) {
	groundtest.Eventually(t, "the policy is in force", func() bool {
		w.say(t, "somebody", corev1.NodeNetworkUnavailable, corev1.ConditionTrue, "NoRouteCreated")
		w.say(t, calico, corev1.NodeNetworkUnavailable, corev1.ConditionFalse, "CalicoIsUp")
		return w.said(t, corev1.NodeNetworkUnavailable).Reason == "NoRouteCreated"
	})
	w.say(t, calico, corev1.NodePIDPressure, corev1.ConditionFalse, "CalicoCounts")
	assert.Equal(t, "CalicoCounts", w.said(t, corev1.NodePIDPressure).Reason, "Calico may speak about anything else")
	assert.Equal(t, "NoRouteCreated", w.said(t, corev1.NodeNetworkUnavailable).Reason)
	w.say(t, "somebody", corev1.NodeNetworkUnavailable, corev1.ConditionFalse, "RouteCreated")
	assert.Equal(t, corev1.ConditionFalse, w.said(t, corev1.NodeNetworkUnavailable).Status, "anybody else may speak about the network")

	w.forget(t, corev1.NodeNetworkUnavailable)
	w.say(t, calico, corev1.NodeNetworkUnavailable, corev1.ConditionFalse, "CalicoIsUp")
	assert.Nil(t, w.said(t, corev1.NodeNetworkUnavailable), "where nobody has spoken Calico is not the first")
}

// said returns what is said about the node, or nil.
func (w *world) said(t *testing.T, kind corev1.NodeConditionType) *corev1.NodeCondition {
	t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName}}
	require.True(t, groundtest.Get(t, w.Cluster.Client, node))
	for _, condition := range node.Status.Conditions {
		if condition.Type == kind {
			return &condition
		}
	}
	return nil
}

// say lets a user say something about the node, in the way in which Calico and kubelets do.
func (w *world) say(t *testing.T, user string, kind corev1.NodeConditionType, status corev1.ConditionStatus, reason string) {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": []corev1.NodeCondition{{
		Type: kind, Status: status, Reason: reason, LastTransitionTime: metav1.Now(), LastHeartbeatTime: metav1.NewTime(time.Now()),
	}}}})
	require.NoError(t, err)
	w.patchNode(t, user, types.StrategicMergePatchType, patch)
}

// forget takes back what is said about the node.
func (w *world) forget(t *testing.T, kind corev1.NodeConditionType) {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": []map[string]any{{"type": kind, "$patch": "delete"}}}})
	require.NoError(t, err)
	w.patchNode(t, "somebody", types.StrategicMergePatchType, patch)
}

func (w *world) patchNode(t *testing.T, user string, kind types.PatchType, patch []byte) {
	t.Helper()
	config := rest.CopyConfig(w.Cluster.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:masters", "system:authenticated"}}
	c, err := client.New(config, client.Options{Scheme: w.Cluster.Client.Scheme()})
	require.NoError(t, err)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName}}
	require.NoError(t, c.Status().Patch(t.Context(), node, client.RawPatch(kind, patch)))
}
