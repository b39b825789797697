package network

import (
	"maps"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
)

// testKubeProxy disables kube-proxy, so that Calico's eBPF data plane implements Services.
func testKubeProxy(t *testing.T, env *environment) {
	config := env.Shoot.NetworkConfig
	endpoint := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kubernetes-services-endpoint", Namespace: metav1.NamespaceSystem}}
	// Gardener sets the mode also without kube-proxy.
	env.Shoot.KubeProxy = &gardencorev1beta1.KubeProxyConfig{Enabled: new(false), Mode: new(gardencorev1beta1.ProxyModeIPTables)}
	problem := env.assertRefused(t)
	assert.Contains(t, problem, "spec.kubernetes.kubeProxy.enabled")
	assert.Contains(t, problem, "spec.networking.providerConfig.ebpfDataplane.enabled", "the remedy")
	assert.False(t, clusterstest.Get(t, env.Cluster.Client, endpoint))

	fields := map[string]any{"ebpfDataplane": map[string]any{"enabled": true}}
	maps.Copy(fields, config.(map[string]any))
	env.configure(fields)
	env.reconcile(t)
	env.awaitTransitionDone(t)
	require.True(t, clusterstest.Get(t, env.Cluster.Client, endpoint))
	assert.Equal(t, "api.one.dev.example.org", endpoint.Data["KUBERNETES_SERVICE_HOST"])
	assert.Equal(t, "443", endpoint.Data["KUBERNETES_SERVICE_PORT"])
	assert.Equal(t, "true", env.variable(t, "FELIX_BPFENABLED"))
	env.awaitRolledOut(t)

	env.Shoot.KubeProxy, env.Shoot.NetworkConfig = nil, config
	env.reconcile(t)
	env.awaitTransitionDone(t)
	assert.False(t, clusterstest.Get(t, env.Cluster.Client, endpoint))
	env.awaitRolledOut(t)
}
