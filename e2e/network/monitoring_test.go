package network

import (
	"testing"

	"github.com/gardener/gardener/pkg/component/observability/monitoring/prometheus/shoot"
	monitoringv1alpha1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
)

// testScraping compares the scrape configuration of Calico with Gardener's for components in shoots, and with the running pods.
func testScraping(t *testing.T, env *environment) {
	theirs := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "theirs"}}
	require.NoError(t, env.seed.Client.Create(t.Context(), theirs))
	for name, target := range map[string]struct{ job, service, port, app, kept string }{
		"shoot-calico-felix": {"felix-metrics", "calico-felix-monitoring", "metrics", daemonSet, "felix_.+"},
		"shoot-calico-typha": {"typha-metrics", "calico-typha-monitoring", "metrics", "calico-typha", "typha_.+"},
	} {
		ours := &monitoringv1alpha1.ScrapeConfig{ObjectMeta: metav1.ObjectMeta{Name: name}}
		require.True(t, env.get(t, ours), name)
		gardeners := &monitoringv1alpha1.ScrapeConfig{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: theirs.Name},
			Spec: shoot.ClusterComponentScrapeConfigSpec(target.job, shoot.KubernetesServiceDiscoveryConfig{
				Role: monitoringv1alpha1.KubernetesRoleEndpoint, ServiceName: target.service, EndpointPortName: target.port,
			}, target.kept),
		}
		// The expression is upstream's. Gardener's also has anchors, which Prometheus adds to all expressions.
		gardeners.Spec.MetricRelabelConfigs[0].Regex = target.kept
		require.NoError(t, env.seed.Client.Create(t.Context(), gardeners))
		assert.Equal(t, gardeners.Spec, ours.Spec, name)
		assert.Equal(t, "shoot", ours.Labels["prometheus"])
		env.assertFound(t, target.service, target.port, target.app)
	}
	require.NoError(t, env.seed.Client.Delete(t.Context(), theirs))
}

// assertFound asserts that a Service selects pods that declare the port: by name at the Service, by number in the pod.
func (env *environment) assertFound(t *testing.T, name, portName, app string) {
	t.Helper()
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceSystem}}
	require.True(t, clusterstest.Get(t, env.Cluster.Client, service), name)
	assert.Equal(t, map[string]string{"k8s-app": app}, service.Spec.Selector)
	require.Len(t, service.Spec.Ports, 1)
	assert.Equal(t, portName, service.Spec.Ports[0].Name, name)
	pods := env.podsOf(t, app)
	require.NotEmpty(t, pods)
	declared := false
	for _, container := range pods[0].Spec.Containers {
		for _, port := range container.Ports {
			declared = declared || port.ContainerPort == service.Spec.Ports[0].Port
		}
	}
	assert.True(t, declared, "no container of %s declares port %d", app, service.Spec.Ports[0].Port)
}
