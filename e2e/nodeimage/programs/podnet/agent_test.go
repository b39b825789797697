package main

import (
	"encoding/json"
	"errors"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

func TestConflist(t *testing.T) {
	var got struct {
		Name    string
		Plugins []struct {
			Type string
			MTU  int
			IPAM struct{ Ranges [][]struct{ Subnet string } }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(conflist(netip.MustParsePrefix("10.244.3.0/24"), 1450)), &got))
	require.Len(t, got.Plugins, 2)
	assert.Equal(t, "ptp", got.Plugins[0].Type)
	assert.Equal(t, 1450, got.Plugins[0].MTU)
	assert.Equal(t, "10.244.3.0/24", got.Plugins[0].IPAM.Ranges[0][0].Subnet)
}

func TestMTU(t *testing.T) {
	assert.NotEqual(t, 1500, mtu("127.0.0.1"), "the loopback interface takes more")
	assert.Equal(t, 1500, mtu("192.0.2.1"), "nobody's address")
}

func TestAddressOfNode(t *testing.T) {
	node := &corev1.Node{Status: corev1.NodeStatus{Addresses: []corev1.NodeAddress{
		{Type: corev1.NodeHostName, Address: "one"},
		{Type: corev1.NodeInternalIP, Address: "fd00::1"},
		{Type: corev1.NodeInternalIP, Address: "172.18.0.2"},
	}}}
	assert.Equal(t, "172.18.0.2", addressOf(node))
	assert.Empty(t, addressOf(&corev1.Node{}))
}

func TestAgent_ApplyOnce(t *testing.T) {
	a := &agent{applied: map[string]string{}}
	calls := 0
	do := func() error { calls++; return nil }
	require.ErrorContains(t, a.applyOnce("it", "a", func() error { return errors.New("not now") }), "not now")
	for range 2 {
		require.NoError(t, a.applyOnce("it", "a", do))
	}
	assert.Equal(t, 1, calls, "what failed is done again, what is done is not")
	require.NoError(t, a.applyOnce("it", "b", do))
	assert.Equal(t, 2, calls)
}

func TestAgent_Ruleset(t *testing.T) {
	clients := fake.NewClientset(
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}},
		&corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", ManagedFields: []metav1.ManagedFieldsEntry{{}}},
			Spec:       corev1.PodSpec{NodeName: "one", Containers: []corev1.Container{{Name: "it", Image: "large"}}},
			Status:     corev1.PodStatus{PodIP: "10.244.0.2"},
		},
		&networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "deny"}},
	)
	a := newAgent(clients, "one", netip.MustParsePrefix("10.244.0.0/16"))
	a.factory.Start(t.Context().Done())
	a.factory.WaitForCacheSync(t.Context().Done())
	ruleset, err := a.ruleset(netip.MustParsePrefix("10.244.0.0/24"))
	require.NoError(t, err)
	assert.Contains(t, ruleset, "ingress-10.244.0.2 { # shop/web")
	pod, err := a.pods.Pods("shop").Get("web")
	require.NoError(t, err)
	assert.Empty(t, pod.ManagedFields)
	assert.Empty(t, pod.Spec.Containers[0].Image)
}
