package network

import (
	"fmt"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
)

const (
	first, second = "node-1", "node-2"

	daemonSet = "calico-node"
	typha     = "calico-typha-deploy"
)

// testNodes adds nodes. Pods that have waited for them run.
func testNodes(t *testing.T, env *environment) {
	env.addNodes(t)
	env.awaitRolledOut(t)
	clusterstest.Eventually(t, "a pod is ready on each node", func() bool { return env.daemons(t).Status.NumberReady == 2 })
	assert.ElementsMatch(t, []string{first, second}, env.nodesOf(t, daemonSet))
	env.awaitCondition(t, systemHealthy, gardencorev1beta1.ConditionTrue)
	env.awaitCondition(t, observabilityHealthy, gardencorev1beta1.ConditionTrue)
}

// testUnhealthyPod makes the pod on one node unhealthy (gardener #6775): a part of the shoot has no network. It recovers, which is checked after other
// parts.
func testUnhealthyPod(t *testing.T, env *environment) {
	env.Cluster.Kubelets().HoldNode(second)
	env.deletePodOn(t, second)
	condition := env.awaitCondition(t, systemHealthy, gardencorev1beta1.ConditionProgressing)
	assert.Contains(t, condition.Message, daemonSet)
	assert.Contains(t, condition.Message, resourceShoot)
	env.Cluster.Kubelets().ReleaseNode(second)
	env.awaitRolledOut(t)
}

// testPodRecovered asserts that the pod is healthy again.
func testPodRecovered(t *testing.T, env *environment) {
	env.awaitCondition(t, systemHealthy, gardencorev1beta1.ConditionTrue)
}

// addNodes adds two nodes.
func (env *environment) addNodes(t *testing.T) {
	t.Helper()
	for i, name := range []string{first, second} {
		require.NoError(t, env.Cluster.Kubelets().Join(t.Context(), name, fmt.Sprintf("100.96.%d.0/24", i)))
	}
}

// removeNodes removes both.
func (env *environment) removeNodes(t *testing.T) {
	t.Helper()
	for _, name := range []string{first, second} {
		require.NoError(t, env.Cluster.Kubelets().Leave(t.Context(), name))
	}
}

// daemons reads calico-node's DaemonSet.
func (env *environment) daemons(t *testing.T) *appsv1.DaemonSet {
	t.Helper()
	daemons := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: daemonSet, Namespace: metav1.NamespaceSystem}}
	require.True(t, clusterstest.Get(t, env.Cluster.Client, daemons))
	return daemons
}

// variable returns a variable of calico-node.
func (env *environment) variable(t *testing.T, name string) string {
	t.Helper()
	for _, container := range env.daemons(t).Spec.Template.Spec.Containers {
		for _, variable := range container.Env {
			if container.Name == daemonSet && variable.Name == name {
				return variable.Value
			}
		}
	}
	return ""
}

// config returns a value of ConfigMap calico-config.
func (env *environment) config(t *testing.T, key string) string {
	t.Helper()
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "calico-config", Namespace: metav1.NamespaceSystem}}
	require.True(t, clusterstest.Get(t, env.Cluster.Client, config))
	return config.Data[key]
}

func (env *environment) podsOf(t *testing.T, app string) []corev1.Pod {
	t.Helper()
	list := &corev1.PodList{}
	require.NoError(t, env.Cluster.Client.List(t.Context(), list, client.InNamespace(metav1.NamespaceSystem), client.MatchingLabels{"k8s-app": app}))
	return list.Items
}

// nodesOf returns the nodes on which pods of an app run.
func (env *environment) nodesOf(t *testing.T, app string) (nodes []string) {
	t.Helper()
	for _, pod := range env.podsOf(t, app) {
		nodes = append(nodes, pod.Spec.NodeName)
	}
	return nodes
}

func (env *environment) deletePodOn(t *testing.T, node string) {
	t.Helper()
	for _, pod := range env.podsOf(t, daemonSet) {
		if pod.Spec.NodeName == node {
			require.NoError(t, env.Cluster.Client.Delete(t.Context(), &pod))
		}
	}
}

// deployed reports whether a Deployment exists in the shoot's kube-system.
func (env *environment) deployed(t *testing.T, name string) bool {
	t.Helper()
	return clusterstest.Get(t, env.Cluster.Client, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceSystem}})
}

// route reports a route to a node's pods, as the route controller does.
func (env *environment) route(t *testing.T, node string) {
	t.Helper()
	require.NoError(t, env.Cluster.Kubelets().SetNodeCondition(t.Context(), node, corev1.NodeNetworkUnavailable, corev1.ConditionFalse, "RouteCreated"))
}
