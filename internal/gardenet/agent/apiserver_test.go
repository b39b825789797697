package agent

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

const (
	timeout  = 30 * time.Second
	interval = 20 * time.Millisecond
)

// apiServer starts a real API server for the test. It returns how an admin and a user without rights reach it.
func apiServer(t *testing.T) (admin *kubernetes.Clientset, user *rest.Config) {
	t.Helper()
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		assets = filepath.Join("..", "..", "..", ".cache", "envtest")
	}
	env := &envtest.Environment{BinaryAssetsDirectory: assets}
	config, err := env.Start()
	require.NoError(t, err, "is there an API server? make envtest-assets builds one")
	t.Cleanup(func() { assert.NoError(t, env.Stop()) })
	admin, err = kubernetes.NewForConfig(config)
	require.NoError(t, err)
	added, err := env.AddUser(envtest.User{Name: "agent"}, nil)
	require.NoError(t, err)
	return admin, added.Config()
}

// rights are all that an agent needs.
func rights() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"nodes", "pods", "namespaces"}, Verbs: []string{"list", "watch"}},
		{APIGroups: []string{"networking.k8s.io"}, Resources: []string{"networkpolicies"}, Verbs: []string{"list", "watch"}},
		{APIGroups: []string{""}, Resources: []string{"nodes/status"}, Verbs: []string{"patch"}},
		{APIGroups: []string{"events.k8s.io"}, Resources: []string{"events"}, Verbs: []string{"create"}},
	}
}

// TestRun_RealAPIServer runs an agent with a real API server and the rights that it needs.
func TestRun_RealAPIServer(t *testing.T) {
	admin, user := apiServer(t)
	ctx := t.Context()
	_, err := admin.RbacV1().ClusterRoles().Create(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "agent"}, Rules: rights()}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = admin.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "agent"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "agent"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "agent"}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	createNode := func(n *corev1.Node) {
		n.UID = ""
		created, err := admin.CoreV1().Nodes().Create(ctx, n.DeepCopy(), metav1.CreateOptions{})
		require.NoError(t, err)
		created.Status = n.Status
		_, err = admin.CoreV1().Nodes().UpdateStatus(ctx, created, metav1.UpdateOptions{})
		require.NoError(t, err)
	}
	createNode(node("own", 1))

	client, err := NewClient(user)
	require.NoError(t, err)
	config, kernel := exampleConfig(), &fakeKernel{}
	config.ReportsNetwork = true
	run := func() (stop func()) {
		a, err := New(Options{
			Node: "own", Config: config, Client: client, Compute: exampleState, Kernel: kernel, Registerer: prometheus.NewRegistry(), Log: logr.Discard(),
		})
		require.NoError(t, err)
		agentCtx, cancel := context.WithCancel(ctx)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			a.Run(agentCtx)
		}()
		require.Eventually(t, func() bool { return a.health.ready() == nil }, timeout, interval)
		return func() {
			cancel()
			<-ended
		}
	}
	stop := run()
	assert.Eventually(t, func() bool {
		own, err := admin.CoreV1().Nodes().Get(ctx, "own", metav1.GetOptions{})
		require.NoError(t, err)
		for _, c := range own.Status.Conditions {
			if c.Type == corev1.NodeNetworkUnavailable {
				return c.Status == corev1.ConditionFalse && c.Reason == "GardenetIsUp"
			}
		}
		return false
	}, timeout, interval)

	createNode(node("near", 2))
	far := node("far", 3)
	far.Status.Addresses[1].Address = "10.251.0.3"
	createNode(far)
	assert.Eventually(t, func() bool {
		events, err := admin.EventsV1().Events("default").List(ctx, metav1.ListOptions{})
		require.NoError(t, err)
		for _, event := range events.Items {
			if event.Reason == "NodesUnreachable" && event.Regarding.Name == "own" {
				return true
			}
		}
		return false
	}, timeout, interval)
	assert.Equal(t, []string{"10.96.2.0/24 via 10.250.0.2"}, kernel.routes())

	running := pod("pod", 7)
	running.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
	created, err := admin.CoreV1().Pods("default").Create(ctx, running.DeepCopy(), metav1.CreateOptions{})
	require.NoError(t, err)
	created.Status = running.Status
	created, err = admin.CoreV1().Pods("default").UpdateStatus(ctx, created, metav1.UpdateOptions{})
	require.NoError(t, err)
	allows := func(want ...string) {
		t.Helper()
		assert.EventuallyWithT(t, func(c *assert.CollectT) { assert.ElementsMatch(c, want, kernel.allowed()) }, timeout, interval)
	}
	allows("10.96.1.7")
	created.Status.Phase = corev1.PodSucceeded
	_, err = admin.CoreV1().Pods("default").UpdateStatus(ctx, created, metav1.UpdateOptions{})
	require.NoError(t, err)
	allows() // a pod that has ended is as good as deleted

	stop()
	assert.Equal(t, []string{"10.96.2.0/24 via 10.250.0.2"}, kernel.routes())
	run()()
}
