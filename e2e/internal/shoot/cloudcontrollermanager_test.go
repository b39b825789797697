package shoot_test

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/process"
	"github.com/trellis-garden/trellis/e2e/internal/workload"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
)

const (
	ccm = "cloud-controller-manager"
	// uninitialized is the taint of a Node that no cloud-controller-manager has initialized (k8s.io/cloud-provider/api).
	uninitialized = "node.cloudprovider.kubernetes.io/uninitialized"
)

// testCloudControllerManager runs the real one as a Deployment in the seed configures it: it uses a token for the shoot from the seed, and the
// account's password for the cloud.
func testCloudControllerManager(t *testing.T, env *environment) {
	site := env.makeSite(t)
	env.allowCloudControllerManager(t)
	deployment := env.deployCloudControllerManager(t, site)
	container := env.runCloudControllerManager(t, deployment)

	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: site.serverName}}
	node.Spec = corev1.NodeSpec{
		Taints:  []corev1.Taint{{Key: uninitialized, Value: "true", Effect: corev1.TaintEffectNoSchedule}},
		PodCIDR: "100.96.0.0/24", PodCIDRs: []string{"100.96.0.0/24"},
	}
	require.NoError(t, env.cluster.Client.Create(t.Context(), node))
	clusterstest.Eventually(t, "the node is initialized", func() bool {
		require.True(t, clusterstest.Get(t, env.cluster.Client, node))
		tainted := slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool { return taint.Key == uninitialized })
		return !tainted && len(node.Status.Addresses) > 0
	})
	assert.Equal(t, "openstack:///"+site.server, node.Spec.ProviderID)
	assert.Contains(t, node.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: site.address})
	assert.Equal(t, site.zone, node.Labels[corev1.LabelTopologyZone])
	assert.Equal(t, env.cloud.Region(), node.Labels[corev1.LabelTopologyRegion])
	assert.Equal(t, site.flavorName, node.Labels[corev1.LabelInstanceTypeStable])
	clusterstest.Eventually(t, "the node's pods are routed to", func() bool { return slices.Contains(env.routes(t, site), "100.96.0.0/24 via "+site.address) })

	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: metav1.NamespaceDefault}}
	service.Spec = corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Port: 80}}}
	require.NoError(t, env.cluster.Client.Create(t.Context(), service))
	clusterstest.Eventually(t, "the Service has an address", func() bool {
		require.True(t, clusterstest.Get(t, env.cluster.Client, service))
		return len(service.Status.LoadBalancer.Ingress) == 1
	})
	assert.Equal(t, []string{"kube_service_" + env.shoot.Namespace() + "_default_web"}, env.loadBalancers(t))

	require.NoError(t, container.Restart(t.Context()), "as when its Deployment is rolled out")
	require.NoError(t, env.cluster.Client.Delete(t.Context(), service))
	clusterstest.Eventually(t, "the Service is gone", func() bool { return !clusterstest.Get(t, env.cluster.Client, service) })
	assert.Empty(t, env.loadBalancers(t))

	env.do(t, http.MethodDelete, conformance.Compute, "/v2.1/servers/"+site.server, nil)
	clusterstest.Eventually(t, "the node is gone with its server", func() bool { return !clusterstest.Get(t, env.cluster.Client, node) })
	assert.Empty(t, env.forbidden(t, ccm), "it has all the rights that it wants")
}

func (env *environment) runCloudControllerManager(t *testing.T, deployment *appsv1.Deployment) *workload.Container {
	t.Helper()
	address, err := process.FreeAddress()
	require.NoError(t, err)
	host, port, _ := strings.Cut(address, ":")
	container, err := workload.RunContainer(t.Context(), env.seed.Client, workload.Run{
		Namespace: deployment.Namespace, Deployment: deployment.Name, Container: ccm,
		Program: filepath.Join(env.programs, "openstack-cloud-controller-manager"),
		Flags: map[string]string{
			"bind-address": host, "secure-port": port, "route-reconciliation-period": "1s", "node-monitor-period": "1s",
			"leader-elect-lease-duration": "3s", "leader-elect-renew-deadline": "2s", "leader-elect-retry-period": "500ms",
		},
		Dir: filepath.Join(t.TempDir(), "container"),
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		logTail(t, container.Process)
		container.Stop()
	})
	require.NoError(t, container.WaitForTLS(t.Context(), "https://"+address+"/healthz"))
	return container
}
