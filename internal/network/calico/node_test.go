package calico

import (
	"errors"
	"maps"
	"slices"
	"testing"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
	"github.com/trellis-garden/trellis/internal/golden"
)

func nodeOf(t *testing.T, change func(*settings)) []client.Object {
	t.Helper()
	objects, err := testSettings(change).nodeObjects()
	require.NoError(t, err)
	return objects
}

func calicoNodeOf(t *testing.T, change func(*settings)) *appsv1.DaemonSet {
	t.Helper()
	return named[*appsv1.DaemonSet](t, nodeOf(t, change), "calico-node")
}

func containerOf(t *testing.T, containers []corev1.Container, name string) corev1.Container {
	t.Helper()
	at := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == name })
	require.GreaterOrEqual(t, at, 0, "%s is not among %v", name, containerNames(containers))
	return containers[at]
}

func containerNames(containers []corev1.Container) []string {
	var names []string
	for _, container := range containers {
		names = append(names, container.Name)
	}
	return names
}

func TestNodeManifests(t *testing.T) {
	onAzure := func(s *settings) { s.infrastructure.Type, s.infrastructure.BPFDataInterfaces = "azure", "^eth.*$" }
	folder := golden.Open(t, "testdata/node")
	for file, test := range map[string]struct {
		base   string
		change func(*settings)
	}{
		"defaults.yaml":                     {"", nil},
		"native-routing.diff":               {"defaults.yaml", withNativeRouting},
		"ipv6-only.diff":                    {"native-routing.diff", all(withNativeRouting, withoutIPv4)},
		"two-families-with-pod-routes.diff": {"defaults.yaml", all(withPodRoutes, withIPv6, withEncryption, withBIRDExporter)},
		"ebpf-on-azure.diff":                {"defaults.yaml", all(withVXLAN, withBPFInsteadOfKubeProxy, onAzure)},
	} {
		t.Run(file, func(t *testing.T) { checkManifest(t, folder, file, test.base, nodeOf(t, test.change)) })
	}
}

func TestNodePod_Containers(t *testing.T) {
	const keeper, tidier, confirmer = "add-snat-rule-to-upstream-dns", "cleanup-snat-rule-to-upstream-dns", "network-unavailable-condition-ensurer"
	for sentence, test := range map[string]struct {
		change           func(*settings)
		initial, running []string
	}{
		"an ordinary node gets the plugin and confirms its network": {
			nil, []string{tidier, "log-mtu-issues", "install-cni"}, []string{"calico-node", confirmer},
		},
		"a node that the cloud routes to forgets BIRD's routes and leaves its condition to the cloud": {
			withNativeRouting, []string{"cleanup-routes", "log-mtu-issues", "install-cni"}, []string{"calico-node", keeper},
		},
		"a node without the overlay that runs BIRD keeps BIRD's routes": {
			withPodRoutes, []string{"log-mtu-issues", "install-cni"}, []string{"calico-node", keeper, confirmer},
		},
		"a node with VXLAN takes over addresses that host-local gave, and forgets BIRD's routes": {
			withVXLAN, []string{"upgrade-ipam", "cleanup-routes", tidier, "log-mtu-issues", "install-cni"}, []string{"calico-node", confirmer},
		},
		"a node with eBPF mounts file systems for it": {
			withBPF, []string{tidier, "log-mtu-issues", "install-cni", "ebpf-bootstrap"}, []string{"calico-node", confirmer},
		},
		"BIRD's metrics are shown": {
			withBIRDExporter, []string{tidier, "log-mtu-issues", "install-cni"}, []string{"calico-node", confirmer, "bird-exporter"},
		},
		"without BIRD there are no metrics of it": {
			all(withVXLAN, withBIRDExporter), []string{"upgrade-ipam", "cleanup-routes", tidier, "log-mtu-issues", "install-cni"}, []string{"calico-node", confirmer},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			pod := calicoNodeOf(t, test.change).Spec.Template.Spec
			assert.Equal(t, test.initial, containerNames(pod.InitContainers))
			assert.Equal(t, test.running, containerNames(pod.Containers))
		})
	}
}

func TestCalicoNode_Critical(t *testing.T) {
	daemonSet := calicoNodeOf(t, nil)
	pod := daemonSet.Spec.Template
	for _, labels := range []map[string]string{daemonSet.Labels, pod.Labels} {
		assert.Equal(t, "true", labels[v1beta1constants.LabelNodeCriticalComponent])
	}
	assert.Equal(t, "system-node-critical", pod.Spec.PriorityClassName)
	assert.True(t, pod.Spec.HostNetwork)
	for _, effect := range []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute} {
		assert.Contains(t, pod.Spec.Tolerations, corev1.Toleration{Effect: effect, Operator: corev1.TolerationOpExists})
	}
	assert.Equal(t, map[string]string{"k8s-app": "calico-node"}, daemonSet.Spec.Selector.MatchLabels, "selectors of upstream's DaemonSet cannot be changed")
}

func TestNodePod_Mounts(t *testing.T) {
	for _, change := range []func(*settings){nil, withNativeRouting, withVXLAN, withBPF, all(withPodRoutes, withBIRDExporter)} {
		pod := calicoNodeOf(t, change).Spec.Template.Spec
		mounted := map[string]bool{}
		for _, container := range slices.Concat(pod.InitContainers, pod.Containers) {
			for _, mount := range container.VolumeMounts {
				mounted[mount.Name] = true
			}
		}
		var volumes []string
		for _, volume := range pod.Volumes {
			volumes = append(volumes, volume.Name)
		}
		assert.ElementsMatch(t, volumes, slices.Collect(maps.Keys(mounted)))
	}
}

