package agent

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestTransform(t *testing.T) {
	created := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	labels := map[string]string{"app": "web"}
	full := metav1.ObjectMeta{
		Namespace: "ns", Name: "x", UID: "u", ResourceVersion: "5", CreationTimestamp: created, Labels: labels, GenerateName: "x-",
		Annotations:     map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "a long text"},
		OwnerReferences: []metav1.OwnerReference{{Name: "owner"}}, Finalizers: []string{"f"},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubelet"}},
	}
	meta := metav1.ObjectMeta{Namespace: "ns", Name: "x", UID: "u", ResourceVersion: "5", CreationTimestamp: created}
	withLabels := meta
	withLabels.Labels = labels
	always := corev1.ContainerRestartPolicyAlways
	named := corev1.ContainerPort{Name: "http", ContainerPort: 80, Protocol: corev1.ProtocolTCP}
	policySpec := networkingv1.NetworkPolicySpec{
		PodSelector: metav1.LabelSelector{MatchLabels: labels}, PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeEgress},
	}
	for sentence, test := range map[string]struct{ in, want any }{
		"a Node keeps pod ranges, internal addresses and the condition of the network": {
			in: &corev1.Node{
				ObjectMeta: full,
				Spec:       corev1.NodeSpec{PodCIDR: "10.96.0.0/24", PodCIDRs: []string{"10.96.0.0/24"}, ProviderID: "aws:///i-1", Taints: []corev1.Taint{{Key: "t"}}},
				Status: corev1.NodeStatus{
					Addresses: []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: "x"}, {Type: corev1.NodeInternalIP, Address: "10.250.0.1"}},
					Conditions: []corev1.NodeCondition{
						{Type: corev1.NodeReady}, {Type: corev1.NodeNetworkUnavailable, Status: corev1.ConditionFalse, LastHeartbeatTime: created, LastTransitionTime: created},
					},
					Images:   []corev1.ContainerImage{{Names: []string{"image"}}},
					Capacity: corev1.ResourceList{}, NodeInfo: corev1.NodeSystemInfo{MachineID: "m"},
				},
			},
			want: &corev1.Node{
				ObjectMeta: meta,
				Spec:       corev1.NodeSpec{PodCIDR: "10.96.0.0/24", PodCIDRs: []string{"10.96.0.0/24"}},
				Status: corev1.NodeStatus{
					Addresses:  []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.250.0.1"}},
					Conditions: []corev1.NodeCondition{{Type: corev1.NodeNetworkUnavailable, Status: corev1.ConditionFalse, LastTransitionTime: created}},
				},
			},
		},
		"a Pod keeps labels, node, named ports, addresses and phase": {
			in: &corev1.Pod{
				ObjectMeta: full,
				Spec: corev1.PodSpec{
					NodeName: "own", HostNetwork: true, ServiceAccountName: "sa", Volumes: []corev1.Volume{{Name: "v"}},
					Containers: []corev1.Container{
						{Name: "web", Image: "web:1", Env: []corev1.EnvVar{{Name: "E"}}, Ports: []corev1.ContainerPort{named, {ContainerPort: 9090}}},
						{Name: "without-names", Ports: []corev1.ContainerPort{{ContainerPort: 81}}},
					},
					InitContainers: []corev1.Container{
						{Name: "sidecar", RestartPolicy: &always, Ports: []corev1.ContainerPort{named}},
						{Name: "init", Ports: []corev1.ContainerPort{named}},
					},
				},
				Status: corev1.PodStatus{
					Phase: corev1.PodRunning, PodIP: "10.96.0.5", PodIPs: []corev1.PodIP{{IP: "10.96.0.5"}}, HostIP: "10.250.0.1",
					ContainerStatuses: []corev1.ContainerStatus{{Name: "web"}}, Conditions: []corev1.PodCondition{{Type: corev1.PodReady}},
				},
			},
			want: &corev1.Pod{
				ObjectMeta: withLabels,
				Spec: corev1.PodSpec{
					NodeName: "own", HostNetwork: true,
					Containers:     []corev1.Container{{Ports: []corev1.ContainerPort{named}}},
					InitContainers: []corev1.Container{{RestartPolicy: &always, Ports: []corev1.ContainerPort{named}}},
				},
				Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.96.0.5", PodIPs: []corev1.PodIP{{IP: "10.96.0.5"}}},
			},
		},
		"a Namespace keeps labels": {
			in: &corev1.Namespace{
				ObjectMeta: full, Spec: corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{"kubernetes"}},
				Status: corev1.NamespaceStatus{Phase: corev1.NamespaceActive},
			},
			want: &corev1.Namespace{ObjectMeta: withLabels},
		},
		"a NetworkPolicy keeps its specification": {
			in:   &networkingv1.NetworkPolicy{ObjectMeta: full, Spec: policySpec},
			want: &networkingv1.NetworkPolicy{ObjectMeta: meta, Spec: policySpec},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := transform(test.in)
			require.NoError(t, err)
			assert.Empty(t, cmp.Diff(test.want, got))
			again, err := transform(got)
			require.NoError(t, err)
			assert.Empty(t, cmp.Diff(got, again), "it may be called more than once")
		})
	}
	_, err := transform(&corev1.Service{})
	assert.ErrorContains(t, err, "unexpected object of type *v1.Service")
}

func TestNodeOf(t *testing.T) {
	dual := node("dual", 4)
	dual.Spec.PodCIDRs = append(dual.Spec.PodCIDRs, "fd00:10:96:4::/64", "unknown")
	dual.Status.Addresses = append(dual.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: "fd00::4"},
		corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: "unknown"})
	old := node("old", 5)
	old.Spec.PodCIDRs = nil
	own, others := splitNodes([]*corev1.Node{old, node("own", 1), dual}, "own")
	assert.Equal(t, "own", own.Name)
	require.Len(t, others, 2)
	assert.Equal(t, "dual [10.250.0.4 fd00::4] [10.96.4.0/24 fd00:10:96:4::/64]", text(others[0]))
	assert.Equal(t, "old [10.250.0.5] [10.96.5.0/24]", text(others[1]))
	own, _ = splitNodes(nil, "own")
	assert.Nil(t, own)
}
