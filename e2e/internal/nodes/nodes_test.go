package nodes

import (
	"context"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/client/kubernetes"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// TestNodes_Lifecycle looks again and again, as time does.
func TestNodes_Lifecycle(t *testing.T) {
	c := fake.NewClientBuilder().WithScheme(kubernetes.ShootScheme).WithStatusSubresource(&corev1.Node{}).Build()
	server := Server{
		ID: "id", ProviderID: "example:///id", Name: "machine-1", Zone: "zone-a", Region: "RegionOne", Address: "10.250.0.3",
		KubernetesVersion: "1.36.3",
	}
	there := true
	n := &Nodes{
		client: c, seen: map[string]time.Time{}, missed: map[string]time.Time{},
		servers: func(context.Context) ([]Server, error) {
			if !there {
				return nil, nil
			}
			return []Server{server}, nil
		},
	}
	find := func() (*corev1.Node, bool) {
		node := &corev1.Node{}
		err := c.Get(t.Context(), client.ObjectKey{Name: server.Name}, node)
		if !apierrors.IsNotFound(err) {
			require.NoError(t, err)
		}
		return node, err == nil
	}
	getNode := func() (*corev1.Node, bool) {
		require.NoError(t, n.sync(t.Context()))
		return find()
	}

	_, found := getNode()
	assert.False(t, found, "it is being built")
	server.Running = true
	_, found = getNode()
	assert.False(t, found, "it boots")
	n.seen[server.ID] = time.Now().Add(-bootDuration)
	n.Hold()
	_, found = getNode()
	assert.False(t, found, "it is held")
	n.Release()
	node, found := getNode()
	require.True(t, found)
	assert.Equal(t, server.ProviderID, node.Spec.ProviderID)
	assert.Equal(t, "1.36.3", node.Labels["worker.gardener.cloud/kubernetes-version"])
	assert.Equal(t, corev1.ConditionTrue, condition(node, corev1.NodeReady).Status)
	assert.Len(t, node.Spec.Taints, 1)
	node, _ = getNode()
	assert.Empty(t, node.Spec.Taints, "all that others need runs")

	said := node.ResourceVersion
	node, _ = getNode()
	assert.Equal(t, said, node.ResourceVersion, "there is nothing to say")
	node.Status.Conditions = append(node.Status.Conditions, corev1.NodeCondition{
		Type: machinev1alpha1.NodeInPlaceUpdate, Status: corev1.ConditionTrue, Reason: machinev1alpha1.ReadyForUpdate,
	})
	require.NoError(t, c.Status().Update(t.Context(), node))
	n.FailUpdates("the disk is full")
	node, _ = getNode()
	assert.Equal(t, machinev1alpha1.LabelValueNodeUpdateFailed, node.Labels[machinev1alpha1.LabelKeyNodeUpdateResult])
	assert.Equal(t, "the disk is full", node.Annotations[machinev1alpha1.AnnotationKeyMachineUpdateFailedReason])
	n.FailUpdates("")
	node, _ = getNode()
	assert.Equal(t, machinev1alpha1.LabelValueNodeUpdateSuccessful, node.Labels[machinev1alpha1.LabelKeyNodeUpdateResult])
	assert.NotContains(t, node.Annotations, machinev1alpha1.AnnotationKeyMachineUpdateFailedReason)

	there = false
	node, _ = getNode()
	assert.Equal(t, corev1.ConditionUnknown, condition(node, corev1.NodeReady).Status, "it has fallen silent")
	n.missed[server.Name] = time.Now().Add(-deletionDelay)
	_, found = getNode()
	assert.False(t, found, "nobody waits for it any longer")
}

func TestNodes_WithCloudControllerManager(t *testing.T) {
	c := fake.NewClientBuilder().WithScheme(kubernetes.ShootScheme).WithStatusSubresource(&corev1.Node{}).Build()
	servers := []Server{
		{ID: "1", Name: "machine-1", Running: true, Zone: "zone-a", Region: "RegionOne", Address: "10.250.0.3"},
		{ID: "2", Name: "machine-2", Running: true, Zone: "zone-a", Region: "RegionOne", Address: "10.250.0.4"},
	}
	long := time.Now().Add(-time.Hour)
	n := &Nodes{
		client: c, seen: map[string]time.Time{"1": long, "2": long}, missed: map[string]time.Time{},
		servers: func(context.Context) ([]Server, error) { return servers, nil },
	}
	WithCloudControllerManager()(n)
	read := func() []corev1.Node {
		require.NoError(t, n.sync(t.Context()))
		list := &corev1.NodeList{}
		require.NoError(t, c.List(t.Context(), list))
		return list.Items
	}

	found := read()
	require.Len(t, found, 2)
	for i, node := range found {
		assert.Empty(t, node.Spec.ProviderID)
		assert.NotContains(t, node.Labels, corev1.LabelTopologyZone)
		assert.Len(t, node.Status.Addresses, 1, "its name")
		assert.Equal(t, []string{"100.96.0.0/24", "100.96.1.0/24"}[i], node.Spec.PodCIDR)
	}
	node := read()[0]
	require.Len(t, node.Spec.Taints, 1)
	assert.Equal(t, uninitialized, node.Spec.Taints[0].Key, "somebody else takes that away")

	servers = nil
	n.missed["machine-1"], n.missed["machine-2"] = long, long
	assert.Len(t, read(), 2, "somebody else deletes them")
}

func TestNodes_WithKubeControllerManager(t *testing.T) {
	c := fake.NewClientBuilder().WithScheme(kubernetes.ShootScheme).WithStatusSubresource(&corev1.Node{}).Build()
	servers := []Server{{ID: "1", Name: "machine-1", Running: true, KubernetesVersion: "1.36.3"}}
	long := time.Now().Add(-time.Hour)
	n := &Nodes{
		client: c, seen: map[string]time.Time{"1": long}, missed: map[string]time.Time{"machine-1": long},
		servers: func(context.Context) ([]Server, error) { return servers, nil },
	}
	WithCloudControllerManager()(n)
	WithKubeControllerManager()(n)
	read := func() corev1.Node {
		require.NoError(t, n.sync(t.Context()))
		node := corev1.Node{}
		require.NoError(t, c.Get(t.Context(), client.ObjectKey{Name: "machine-1"}, &node))
		return node
	}
	node := read()
	assert.Empty(t, node.Spec.PodCIDR)
	assert.Equal(t, "v1.36.3", node.Status.NodeInfo.KubeletVersion)
	assert.EqualValues(t, KubeletPort, node.Status.DaemonEndpoints.KubeletEndpoint.Port)
	node.Status = corev1.NodeStatus{}
	require.NoError(t, c.Status().Update(t.Context(), &node))
	node = read()
	assert.Equal(t, "v1.36.3", node.Status.NodeInfo.KubeletVersion, "its first status was refused")
	servers = nil
	node = read()
	assert.Equal(t, corev1.ConditionTrue, condition(&node, corev1.NodeReady).Status, "somebody else notices the silence")
}
