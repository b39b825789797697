//go:build gardenet

package gardenet

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/trellis-garden/trellis/e2e/internal/apiserver"
	"github.com/trellis-garden/trellis/e2e/internal/assets"
	"github.com/trellis-garden/trellis/e2e/internal/repo"
)

// cluster is an API server with two nodes.
type cluster struct {
	clients    kubernetes.Interface
	kubeconfig string
	// agent and router are the paths of the programs of nodes, plugins is the folder of the CNI plugins.
	agent, router, plugins string
	nodes                  map[string]*node
}

// newCluster starts an API server, and nodes a and b without agents.
func newCluster(t *testing.T) *cluster {
	require.NoError(t, newUnderlay())
	t.Cleanup(func() { require.NoError(t, deleteUnderlay()) })
	c := &cluster{nodes: map[string]*node{}}
	c.build(t)
	c.startAPIServer(t)
	for name, fixture := range map[string]nodeFixture{
		"a": {"10.250.0.11/24", "fd00:250::11/64", "100.96.0.0/24", "fd00:96::/80"},
		"b": {"10.250.0.12/24", "fd00:250::12/64", "100.96.1.0/24", "fd00:96:0:0:1::/80"},
	} {
		c.nodes[name] = c.newNode(t, name, fixture)
	}
	for _, name := range []string{"x", "y"} {
		c.createNamespace(t, name)
	}
	return c
}

// build builds the programs of nodes, and the plugins from the module that pins them.
func (c *cluster) build(t *testing.T) {
	folder := t.TempDir()
	c.agent, c.router, c.plugins = filepath.Join(folder, "gardenet-agent"), filepath.Join(folder, "gardenet-service-router"), filepath.Join(folder, "plugins")
	root, err := repo.Root()
	require.NoError(t, err)
	_, err = repo.Go(t.Context(), root, []string{repo.CompilerGOGC}, "build", "-o", c.agent, "./cmd/gardenet-agent")
	require.NoError(t, err)
	_, err = repo.Go(t.Context(), filepath.Join(root, "cmd", "gardenet-service-router"), []string{repo.CompilerGOGC}, "build", "-o", c.router, ".")
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(c.plugins, 0o755))
	_, err = repo.Go(t.Context(), filepath.Join(root, "images", "cni"), []string{repo.CompilerGOGC}, "build", "-o", c.plugins+"/", "tool")
	require.NoError(t, err)
}

func (c *cluster) startAPIServer(t *testing.T) {
	programs, err := assets.Ensure(t.Context(), t.Output(), "etcd", "kube-apiserver")
	require.NoError(t, err)
	etcd, err := apiserver.StartEtcd(programs, filepath.Join(t.TempDir(), "etcd"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = etcd.Stop() })
	address := netip.MustParsePrefix(router4).Addr()
	server, err := apiserver.NewServer(programs, apiserver.ServerOptions{
		Dir: t.TempDir(), Etcd: etcd.URL.String(), IP: address.String(), AuditPolicy: "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: None\n",
		ServiceRanges: serviceRange4 + "," + serviceRange6,
	})
	require.NoError(t, err)
	require.NoError(t, server.Start(t.Context()))
	t.Cleanup(server.Kill)
	c.kubeconfig = server.Kubeconfig
	c.clients, err = kubernetes.NewForConfig(server.Config)
	require.NoError(t, err)
}

func (c *cluster) createNamespace(t *testing.T, name string) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"name": name}}}
	_, err := c.clients.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{})
	require.NoError(t, err)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default", Namespace: name}}
	_, err = c.clients.CoreV1().ServiceAccounts(name).Create(t.Context(), account, metav1.CreateOptions{})
	require.NoError(t, err)
}

// setPolicies makes these the only NetworkPolicies.
func (c *cluster) setPolicies(t *testing.T, policies ...*networkingv1.NetworkPolicy) {
	for _, namespace := range []string{"x", "y"} {
		err := c.clients.NetworkingV1().NetworkPolicies(namespace).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{})
		require.NoError(t, err)
	}
	for _, policy := range policies {
		_, err := c.clients.NetworkingV1().NetworkPolicies(policy.Namespace).Create(t.Context(), policy, metav1.CreateOptions{})
		require.NoError(t, err)
	}
}
