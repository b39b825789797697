package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake"
)

func nodeThatIs(ready corev1.ConditionStatus) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "one"}}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}
	return node
}

func TestServer_Line(t *testing.T) {
	ports := []fake.Port{{DeviceID: "2"}, {DeviceID: "1", FixedIPs: []fake.FixedIP{{IPAddress: "10.250.0.5"}}}}
	one := server{
		name: "shoot--dev--demo-cpu-z1-5d9f8-x7k2p", zone: "zone-a", kind: "m1.small", boots: "gardenlinux", address: addressOf(ports, "1"),
	}
	assert.Equal(t, "shoot--dev--demo-cpu-z1-5d9f8-x7k2p          zone-a  m1.small   gardenlinux            10.250.0.5   Node Ready",
		one.line(nodeThatIs(corev1.ConditionTrue)))
	assert.Equal(t, "no port", addressOf(ports, "2"))
	assert.Equal(t, "volume of 25 GB", bootVolume([]fake.Volume{{ID: "1", Size: 20}, {ID: "2", Size: 25}}, "2"))
	assert.Equal(t, "no volume", bootVolume(nil, "2"))
}

func TestReadiness(t *testing.T) {
	found := []corev1.Node{*nodeThatIs(corev1.ConditionTrue)}
	assert.Equal(t, "Node Ready", readiness(nodeOf(found, "one")))
	assert.Equal(t, "no Node", readiness(nodeOf(found, "two")))
	assert.Equal(t, "Node not ready", readiness(nodeThatIs(corev1.ConditionUnknown)))
	assert.Equal(t, "Node not ready", readiness(&corev1.Node{}), "it has said nothing")
}

func TestPoolOf(t *testing.T) {
	assert.Equal(t, "cpu", poolOf("shoot--dev--demo-cpu-z1-5d9f8-x7k2p", "shoot--dev--demo"))
	assert.NotEqual(t, "cpu", poolOf("shoot--dev--other-cpu-z1-5d9f8-x7k2p", "shoot--dev--demo"))
}

func TestInBoth(t *testing.T) {
	assert.Equal(t, []string{"a", "c"}, inBoth([]string{"a", "b", "c"}, []string{"a", "c", "d"}))
	assert.Empty(t, inBoth([]string{"a"}, []string{"b"}), "all of them are new")
}

func TestIsUninitialized(t *testing.T) {
	node := corev1.Node{}
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: "one"}}
	assert.True(t, isUninitialized(node), "nobody has said where it is")
	node.Status.Addresses = append(node.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: "10.250.0.5"})
	assert.False(t, isUninitialized(node))
	node.Spec.Taints = []corev1.Taint{{Key: uninitialized}}
	assert.True(t, isUninitialized(node))
}

func TestPool(t *testing.T) {
	pools, err := newPools()
	require.NoError(t, err)
	d := &openStackDemo{demo: &demo{shoot: &gardenlet.Shoot{Workers: pools}}}
	d.pool(growing).Minimum = 7
	assert.EqualValues(t, 7, d.shoot.Workers[0].Minimum)
	config, err := openstackv1alpha1.DecodeWorkerConfig(d.pool(growing).ProviderConfig)
	require.NoError(t, err)
	assert.Equal(t, "soft-anti-affinity", config.ServerGroup.Policy)
}

func TestReadyOn(t *testing.T) {
	podOf := func(daemonSet, node string, ready corev1.ConditionStatus) corev1.Pod {
		pod := corev1.Pod{Spec: corev1.PodSpec{NodeName: node}}
		pod.OwnerReferences = []metav1.OwnerReference{{Name: daemonSet, Controller: new(true)}}
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}
		return pod
	}
	found := []corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "one"}}, {ObjectMeta: metav1.ObjectMeta{Name: "two"}}}
	assert.Equal(t, 1, readyOn(found, []corev1.Pod{
		podOf("network", "one", corev1.ConditionTrue), podOf("network", "gone", corev1.ConditionTrue),
		podOf("network", "two", corev1.ConditionFalse), podOf("dns", "two", corev1.ConditionTrue),
		{},
	}, "network"))
}
