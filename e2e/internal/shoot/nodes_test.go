package shoot_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
)

// testNodes checks DaemonSets and Deployments on simulated nodes.
func testNodes(t *testing.T, env *environment) {
	shoot, kubelets := env.cluster.Client, env.cluster.Kubelets()
	labels := map[string]string{"app": "mobile"}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "mobile", Namespace: metav1.NamespaceDefault}}
	deployment.Spec = appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: podTemplate(labels, "default", "")}
	require.NoError(t, shoot.Create(t.Context(), deployment))
	clusterstest.Eventually(t, "there is a pod, without a node", func() bool { return maps.Equal(env.podsByNode(t, labels), map[string]bool{"": false}) })
	require.NoError(t, kubelets.Join(t.Context(), "one", "100.96.0.0/24", "2001:db8::/64"))
	clusterstest.Eventually(t, "it runs", func() bool { return maps.Equal(env.podsByNode(t, labels), map[string]bool{"one": true}) })

	everywhere := map[string]string{"app": "everywhere"}
	daemon := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "everywhere", Namespace: metav1.NamespaceDefault}}
	daemon.Spec = appsv1.DaemonSetSpec{
		Selector: &metav1.LabelSelector{MatchLabels: everywhere}, Template: podTemplate(everywhere, "default", ""),
		UpdateStrategy: appsv1.DaemonSetUpdateStrategy{Type: appsv1.RollingUpdateDaemonSetStrategyType},
	}
	require.NoError(t, kubelets.Join(t.Context(), "two"))
	require.NoError(t, shoot.Create(t.Context(), daemon))
	awaitDaemons := func(what string, wanted map[string]bool) {
		clusterstest.Eventually(t, what, func() bool { return maps.Equal(env.podsByNode(t, everywhere), wanted) })
	}
	awaitDaemons("each node has one", map[string]bool{"one": true, "two": true})

	kubelets.HoldNode("two")
	awaitDaemons("those that run go on", map[string]bool{"one": true, "two": true})
	require.True(t, clusterstest.Get(t, shoot, daemon))
	before := daemon.DeepCopy() // its controller may write the status at any time
	daemon.Spec.Template.Spec.Containers[0].Image = "registry.k8s.io/pause:3.11"
	require.NoError(t, shoot.Patch(t.Context(), daemon, client.MergeFrom(before)))
	awaitDaemons("a new one does not come up", map[string]bool{"one": true, "two": false})
	kubelets.ReleaseNode("two")
	awaitDaemons("it does", map[string]bool{"one": true, "two": true})

	require.NoError(t, kubelets.SetNodeCondition(t.Context(), "two", corev1.NodeReady, corev1.ConditionFalse, "KubeletNotReady"))
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "two"}}
	require.True(t, clusterstest.Get(t, shoot, node))
	assert.True(t, slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool { return taint.Key == corev1.TaintNodeNotReady }))
	require.NoError(t, kubelets.Leave(t.Context(), "two"))
	awaitDaemons("it has left", map[string]bool{"one": true})

	require.NoError(t, shoot.Delete(t.Context(), daemon, client.PropagationPolicy(metav1.DeletePropagationForeground)))
	require.NoError(t, shoot.Delete(t.Context(), deployment, client.PropagationPolicy(metav1.DeletePropagationForeground)))
	awaitDaemons("they are buried", map[string]bool{})
	clusterstest.Eventually(t, "nothing is left", func() bool { return len(env.podsByNode(t, labels)) == 0 })
	require.NoError(t, kubelets.Leave(t.Context(), "one"))
}

// podsByNode reports whether the pods with these labels are ready, by their nodes.
func (env *environment) podsByNode(t *testing.T, labels map[string]string) map[string]bool {
	t.Helper()
	list := &corev1.PodList{}
	require.NoError(t, env.cluster.Client.List(t.Context(), list, client.MatchingLabels(labels)))
	found := map[string]bool{}
	for _, pod := range list.Items {
		ready := slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		})
		found[pod.Spec.NodeName] = ready && pod.DeletionTimestamp == nil
	}
	return found
}
