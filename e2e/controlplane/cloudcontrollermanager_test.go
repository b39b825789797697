package controlplane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/process"
	"github.com/trellis-garden/trellis/e2e/internal/workload"
)

// running is a cloud-controller-manager that runs as its Deployment describes it.
type running struct {
	*workload.Container
	address string
}

// testCloudControllerManager runs the real one as the Deployment in the seed describes it, until testCredentials ends it: it uses the token for
// the shoot in the seed, and the controller's configuration file for the cloud.
func testCloudControllerManager(t *testing.T, env *environment) {
	defer env.assertNothingForbidden(t) // which would explain whatever else goes wrong
	env.ccm = env.runCloudControllerManager(t)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName}}
	clusterstest.Eventually(t, "the node is initialized", func() bool {
		require.True(t, clusterstest.Get(t, env.Cluster.Client, node))
		tainted := slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool { return taint.Key == uninitialized })
		return !tainted && len(node.Status.Addresses) > 0
	})
	assert.Equal(t, "openstack:///"+env.site.server, node.Spec.ProviderID)
	assert.Contains(t, node.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: env.site.address})
	assert.Equal(t, env.site.zone, node.Labels[corev1.LabelTopologyZone])
	assert.Equal(t, env.openstack.Cloud.Region(), node.Labels[corev1.LabelTopologyRegion])
	assert.Equal(t, flavor, node.Labels[corev1.LabelInstanceTypeStable])

	env.makeService(t, "web")
	assert.Equal(t, []string{"kube_service_" + env.Shoot.Namespace() + "_default_web"}, env.loadBalancers(t))
	assert.Empty(t, env.routes(t), "the network plugin wraps packets, nobody needs routes")
	env.assertScrapable(t)
}

// runCloudControllerManager starts the container, with shorter intervals.
func (env *environment) runCloudControllerManager(t *testing.T) *running {
	t.Helper()
	address, err := process.FreeAddress()
	require.NoError(t, err)
	host, port, _ := strings.Cut(address, ":")
	// It outlives the part of the test that starts it, and so must its folder.
	container, err := workload.RunContainer(context.WithoutCancel(t.Context()), env.seed.Client, workload.Run{
		Namespace: env.Shoot.Namespace(), Deployment: ccm, Container: "openstack-cloud-controller-manager",
		Program: filepath.Join(env.Programs, "openstack-cloud-controller-manager"),
		Flags: map[string]string{
			"bind-address": host, "secure-port": port, "route-reconciliation-period": "1s", "node-monitor-period": "1s",
			"leader-elect-lease-duration": "3s", "leader-elect-renew-deadline": "2s", "leader-elect-retry-period": "500ms",
		},
		Dir: filepath.Join(env.dir, ccm),
	})
	require.NoError(t, err)
	c := &running{Container: container, address: address}
	c.await(t)
	return c
}

func (c *running) await(t *testing.T) {
	t.Helper()
	require.NoError(t, c.WaitForTLS(t.Context(), "https://"+c.address+"/healthz"))
}

// rollOut replaces the process, as the Deployment's new pod does.
func (c *running) rollOut(t *testing.T) {
	t.Helper()
	require.NoError(t, c.Restart(context.WithoutCancel(t.Context())))
	c.await(t)
}

// makeService creates a Service with a load balancer, and waits for its address.
func (env *environment) makeService(t *testing.T, name string) {
	t.Helper()
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceDefault}}
	service.Spec = corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Port: 80}}}
	require.NoError(t, env.Cluster.Client.Create(t.Context(), service))
	clusterstest.Eventually(t, "Service "+name+" has an address", func() bool {
		require.True(t, clusterstest.Get(t, env.Cluster.Client, service))
		return len(service.Status.LoadBalancer.Ingress) == 1
	})
}

// assertScrapable asserts that the server's certificate is signed by the CA in Prometheus' configuration.
func (env *environment) assertScrapable(t *testing.T) {
	t.Helper()
	monitor := &monitoringv1.ServiceMonitor{ObjectMeta: metav1.ObjectMeta{Name: "shoot-" + ccm}}
	require.True(t, env.get(t, monitor))
	require.Len(t, monitor.Spec.Endpoints, 1)
	tlsConfig := monitor.Spec.Endpoints[0].TLSConfig
	bundle := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: tlsConfig.CA.Secret.Name}}
	require.True(t, env.get(t, bundle))
	trusted := x509.NewCertPool()
	require.True(t, trusted.AppendCertsFromPEM(bundle.Data[tlsConfig.CA.Secret.Key]))
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
		RootCAs: trusted, ServerName: *tlsConfig.ServerName, MinVersion: tls.VersionTLS12,
	}}}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+env.ccm.address+"/healthz", nil)
	require.NoError(t, err)
	answer, err := client.Do(request)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	assert.Equal(t, http.StatusOK, answer.StatusCode)
}

// assertNothingForbidden asserts that it has all rights in the shoot that it uses.
func (env *environment) assertNothingForbidden(t *testing.T) {
	t.Helper()
	refused, err := env.Cluster.AuditLog().Forbidden(audit.UserOf(metav1.NamespaceSystem, ccm))
	require.NoError(t, err)
	assert.Empty(t, refused)
}