// networking-calico #13: in big shoots, calico-node was killed for its memory and for answers that came late.
func TestCalicoNode_ClusterProportional(t *testing.T) {
	scaled := calicoNodeOf(t, scaledBy(calicov1alpha1.AutoscalingModeClusterProportional, nil))
	assert.Equal(t, "true", scaled.Annotations[resourcesv1alpha1.PreserveResources], "gardener-resource-manager would undo what the scaler does")

	felix := containerOf(t, scaled.Spec.Template.Spec.Containers, "calico-node")
	assert.Equal(t, resource.MustParse("2800Mi"), felix.Resources.Limits[corev1.ResourceMemory])
	assert.NotContains(t, felix.Resources.Limits, corev1.ResourceCPU)
	for _, probe := range []*corev1.Probe{felix.LivenessProbe, felix.ReadinessProbe} {
		assert.EqualValues(t, 10, probe.TimeoutSeconds)
	}
	assert.EqualValues(t, 6, felix.LivenessProbe.FailureThreshold)
}

func TestCalicoNode_GivenResources(t *testing.T) {
	huge := &calicov1alpha1.Resources{Node: &corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("3Gi")}}
	static := calicoNodeOf(t, scaledBy(calicov1alpha1.AutoscalingModeStatic, huge))
	felix := containerOf(t, static.Spec.Template.Spec.Containers, "calico-node")
	assert.NotContains(t, static.Annotations, resourcesv1alpha1.PreserveResources)
	assert.Equal(t, resource.MustParse("250m"), felix.Resources.Requests[corev1.ResourceCPU], "the default of what the user did not give")
	assert.Equal(t, resource.MustParse("3Gi"), felix.Resources.Requests[corev1.ResourceMemory])
	assert.Equal(t, resource.MustParse("3Gi"), felix.Resources.Limits[corev1.ResourceMemory], "a pod that requests more than its limit is refused")
}

func TestCalicoNode_Probes(t *testing.T) {
	for sentence, test := range map[string]struct {
		change func(*settings)
		bird   bool
	}{
		"BIRD": {nil, true}, "pod routes": {withPodRoutes, true}, "none": {withNativeRouting, false}, "VXLAN": {withVXLAN, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			felix := containerOf(t, calicoNodeOf(t, test.change).Spec.Template.Spec.Containers, "calico-node")
			live, ready := felix.LivenessProbe.Exec.Command, felix.ReadinessProbe.Exec.Command
			assert.Contains(t, live, "-felix-live")
			assert.Contains(t, ready, "-felix-ready")
			assert.Equal(t, test.bird, slices.Contains(live, "-bird-live"))
			assert.Equal(t, test.bird, slices.Contains(ready, "-bird-ready"))
		})
	}
}

func TestCalicoNode_ConfigurationChecksum(t *testing.T) {
	annotations := func(change func(*settings)) map[string]string {
		return calicoNodeOf(t, change).Spec.Template.Annotations
	}
	ordinary := annotations(nil)
	require.Contains(t, ordinary, "checksum/configmap-calico-config")
	assert.Equal(t, ordinary, annotations(nil))
	assert.NotEqual(t, ordinary, annotations(func(s *settings) { s.form.NodesUseTypha = false }))
	assert.NotEqual(t, ordinary, annotations(func(s *settings) { s.config.VethMTU = new("1400") }))

	moved := func(s *settings) {
		withBPFInsteadOfKubeProxy(s)
		s.apiServerHost = "api.elsewhere.example.org"
	}
	assert.NotEqual(t, annotations(withBPFInsteadOfKubeProxy), annotations(moved))
}

// Whoever reaches the kube-apiserver by a Service that nobody routes yet waits for ever.
func TestNodeObjects_WithoutKubeProxy(t *testing.T) {
	objects := nodeOf(t, all(withBPFInsteadOfKubeProxy, withVXLAN))
	assert.Equal(t, map[string]string{
		"KUBERNETES_SERVICE_HOST": "api.one.dev.example.org", "KUBERNETES_SERVICE_PORT": "443",
	}, named[*corev1.ConfigMap](t, objects, "kubernetes-services-endpoint").Data)
	pod := named[*appsv1.DaemonSet](t, objects, "calico-node").Spec.Template.Spec
	for _, name := range []string{"upgrade-ipam", "install-cni", "calico-node", "network-unavailable-condition-ensurer"} {
		container := containerOf(t, slices.Concat(pod.InitContainers, pod.Containers), name)
		require.Len(t, container.EnvFrom, 1, name)
		assert.Equal(t, "kubernetes-services-endpoint", container.EnvFrom[0].ConfigMapRef.Name)
	}
	for _, change := range []func(*settings){nil, withBPF} {
		assert.False(t, has(nodeOf(t, change), "ConfigMap", "kubernetes-services-endpoint"), "with kube-proxy the Service leads there")
	}
}

func TestNodeObjects_MissingImage(t *testing.T) {
	for _, missing := range []string{"calico-node", "calico-cni", "bird-exporter"} {
		unknown := errors.New("no such image")
		_, err := testSettings(all(withBIRDExporter, func(s *settings) {
			s.image = func(name string) (string, error) {
				if name == missing {
					return "", unknown
				}
				return name, nil
			}
		})).nodeObjects()
		require.ErrorIs(t, err, unknown, missing)
	}
}
