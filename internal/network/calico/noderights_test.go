package calico

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

// Who may do what on a node: only what says why is privileged.
func TestNodePod_SecurityContext(t *testing.T) {
	change := all(withVXLAN, withBPF, func(s *settings) { s.form.UpstreamDNS = true })
	changes := []func(*settings){nil, withNativeRouting, withPodRoutes, all(withPodRoutes, withBIRDExporter), change}
	may := []string{"upgrade-ipam", "install-cni", "ebpf-bootstrap", "calico-node"}
	for _, change := range changes {
		pod := calicoNodeOf(t, change).Spec.Template.Spec
		for _, container := range slices.Concat(pod.InitContainers, pod.Containers) {
			context := container.SecurityContext
			require.NotNil(t, context, container.Name)
			if slices.Contains(may, container.Name) {
				assert.True(t, *context.Privileged, container.Name)
				continue
			}
			assert.False(t, context.Privileged != nil && *context.Privileged, container.Name)
			assert.False(t, *context.AllowPrivilegeEscalation, container.Name)
			assert.Equal(t, []corev1.Capability{"ALL"}, context.Capabilities.Drop, container.Name)
			for _, capability := range context.Capabilities.Add {
				assert.Contains(t, []corev1.Capability{"NET_ADMIN", "NET_RAW"}, capability, container.Name)
			}
		}
	}
}

func TestNodeRules(t *testing.T) {
	objects := nodeOf(t, nil)
	for _, name := range []string{"calico-node", "calico-cni-plugin"} {
		require.True(t, has(objects, "ServiceAccount", name))
		binding := named[*rbacv1.ClusterRoleBinding](t, objects, name)
		assert.Equal(t, []rbacv1.Subject{{Kind: "ServiceAccount", Name: name, Namespace: "kube-system"}}, binding.Subjects)
		assert.Equal(t, name, binding.RoleRef.Name)
		for _, rule := range named[*rbacv1.ClusterRole](t, objects, name).Rules {
			for _, word := range slices.Concat(rule.APIGroups, rule.Resources, rule.Verbs) {
				assert.NotEqual(t, "*", word)
				assert.NotEqual(t, "secrets", word)
			}
			if slices.Contains(rule.Resources, "serviceaccounts/token") {
				assert.Equal(t, "calico-node", name, "the CNI plugin needs no tokens but its own")
				assert.Equal(t, []string{"calico-cni-plugin"}, rule.ResourceNames)
				assert.Equal(t, []string{"create"}, rule.Verbs)
			}
		}
	}
}

func TestNodeMetricsService(t *testing.T) {
	objects := nodeOf(t, withBIRDExporter)
	pod := named[*appsv1.DaemonSet](t, objects, "calico-node").Spec.Template
	for service, container := range map[string]string{"calico-felix-monitoring": "calico-node", "calico-bird-monitoring": "bird-exporter"} {
		found := named[*corev1.Service](t, objects, service)
		for key, value := range found.Spec.Selector {
			assert.Equal(t, value, pod.Labels[key])
		}
		ports := containerOf(t, pod.Spec.Containers, container).Ports
		require.Len(t, ports, 1)
		assert.Equal(t, ports[0].ContainerPort, found.Spec.Ports[0].TargetPort.IntVal)
	}
	assert.False(t, has(nodeOf(t, nil), "Service", "calico-bird-monitoring"))
}

func TestBIRDExporter_Sockets(t *testing.T) {
	args := func(change func(*settings)) []string {
		return containerOf(t, calicoNodeOf(t, change).Spec.Template.Spec.Containers, "bird-exporter").Args
	}
	assert.Contains(t, args(withBIRDExporter), "-bird.ipv6=false")
	both := args(all(withBIRDExporter, withPodRoutes, withIPv6))
	assert.Contains(t, both, "-bird.socket6=/var/run/calico/bird6.ctl")
	assert.NotContains(t, both, "-bird.ipv6=false")
}
